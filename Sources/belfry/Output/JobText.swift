import API
import APIClient
import Host
import Ledger
import TerminalView
import Timeline
import Tracking

/// Jobs in words.
enum JobText {
    /// `30 2 * * * Europe/Berlin`, `manual`; without the zone where that is `local`.
    static func schedule(_ schedule: WireSchedule, local: String? = nil) -> String {
        let zone = schedule.zone == local ? nil : schedule.zone
        return describe(schedule, in: zone, local)
    }

    private static func describe(_ schedule: WireSchedule, in zone: String?, _ local: String?) -> String {
        switch schedule.kind {
        case "manual": "manual"
        case "startup" where schedule.text.isEmpty: "startup"
        case "calendar": "every " + [schedule.text, zone].compactMap { $0 }.joined(separator: " ")
        case "cron": [schedule.text, zone].compactMap { $0 }.joined(separator: " ")
        case "several":
            (schedule.members ?? []).map { Self.schedule($0, local: local) }.joined(separator: "; ")
        default: "\(schedule.kind) \(schedule.text)"
        }
    }

    /// The command as a shell would take it, the shell text, the prompt, or the request.
    static func action(_ job: WireJob) -> String {
        if let shell = job.shell { return shell }
        if let prompt = job.prompt { return "asks \(job.bot): \(prompt)" }
        if let url = job.url { return "\(job.method ?? "GET") \(url)" }
        return (job.command ?? []).map(quoted).joined(separator: " ")
    }

    /// Prints a job that was added or changed: JSON, or one line with its next slot.
    static func confirm(_ verb: String, _ job: WireJob, _ common: CommonOptions) throws {
        if common.json { return try StandardOutput.print(json: job) }
        let screen = common.screen
        let next = job.nextAt.map { "next at \(screen.fullTime($0, of: job)), \(screen.distance($0))" }
        let other =
            job.schedule.kind == "manual" ? nil : job.schedule.words.map { "runs \($0.lowercasedFirst)" }
        let when =
            job.paused.isPaused
            ? "its slots are skipped until belfry job resume \(job.name)"
            : next ?? other ?? "no schedule; start it with: belfry run \(job.name)"
        screen.print("\(verb) \(job.name) (revision \(job.revision)): \(when).")
        for note in [job.schedule.note, job.schedule.clockChanges].compactMap(\.self) {
            StandardOutput.print(prose: "note: \(note)")
        }
        for warning in job.warnings ?? [] { StandardError.print(prose: "belfry: warning: \(warning)") }
    }

    /// Prints every job.
    static func list(_ common: CommonOptions) throws {
        let jobs = try common.client().ask(Endpoints.jobs())
        try common.screen.list(jobs, asJSON: common.json) { screen in
            screen.print(
                table(jobs, screen), empty: "No jobs. Add one: belfry job add NAME --cron EXPR -- CMD")
        }
    }

    static func table(_ jobs: [WireJob], _ screen: Screen) -> TextTable {
        var table = TextTable(["JOB", "SCHEDULE", "NEXT", "LAST", "BOT"], times: [2])
        for job in jobs {
            let next: TextTable.Cell =
                job.paused.isPaused ? .init("paused", .yellow) : "\(screen.time(job.nextAt, of: job))"
            let last = job.lastRun.map { TextTable.Cell(RunText.state($0), StateMark($0.state).color) }
            let schedule = schedule(job.schedule, local: screen.zone.name)
            table.add(["\(job.name)", "\(schedule)", next, last ?? "-", "\(job.bot)"])
        }
        return table
    }

    /// `word` as a shell would have to be given it.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "_-./=:,@%+".utf8.contains(byte)
                }
            }
        return isPlain
            ? word
            : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
                + "'"
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

/// Runs in words.
enum RunText {
    /// `send_message {"text":"Hi"}: sent as message 0199...`.
    static func call(_ call: WireToolCall) -> String {
        let arguments = call.arguments == "{}" ? "" : " " + PlainText.preview(call.arguments, limit: 120)
        let result = PlainText.preview(call.result, limit: 200)
        return
            "\(PlainText.oneLine(call.tool))\(arguments): \(call.isError == true ? "refused: " : "")\(result)"
    }

