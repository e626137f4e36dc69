package import Delivery
package import Ledger
import Logging
import Timeline

/// A part of the configuration that the daemon could not use, while everything else runs.
///
/// The daemon tries it again each minute. A reload with a new fault of a job or a channel is refused whole instead; a bot
/// whose key can't be read is left out then, too.
package struct LeftOut: Hashable, Sendable {
    /// What was left out.
    package enum Part: Hashable, Sendable {
        /// A job whose name belongs to a job made by the command line.
        case job(JobSpec)
        /// A channel whose secret can't be used.
        case channel(String, any ChannelForm)
        /// The provider of a bot whose key can't be read: the bot is not asked meanwhile.
        case bot(String)

        package static func == (left: Part, right: Part) -> Bool {
            switch (left, right) {
            case (.job(let left), .job(let right)): left == right
            case (.channel(let left, let form), .channel(let right, let other)):
                left == right && AnyHashable(form) == AnyHashable(other)
            case (.bot(let left), .bot(let right)): left == right
            case (.job, _), (.channel, _), (.bot, _): false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .job(let spec): hasher.combine(spec)
            case .channel(let name, let form):
                hasher.combine(name)
                hasher.combine(form)
            case .bot(let name): hasher.combine(name)
            }
        }
    }

    package var part: Part
    /// `FILE:LINE`.
    package var place: String
    /// Why, as a sentence without a full stop.
    package var reason: String

    package init(_ part: Part, place: String, reason: String) {
        self.part = part
        self.place = place
        self.reason = reason
    }

    /// `job "backup" at belfry.yaml:3 is left out: REASON`.
    package var sentence: String {
        let what =
            switch part {
            case .job(let spec): "job \"\(spec.name)\""
            case .channel(let name, _): "channel \"\(name)\""
            case .bot(let name): "bot \"\(name)\""
            }
        let origin = place == EngineConfiguration.channelCommand ? "" : " at \(place)"
        return "\(what)\(origin) is left out: \(reason)"
    }

    /// What a person can do about it.
    package var hint: String {
        switch part {
        case .job(let spec):
            "remove the other one with: belfry job rm \(spec.name), or rename this one; it is tried again each minute"
        case .channel, .bot: "it is tried again each minute, and at once with: belfry reload"
        }
    }

    /// The job; nil: it is something else.
    var job: JobSpec? {
        if case .job(let spec) = part { spec } else { nil }
    }

    /// Whether it is the same part, left out by the same fault, wherever it stands.
    func isSame(as other: LeftOut) -> Bool {
        guard reason == other.reason else { return false }
        return switch (part, other.part) {
        case (.job(let spec), .job(let old)): spec.name == old.name
        case (.channel(let name, _), .channel(let old, _)), (.bot(let name), .bot(let old)): name == old
        case (.job, _), (.channel, _), (.bot, _): false
        }
    }

    /// The channel; nil: it is something else.
    package var channel: (name: String, kind: ChannelKind)? {
        if case .channel(let name, let form) = part { (name, form.kind) } else { nil }
    }

    /// The channel's form; nil: it is something else.
    var form: (any ChannelForm)? {
        if case .channel(_, let form) = part { form } else { nil }
    }

    /// The fact that it was left out.
    func event(at now: Moment) -> NewEvent {
        switch part {
        case .job(let spec):
            NewEvent(
                .jobLeftOut(
                    Fact.LeftOut(
                        job: spec.name, bot: spec.bot, reason: DaemonReason.nameTaken.rawValue,
                        message: sentence)),
                at: now)
        case .channel(let name, _):
            NewEvent(
                .configPartial(
                    Fact.LeftOut(channel: name, reason: DaemonReason.badSecret.rawValue, message: sentence)),
                at: now)
        case .bot(let name):
            NewEvent(
                .configPartial(
                    Fact.LeftOut(bot: name, reason: DaemonReason.badSecret.rawValue, message: sentence)),
                at: now)
        }
    }

    /// The fact that it could be used after all.
    func returned(at now: Moment) -> NewEvent {
        NewEvent(.configReloaded(Fact.Reload(returnedJob: job?.name, channel: channel?.name)), at: now)
    }
}

extension Control {
    /// How often what was left out is tried again.
    package static let leftOutInterval: Duration = .seconds(60)

    /// Tries what was left out again, each minute while something is; returns when nothing is left out any more.
    package func followLeftOut() async throws {
        await loading.wait()
        while !activeConfiguration.configuration.leftOut.isEmpty {
            try await clock.sleep(until: clock.now + Self.leftOutInterval)
            for part in activeConfiguration.configuration.leftOut { await tryAgain(part) }
        }
    }

    private func tryAgain(_ leftOut: LeftOut) async {
        do throws(EngineError) {
            switch leftOut.part {
            case .job(let spec):
                let isDone = try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
                    try await putBack(spec, leftOut)
                }
                guard isDone else { return }
            case .channel(let name, _):
                guard let (channel, version) = await files.reopenChannel(name) else { return }
                // A reload may have been faster.
                let isDone = activeConfiguration.change { configuration in
                    guard let index = configuration.leftOut.firstIndex(of: leftOut) else { return false }
                    configuration.leftOut.remove(at: index)
                    configuration.channels.append(channel)
                    configuration.versions[name] = version
                    return true
                }
                guard isDone else { return }
                try await commit([.append(leftOut.returned(at: clock.now))])
            case .bot(let name):
                guard let contact = await reopened(name) else { return }
                // That the bot can be asked is the event of its status.
                activeConfiguration.change { configuration in
                    guard let index = configuration.leftOut.firstIndex(of: leftOut) else { return }
                    configuration.leftOut.remove(at: index)
                    configuration.bots[name]?.contact = contact
                }
            }
            logger.notice(
                "left-out part of the configuration is now active",
                metadata: ["config.place": "\(leftOut.place)"])
        } catch {
            logger.warning(
                "left-out part of the configuration still can't be used",
                metadata: ["config.place": "\(leftOut.place)", "reason": "\(error)"])
        }
    }

    /// Adds the job, unless it can't be added yet, or a reload has decided otherwise meanwhile.
    private func putBack(_ spec: JobSpec, _ leftOut: LeftOut) async throws(EngineError) -> Bool {
        guard activeConfiguration.configuration.leftOut.contains(leftOut), await !slots.isJob(spec.name)
        else {
            return false
        }
        _ = try await slots.change(
            [.add(spec, origin: .file, place: leftOut.place)], events: [leftOut.returned(at: clock.now)])
        activeConfiguration.change { $0.leftOut.removeAll { $0 == leftOut } }
        return true
    }

    /// The problems that status shows for what was left out.
    func problems(of leftOut: [LeftOut]) -> [EngineProblem] {
        leftOut.map { EngineProblem(kind: "configPartial", message: $0.sentence, hint: $0.hint) }
    }
}
