package import Delivery
import Ledger
package import Timeline
import Tracking

/// How the daemon is doing.
package struct EngineStatus: Sendable {
    package var since: Moment
    /// How long ago that is, whatever the clock on the wall showed meanwhile.
    package var uptime: Duration
    /// Nil: there is no file, the defaults apply.
    package var configuration: String?
    package var jobs: Int
    package var running: Int
    package var queued: Int
    package var next: (slot: Moment, job: String)?
    package var outbox: [OutboxState: Int]
    package var channels: [(channel: any Channel, health: ChannelBoard.Health?)]
    /// The warden's process; nil: none answers.
    package var warden: Int32?
    package var problems: [EngineProblem]
    /// What is known of each bot that has a provider, by name.
    package var bots: [String: BotSurvey]
    /// The release of the zone data that slots follow; nil: the machine does not say.
    package var tzdata: String?
}

/// Something that keeps the daemon from doing all it should, with a hint.
package struct EngineProblem: Hashable, Sendable {
    package var kind: String
    package var message: String
    package var hint: String?
    /// Worth a look, but nothing fails by it.
    package var isWarning: Bool

    package init(kind: String, message: String, hint: String? = nil, isWarning: Bool = false) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.isWarning = isWarning
    }
}

extension Control {
    package func status() async throws(EngineError) -> EngineStatus {
        let configuration = activeConfiguration.configuration
        let outbox = try await read { () async throws(LedgerError) in try await ledger.outboxCounts() }
        let summary = await slots.summary()
        let running = await runs.running
        let bots = try await read { () async throws(LedgerError) in try await desk.survey() }
        var status = EngineStatus(
            since: startedAt.now, uptime: clock.sinceBoot - startedAt.sinceBoot,
            configuration: configuration.path, jobs: summary.jobs, running: running,
            queued: max(0, summary.active - running), next: summary.next, outbox: outbox,
            channels: configuration.channels.map { ($0, channels[$0.name]) },
            warden: await runs.wardenProcess, problems: [], bots: bots,
            tzdata: summary.tzdata)
        status.problems =
            problems(of: ledger.condition) + problems(of: status, wardenFault: await runs.wardenFault)
            + problems(ofSilent: await runs.isWardenSilent ? status.warden : nil)
            + problems(of: summary) + problems(of: configuration.leftOut) + problems(of: bots)
            + problemsOfGateways()
            + host.problems()
        for channel in configuration.channels where channel.kind.isLevel {
            let refused = try await read { () async throws(LedgerError) in
                try await ledger.refusedSurfaces(channel: channel.name)
            }
            if let newest = refused.last {
                status.problems.append(problem(of: channel, refused: refused.count, newest))
            }
        }
        if !loading.isDone {
            status.problems.append(
                EngineProblem(
                    kind: "starting",
                    message: "the daemon is starting; the jobs of its files are not loaded yet",
                    isWarning: true))
        }
        if await runs.isDraining {
            status.problems.append(
                EngineProblem(
                    kind: "draining",
                    message: "no run is started any more; the daemon ends when those under way have ended",
                    hint: "a second SIGTERM ends it now; the runs continue in the warden"))
        }
        status.problems += try await problemsOfMissingChannels()
        // What fails before what may.
        status.problems = status.problems.filter { !$0.isWarning } + status.problems.filter(\.isWarning)
        return status
    }

    private func problems(of condition: StoreCondition) -> [EngineProblem] {
        switch condition {
        case .sound: []
        case .short:
            [
                EngineProblem(
                    kind: "diskFull",
                    message: "the ledger's disk is full; no run begins before there is room",
                    hint: "free some space; missed slots are then caught up")
            ]
        case .refusing(let error):
            [
                EngineProblem(
                    kind: "ledger", message: "nothing can be recorded: \(error)",
                    hint: "runs begin again by themselves once the ledger can be written")
            ]
        }
    }

    private func problems(of status: EngineStatus, wardenFault: String?) -> [EngineProblem] {
        var problems: [EngineProblem] = []
        if status.configuration == nil {
            problems.append(
                EngineProblem(
                    kind: "noConfiguration",
                    message: "there is no configuration file; the defaults apply",
                    hint: "copy config/belfry.yaml to \(files.path) and edit it", isWarning: true))
        }
        if let refusal = activeConfiguration.refusal {
            problems.append(
                EngineProblem(
                    kind: "refusedConfiguration",
                    message: "the last reload was refused: \(refusal.prefix { !$0.isNewline })",
                    hint: "fix it, check it with: belfry config check, then run: belfry reload"))
        }
        if status.warden == nil {
            let why = wardenFault.map { ": \($0)" } ?? ""
            problems.append(
                EngineProblem(
                    kind: "noWarden", message: "no warden answers; runs wait\(why)",
                    hint: host.machine.wardenStart().map { "start it with: \($0)" }
                        ?? "belfryd starts one itself and tries again every 10 s; see its log"))
        }
        let isAnyoneNotified = status.channels.contains { $0.health.map { $0.state == .working } ?? true }
        let absent = status.channels.filter { $0.health?.isAbsent == true }.map(\.channel.name)
        if !absent.isEmpty { problems.append(problem(ofAbsent: absent, isAnyoneNotified: isAnyoneNotified)) }
        for (channel, health) in status.channels {
            guard let health, health.state != .working, !health.isAbsent else { continue }
            let why = health.lastError.map { ": \($0)" } ?? ""
            problems.append(
                EngineProblem(
                    kind: "channel", message: "channel \"\(channel.name)\" is \(health.state.rawValue)\(why)",
                    hint: "try it with: belfry channel test \(channel.name)",
                    // Nobody is logged in, for example: the others still ring.
                    isWarning: health.state == .away && isAnyoneNotified))
        }
        if let dead = status.outbox[.dead], dead > 0 {
            problems.append(
                EngineProblem(
                    kind: "deadEntries",
                    message: "\(dead) \(dead == 1 ? "notice" : "notices") could not be delivered",
                    hint: "see them with: belfry outbox list"))
        }
        return problems
    }