    /// `failed: exit code 3`, `missed: older than the job catches up`, `completed`.
    static func state(_ run: WireRun) -> String {
        var text = run.state == .timedOut ? "timed out" : run.state.rawValue
        if let count = run.count, count > 1 { text += " x\(count)" }
        if let detail = detail(run) { text += ": \(detail)" }
        return text
    }

    /// What the state alone does not say.
    static func detail(_ run: WireRun) -> String? {
        if run.state == .completed { return nil }
        if run.reason == .exitCode, let code = run.exitCode { return "exit code \(code)" }
        if run.reason == .notFound, let message = run.live?.message {
            return PlainText.preview(MissingProgram.headline(of: message), limit: 80)
        }
        if run.state.isBeforeStart || run.state == .blocked, let wait = run.waitsFor { return words(wait) }
        if run.reason == .signal, let signal = run.signal { return SignalName.text(signal) }
        let isSaid = run.state == .timedOut || run.reason?.rawValue == run.state.rawValue
        return isSaid ? nil : run.reason?.words
    }

    /// `waits for sage, 2 before it`.
    static func words(_ wait: WireWait) -> String {
        let name = wait.name.map(PlainText.oneLine)
        let words =
            switch (wait.kind, name) {
            case (.lane, let bot?): "waits for \(bot)"
            case (.concurrency, let key?): "waits for other runs with the key \(key)"
            case (.overlap, _): "waits for the run before it"
            case (.network, let bot?): "waits to reach \(bot) again"
            case (.network, nil): "waits for the network"
            case (.question, let id?): "waits for an answer: belfry answer \(id.suffix(ShortID.shownDigits))"
            case (.question, nil): "waits for an answer"
            case (.permission, _): "waits for a permission"
            case (.auth, _): "waits for a login"
            default: wait.kind.reason?.words ?? "waits for \(wait.kind.rawValue)"
            }
        guard let before = wait.before, before > 1 || wait.kind != .overlap && before > 0 else {
            return words
        }
        return "\(words), \(before) before it"
    }

    /// Why it failed as a sentence, where the words of its reason say less; nil: its state says it all.
    static func sentence(_ run: WireRun) -> String? {
        guard run.state.isFailure, run.startedAt != nil, let why = why(run), why != detail(run) else {
            return nil
        }
        return PlainText.oneLine(why)
    }

    /// Why it did not end well, where the state does not say it; nil: there is nothing to add.
    static func why(_ run: WireRun) -> String? {
        let end =
            run.signal.map { "\(SignalName.text($0)) ended it" }
            ?? run.exitCode.map { "it ended with exit code \($0)" }
        switch run.state {
        case .timedOut:
            var parts = ["stopped at its limit\(run.timeoutMs.map { " of \(duration($0))" } ?? "")"]
            if run.signal == killSignal, let grace = run.graceMs {
                parts.append("SIGTERM did not end it within \(duration(grace)), SIGKILL did")
            } else if let end {
                parts.append(run.signal == nil ? "SIGTERM was sent, and \(end)" : end)
            }
            return parts.joined(separator: "; ")
        case .failed, .lost:
            // What never began, or not once more, has only Belfry's words.
            let isSentence = run.startedAt == nil || speaksForItself(run.reason) || isSaidOfBot(run)
            return isSentence ? run.live?.message : nil
        case .canceled: return end
        case .skipped: return run.live?.message
        default: return nil
        }
    }

    /// The parts of a run's work, a line each, indented as a tree.
    static func parts(_ run: WireRun) -> [String] {
        guard let tasks = run.live.map({ LiveState($0).tasks ?? [] }) else { return [] }
        return TaskTree.of(tasks).flatMap { $0.flattened() }.map { depth, tree in
            let name = String(repeating: "  ", count: depth) + PlainText.oneLine(tree.name)
            let percent = tree.task?.progress.map { "\(Int($0 * 100))%" }
            let state = tree.task.flatMap { $0.state == .working ? nil : $0.state.rawValue }
            let parts = [percent, state, tree.task?.message.map(PlainText.oneLine)].compactMap(\.self)
            return parts.isEmpty ? name : "\(name)  \(parts.joined(separator: "  "))"
        }
    }

