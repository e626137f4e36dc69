import API
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

/// Shows live states in the way that was asked for: rows, lines, JSON, or not at all.
final class LiveScreen {
    private let traits: TerminalTraits
    /// Whether a person reads it.
    var isForPeople: Bool { traits.progress == .live || traits.progress == .plain }
    private let zone: ZoneRules
    private var states: [String: LiveState] = [:]
    /// What was shown last of each run that has not ended.
    private var shown: [String: WireLive] = [:]
    private var ended: Set<String> = []
    private var permanent: [FrameLine] = []
    private var painter: TerminalPainter
    private var printer: PlainPrinter
    private var reports: TerminalReports
    /// Whether a line says so when no run is active.
    private var showsIdle = false
    /// What runs wait for, by id, while they do.
    private var waits: [String: String] = [:]
    /// The end of what the bot of the run that is watched alone has written.
    private var reply = ""
    /// How much of a reply is kept to show its last lines, in characters, and how many lines are shown.
    private static let replyKept = 2000
    private static let replyLines = 3

    init(_ traits: TerminalTraits) {
        self.traits = traits
        zone = Zones.local
        painter = TerminalPainter(traits)
        reports = TerminalReports(traits)
        printer = PlainPrinter(traits, zone: zone)
    }

    /// How long the view may sleep before it has to draw again.
    var longestWait: Duration { traits.progress == .live && !states.isEmpty ? .seconds(1) : .seconds(30) }

    /// Shows a live state; `run` describes an end, or what it waits for, better than its reason does.
    func show(_ state: WireLive, of run: WireRun? = nil) throws {
        let detail = run.flatMap(RunText.detail)
        waits[state.taskId] = state.state.isBeforeStart ? detail ?? waits[state.taskId] : nil
        let lastLines =
            run.map { run in [RunText.sentence(run)].compactMap(\.self) + RunText.lastLines(run) } ?? []
        let wire = state.keepingProgress(of: shown[state.taskId])
        shown[state.taskId] = state.state.isEnded ? nil : wire
        switch traits.progress {
        case .json: StandardOutput.print(try WireCoding.text(wire))
        case .quiet: break
        case .plain, .auto:
            if state.state.isEnded { printReply(upTo: reply.endIndex) }
            if let line = printer.line(for: LiveState(wire), at: .now, detail: detail) {
                StandardOutput.print(line)
                for line in lastLines { StandardOutput.print("  " + line) }
            }
        case .live: take(LiveState(wire), detail, lastLines)
        }
    }

    /// Shows what a run waits for before it starts; nothing of one that does not wait.
    func show(waiting run: WireRun) {
        guard isForPeople, let live = LiveState(waiting: run), let words = RunText.detail(run),
            words != waits[live.task.id]
        else { return }
        let id = live.task.id
        waits[id] = words
        if traits.progress == .live {
            states[id] = states[id] ?? live
        } else if let line = printer.line(for: live, at: .now, detail: words) {
            StandardOutput.print(line)
        }
    }

    /// Shows what came of the reply that a run writes: below its row, or line by line.
    func show(reply text: String) {
        guard isForPeople else { return }
        reply += text
        if traits.progress == .live {
            reply = String(reply.suffix(Self.replyKept))
        } else if let end = reply.lastIndex(where: \.isNewline) {
            printReply(upTo: reply.index(after: end))
        }
    }

    /// Prints the reply up to there, in whole lines.
    private func printReply(upTo end: String.Index) {
        for line in reply[..<end].split(whereSeparator: \.isNewline) {
            StandardOutput.print("  " + PlainText.oneLine(String(line)))
        }
        reply = String(reply[end...])
    }

    /// The last lines of the reply, in rows of a terminal of that width.
    private func replyRows(columns: Int) -> [FrameLine] {
        guard !reply.isEmpty, columns > 10 else { return [] }
        return reply.split(whereSeparator: \.isNewline).suffix(Self.replyLines)
            .flatMap { LineBreaker.lines(PlainText.oneLine(String($0)), columns: columns - 3) }
            .suffix(Self.replyLines)
            .map { FinishedLine.evidence($0, traits: traits, columns: columns) }
    }

    /// Shows that no run is active: where rows are drawn, until one is.
    func showIdle() {
        showsIdle = true
        if traits.progress == .plain || traits.progress == .auto {
            StandardError.print(prose: Self.idle(endedBy: "Ctrl-C"))
        }
    }

    private static func idle(endedBy key: String) -> String {
        "No run is active; runs are shown here when they start. \(key) ends."
    }

    /// The rows of the runs that have not ended, or the line that there is none.
    private func frame(at now: Moment, _ size: TerminalSize) -> Frame {
        let rows = states.values.sorted { $0.task.id < $1.task.id }.map { live in
            var row = LiveRow(live, at: now, zone: zone)
            row.detail = waits[live.task.id] ?? row.detail
            return row
        }
        var frame = Frame(rows, size: size, traits: traits)
        frame.lines += replyRows(columns: size.columns).suffix(max(0, size.rows - 1 - frame.lines.count))
        guard rows.isEmpty, showsIdle else { return frame }
        let lines = LineBreaker.lines(Self.idle(endedBy: "q"), columns: max(1, size.columns - 3))
        frame.lines = lines.prefix(max(1, size.rows - 1)).map {
            FinishedLine.evidence($0, traits: traits, columns: size.columns)
        }
        return frame
    }

    private func take(_ live: LiveState, _ detail: String?, _ lastLines: [String]) {
        let id = live.task.id
        guard !ended.contains(id) else { return }
        if let known = states[id], live.order <= known.order, !live.state.isEnded { return }
        if live.state.isEnded {
            states[id] = nil
            reply = ""
            ended.insert(id)
            permanent.append(
                FinishedLine.line(live, detail: detail, traits: traits, columns: Self.size.columns))
            permanent += lastLines.map {
                FinishedLine.evidence($0, traits: traits, columns: Self.size.columns)
            }
        } else {
            states[id] = live
        }
    }

    /// Draws what changed, in one write; nothing while another job has the terminal.
    func draw() {
        switch traits.progress {
        case .live: break
        case .plain, .auto:
            for line in printer.linesDue(at: .now) { StandardOutput.print(line) }
            return
        case .json, .quiet: return
        }
        let owner = tcgetpgrp(STDOUT_FILENO)
        guard owner < 0 || owner == getpgrp() else { return }
        let now = Moment.now
        let size = Self.size
        var bytes = painter.paint(frame(at: now, size), after: permanent, size: size)
        permanent = []
        bytes += reports.update(Array(states.values), at: now)
        StandardOutput.write(bytes)
    }

    /// Leaves the terminal as it should be: rows taken away, what ended still there.
    func close() {
        guard traits.progress == .live else { return }
        StandardOutput.write(painter.erase(leaving: permanent, size: Self.size))
        permanent = []
        StandardOutput.write(TerminalReports.clear(traits))
    }

    private static var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) }
}

extension LiveState {
    /// The state of a run that waits for its turn, of which the daemon has no live state; nil: it does not wait.
    init?(waiting run: WireRun) {
        guard run.state.isBeforeStart, let id = run.id else { return nil }
        let task = LiveTask(
            id: id, botID: run.bot ?? "", run: run.name ?? run.job, name: run.job, botName: run.bot ?? "")
        self.init(
            task: task, attempt: run.attempt ?? 1, seq: 0, state: run.state,
            updatedAt: run.queuedAt?.moment ?? .now)
    }
}
