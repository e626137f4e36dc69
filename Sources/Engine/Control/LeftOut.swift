package import Delivery
package import Ledger
import Timeline

/// A part of the files that the daemon could not use at its start, while everything else runs.
///
/// The daemon tries it again each minute; a reload with the same fault is refused whole instead.
package struct LeftOut: Hashable, Sendable {
    /// What was left out.
    package enum Part: Hashable, Sendable {
        /// A job whose name belongs to a job made by the command line.
        case job(JobSpec)
        /// A channel whose secret can't be used.
        case channel(String, any ChannelForm)

        package static func == (left: Part, right: Part) -> Bool {
            switch (left, right) {
            case (.job(let left), .job(let right)): left == right
            case (.channel(let left, let form), .channel(let right, let other)):
                left == right && AnyHashable(form) == AnyHashable(other)
            case (.job, .channel), (.channel, .job): false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .job(let spec): hasher.combine(spec)
            case .channel(let name, let form):
                hasher.combine(name)
                hasher.combine(form)
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
            }
        return "\(what) at \(place) is left out: \(reason)"
    }

    /// What a person can do about it.
    package var hint: String {
        switch part {
        case .job(let spec):
            "remove the other one with: belfry job rm \(spec.name), or rename this one; it is tried again each minute"
        case .channel: "it is tried again each minute, and at once with: belfry reload"
        }
    }

    /// The name of the job; nil: it is a channel.
    var job: JobSpec? {
        if case .job(let spec) = part { spec } else { nil }
    }

    /// The channel; nil: it is a job.
    package var channel: (name: String, kind: ChannelKind)? {
        if case .channel(let name, let form) = part { (name, form.kind) } else { nil }
    }

    /// The channel's form; nil: it is a job.
    var form: (any ChannelForm)? {
        if case .channel(_, let form) = part { form } else { nil }
    }

    /// The fact that it was left out.
    func event(at now: Moment) -> NewEvent {
        switch part {
        case .job(let spec):
            NewEvent(
                .jobLeftOut(
                    Fact.LeftOut(job: spec.name, bot: spec.bot, reason: "nameTaken", message: sentence)),
                at: now)
        case .channel(let name, _):
            NewEvent(
                .configPartial(Fact.LeftOut(channel: name, reason: "badSecret", message: sentence)), at: now)
        }
    }

    /// The fact that it could be used after all.
    func returned(at now: Moment) -> NewEvent {
        NewEvent(.configReloaded(Fact.Reload(returnedJob: job?.name, channel: channel?.name)), at: now)
    }
}
