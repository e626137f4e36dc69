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
    private var taskbar = TaskbarProgress()
    /// Whether a line says so when no run is active.
    private var showsIdle = false

    init(_ traits: TerminalTraits) {
        self.traits = traits
        zone = Zones.local
        painter = TerminalPainter(traits)
        printer = PlainPrinter(traits, zone: zone)
    }

    /// How long the view may sleep before it has to draw again.
    var longestWait: Duration { traits.progress == .live && !states.isEmpty ? .seconds(1) : .seconds(30) }

    /// Shows a live state; `run` describes an end better than its reason does.
    func show(_ state: WireLive, endOf run: WireRun? = nil) throws {
        let detail = run.flatMap(RunText.detail)
        let lastLines = run.map(RunText.lastLines) ?? []
        let wire = state.keepingProgress(of: shown[state.taskId])
        shown[state.taskId] = state.state.isEnded ? nil : wire
        switch traits.progress {
        case .json: StandardOutput.print(try WireCoding.text(wire))
        case .quiet: break
        case .plain, .auto:
            if let line = printer.line(for: LiveState(wire), at: .now, detail: detail) {
                StandardOutput.print(line)
                for line in lastLines { StandardOutput.print("  " + line) }
            }
        case .live: take(LiveState(wire), detail, lastLines)
        }
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
        let rows = states.values.sorted { $0.task.id < $1.task.id }.map { LiveRow($0, at: now, zone: zone) }
        var frame = Frame(rows, size: size, traits: traits)
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
        if traits.showsTaskbar { bytes += taskbar.update(Array(states.values), at: now) }
        StandardOutput.write(bytes)
    }

    /// Leaves the terminal as it should be: rows taken away, what ended still there.
    func close() {
        guard traits.progress == .live else { return }
        StandardOutput.write(painter.erase(leaving: permanent, size: Self.size))
        permanent = []
        if traits.showsTaskbar { StandardOutput.write(TaskbarProgress.clear) }
    }

    private static var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) }
}