    /// A machine without a desktop: nothing is broken, but perhaps nobody hears of a failure.
    private func problem(ofAbsent channels: [String], isAnyoneNotified: Bool) -> EngineProblem {
        let names = channels.map { "\"\($0)\"" }.joined(separator: ", ")
        guard !isAnyoneNotified else {
            return EngineProblem(
                kind: "noDesktop",
                message: "there is no desktop session; nothing is shown on channel \(names)",
                hint: "on a machine that never has one, remove it from channels: and routes:", isWarning: true
            )
        }
        return EngineProblem(
            kind: "noDesktop",
            message: "no desktop here; failures are only listed in \"belfry runs\"",
            hint:
                "add a webhook to \(files.path): "
                + "channels: { desk: { kind: desktop }, hook: { kind: webhook, url: https://... } }",
            isWarning: true)
    }

    private func problem(of channel: any Channel, refused count: Int, _ newest: SurfaceRecord)
        -> EngineProblem
    {
        let who = channel.kind == DesktopForm.kind ? "the notification server or belfryd" : "belfryd"
        let others = count == 1 ? "" : " and \(count - 1) more"
        let why = newest.refusal.map { ": \($0)" } ?? ""
        return EngineProblem(
            kind: "refusedNotices",
            message: "channel \"\(channel.name)\" does not show \(newest.item)\(others)\(why)",
            hint: "each is tried again when it changes, and all when \(who) restarts")
    }

    /// Bots that can't be asked; one whose key can't be read is left out, and reported so.
    private func problems(of bots: [String: BotSurvey]) -> [EngineProblem] {
        bots.sorted { $0.key < $1.key }.compactMap { name, survey in
            let view = survey.view
            guard view.status != .online, survey.knowledge.fault == nil else { return nil }
            let why = view.text.map { $0.hasPrefix("\(name): ") ? $0.dropFirst(name.count + 2) : $0[...] }
            let since = view.since.map { " since \(Moment(seconds: $0.seconds).iso8601)" } ?? ""
            return EngineProblem(
                kind: "bot",
                message: "bot \"\(name)\" is \(view.status.rawValue)\(since)" + (why.map { ": \($0)" } ?? ""),
                hint: view.reason == RunReason.budget.rawValue
                    ? "see what it used with: belfry bot show \(name)"
                    : "try it with: belfry bot test \(name)",
                isWarning: true)
        }
    }

    /// Gateways whose own jobs are watched, and not all well.
    private func problemsOfGateways() -> [EngineProblem] {
        gateways.board.entries.compactMap { entry in
            guard let watched = entry.watched, watched.troubled > 0 else { return nil }
            let bot = entry.bots.min() ?? ""
            return EngineProblem(
                kind: "gatewayJobs",
                message: "\(watched.troubled) of \(watched.jobs) jobs of the gateway at \(entry.place) "
                    + (watched.troubled == 1 ? "needs attention" : "need attention"),
                hint: "see them with: belfry import openclaw --bot \(bot)", isWarning: true)
        }
    }

    /// What waits for a channel that the configuration does not have.
    private func problemsOfMissingChannels() async throws(EngineError) -> [EngineProblem] {
        try await waitingForMissing().sorted { $0.key < $1.key }.map { name, count in
            EngineProblem(
                kind: "channelMissing",
                message: (count == 1 ? "1 notice waits" : "\(count) notices wait")
                    + " for channel \"\(name)\", which is not in the configuration",
                hint: "add the channel again; if it has another name now: "
                    + "belfry outbox retry --channel NEW --from \(name)")
        }
    }

    private func problems(ofSilent warden: Int32?) -> [EngineProblem] {
        guard let warden else { return [] }
        return [
            EngineProblem(
                kind: "wardenSilent",
                message: "the warden (process \(warden)) does not answer; runs wait until it does",
                hint: "see what it does with: ps -o pid,stat,wchan:30,cmd -p \(warden); "
                    + "to continue one that is stopped (T): kill -CONT \(warden)")
        ]
    }

    private func problems(of summary: SlotSummary) -> [EngineProblem] {
        var problems = summary.faults.sorted { $0.key < $1.key }.map { name, fault in
            EngineProblem(
                kind: "job", message: "job \"\(name)\" can't be scheduled: \(fault)",
                hint: "edit its schedule or its zone")
        }
        if let late = summary.late {
            problems.append(
                EngineProblem(
                    kind: "slotsLate",
                    message: "slots since \(late.iso8601) are late: the ledger does not record them",
                    hint: "they are caught up as soon as the ledger can be written"))
        }
        if summary.isHeld {
            problems.append(
                EngineProblem(
                    kind: "clock", message: "the clock is not set yet; slots wait",
                    hint: "set it, or wait until five minutes after the start of the machine"))
        } else if let behind = summary.behind {
            problems.append(
                EngineProblem(
                    kind: "clock",
                    message: "the clock went back; slots before \(behind.iso8601) were decided already",
                    hint: "they do not run again; if the clock is wrong now, set it: timedatectl"))
        }
        if let back = summary.setBack {
            problems.append(
                EngineProblem(
                    kind: "clock",
                    message: "the clock went back by \(back.text); times that come again run again",
                    hint: "if the clock is right now, nothing needs to be done; else set it: timedatectl",
                    isWarning: true))
        }
        return problems
    }

    func read<Value>(
        _ body: () async throws(LedgerError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(LedgerError) { return try await body() } catch { throw .ledger(error) }
    }
}