    /// The last lines that a run printed which ended otherwise than it should.
    static func lastLines(_ run: WireRun) -> [String] {
        guard run.state.isFailure, let tail = run.outputTail else { return [] }
        return tail.split(separator: "\n").suffix(5).map { PlainText.oneLine(String($0)) }
    }

    /// Whether the last attempt ended before it began.
    private static func speaksForItself(_ reason: RunReason?) -> Bool {
        if reason?.isOfBot == true || reason?.isOfCall == true { return true }
        return switch reason {
        case .ensure, .wakeScript, .spawnFailed, .notFound, .notExecutable, .badDirectory, .badUser,
            .leftovers:
            true
        default: false
        }
    }

    /// Whether its last message is why its bot did not reply: such a sentence begins with the bot's name.
    private static func isSaidOfBot(_ run: WireRun) -> Bool {
        guard run.reason == .exitCode || run.reason == .signal, let bot = run.bot else { return false }
        return run.live?.message?.hasPrefix("\(bot): ") == true
    }

    /// How an attempt ended, or where it is.
    static func state(_ attempt: WireAttempt) -> String {
        let code = attempt.reason == .exitCode ? attempt.exitCode.map { "exit code \($0)" } : nil
        return [attempt.state.rawValue, code ?? attempt.reason?.words].compactMap { $0 }
            .joined(separator: ": ")
    }

    private static let killSignal = 9

    private static func duration(_ milliseconds: Int64) -> String {
        Duration.milliseconds(milliseconds).limitWords
    }

    /// From the start to the end, or to now.
    static func took(_ run: WireRun, _ screen: Screen) -> String {
        guard let start = run.startedAt?.moment else { return "-" }
        let end = run.endedAt?.moment ?? screen.now
        return DisplayDuration.text(end - start)
    }

    /// A wait: milliseconds below a second, else as all durations.
    static func delay(_ milliseconds: Int64) -> String {
        milliseconds < 1000 ? "\(milliseconds) ms" : DisplayDuration.text(.milliseconds(milliseconds))
    }

    /// `about 6 s left`, `9 to 14 min left`; nil when nothing is known, or the run is not at work.
    static func finish(_ run: WireRun, _ screen: Screen) -> String? {
        guard let live = run.live, !run.state.isEnded else { return nil }
        return FinishWording.text(for: LiveState(live), at: screen.now, zone: screen.zone)
    }

    /// When it started; of one that never did, when it ended, or else when it was queued.
    static func when(_ run: WireRun) -> Timestamp? { run.startedAt ?? run.endedAt ?? run.queuedAt }

    static func table(_ runs: [WireRun], _ screen: Screen) -> TextTable {
        var table = TextTable(
            ["RUN", "STATE", "SLOT", "WHEN", "TOOK", "BOT"], rightAligned: [4], times: [2, 3])
        for run in runs {
            let mark = StateMark(run.state)
            let progress = run.live?.progress.map { " \(Int($0 * 100))%" } ?? ""
            let finish = finish(run, screen).map { ", \($0)" } ?? ""
            let why = run.state == .timedOut ? nil : sentence(run).map { PlainText.preview($0, limit: 80) }
            let text =
                why.map { "\(run.state.words): \($0)" }
                ?? state(run) + (run.state.isEnded ? "" : progress + finish)
            let first = screen.time(run.slot)
            let last = run.lastSlot == run.slot ? nil : run.lastSlot.map(screen.time)
            let slots = last.map { "\(first) - \($0)" } ?? first
            table.add([
                "\(run.name ?? run.job)", TextTable.Cell(text, mark.color), "\(slots)",
                "\(screen.time(when(run)))", "\(took(run, screen))", "\(run.bot ?? "-")",
            ])
        }
        return table
    }
}
