import API
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

/// Shows on standard error how far a wrapped command is: one row below its output, lines, or nothing.
struct ExecRow {
    private let traits: TerminalTraits
    private let zone: ZoneRules
    private let isAsked: Bool
    private var painter: TerminalPainter
    private var printer: PlainPrinter
    private var reports: TerminalReports
    private var drawnAt: Moment?
    /// Whether the row stands on the terminal now.
    private(set) var isShown = false
    /// Whether there ever was one.
    private(set) var wasShown = false

    /// Nil when nothing is to be shown: lines only for who asks for them, rows on a terminal.
    init?(_ progress: TerminalTraits.Progress, color: TerminalTraits.Wish, osc: TerminalTraits.Wish) {
        traits = TerminalTraits(
            progress: progress, color: color, taskbar: osc, isTerminal: StandardError.isTerminal,
            environment: Machine.environment)
        switch (traits.progress, progress) {
        case (.live, _), (.plain, .plain), (.plain, .live): break
        default: return nil
        }
        isAsked = progress == .live
        zone = Zones.local
        painter = TerminalPainter(traits)
        reports = TerminalReports(traits)
        printer = PlainPrinter(traits, zone: zone)
    }

    /// Shows where it is; a command that says nothing of itself gets a row only when one was asked for.
    ///
    /// Nothing is drawn more than ten times a second, nor while somebody else has the terminal.
    mutating func show(_ live: LiveState) {
        let now = Moment.now
        guard traits.progress == .live else {
            if let line = printer.line(for: live, at: now) { StandardError.print(line) }
            return
        }
        guard isAsked || live.progress != nil || live.phase != nil || live.message != nil else { return }
        if let drawnAt, isShown, now - drawnAt < .milliseconds(100), now >= drawnAt { return }
        let owner = tcgetpgrp(STDERR_FILENO)
        guard owner < 0 || owner == getpgrp() else { return }
        let size = Self.size
        let frame = Frame([LiveRow(live, at: now, zone: zone)], size: size, traits: traits)
        var bytes = painter.paint(frame, size: size)
        bytes += reports.update([live], at: now)
        StandardError.write(bytes)
        drawnAt = now
        isShown = true
        wasShown = true
    }

    /// Makes room for what is about to be printed.
    mutating func erase() {
        guard isShown else { return }
        StandardError.write(painter.erase(size: Self.size))
        isShown = false
    }

    /// Leaves the terminal as it should be, with a line of how it ended where there was a row.
    mutating func close(_ live: LiveState?, detail: String?) {
        guard traits.progress == .live else {
            if let live, let line = printer.line(for: live, at: .now) { StandardError.print(line) }
            return
        }
        var last: [FrameLine] = []
        if wasShown, let live, live.state.isEnded {
            last = [
                FinishedLine.line(live, detail: detail, traits: traits, columns: Self.size.columns)
            ]
        }
        StandardError.write(painter.erase(leaving: last, size: Self.size))
        StandardError.write(TerminalReports.clear(traits))
        isShown = false
    }

    private static var size: TerminalSize { TerminalSize(of: STDERR_FILENO) }
}

/// What is shown of a wrapped command besides its output: a row on standard error, or its live states on standard
/// output, one a line.
struct ExecDisplay {
    private var row: ExecRow?
    private var printsLives: Bool
    private var lastPrinted: LiveState?
    /// Why live states could not be printed; that nobody reads them is no fault.
    private(set) var fault: (number: Int, error: HostError)?

    init(row: ExecRow?, printsLives: Bool) {
        self.row = row
        self.printsLives = printsLives
    }

    /// Whether anything is shown.
    var isShown: Bool { row != nil || printsLives }

    /// Shows `live`; a row only where it `fits`: below whole lines of a command that has not ended.
    mutating func show(_ live: LiveState?, fits: Bool) {
        guard let live else { return }
        if printsLives {
            guard live != lastPrinted else { return }
            lastPrinted = live
            print(live)
        } else if fits {
            row?.show(live)
        }
    }

    /// Makes room for what is about to be printed.
    mutating func erase() { row?.erase() }

    /// Leaves a line of how it ended where there was a row.
    mutating func close(_ live: LiveState?, detail: String?) { row?.close(live, detail: detail) }

    private mutating func print(_ live: LiveState) {
        guard let text = try? WireCoding.text(WireLive(live, at: .now)) else { return }
        do throws(HostError) {
            try StandardOutput.send(Array((text + "\n").utf8))
        } catch {
            printsLives = false
            if error.code != EPIPE { fault = (1, error) }
        }
    }
}
