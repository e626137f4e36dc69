import API
import Ledger
import TerminalView
import Timeline
import Tracking

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
