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

    /// What the terminal gets from us, and so not from the command.
    var removal: PassedOutput.Removal { PassedOutput.Removal(sentTo: traits) }

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
    /// Nothing is drawn more often than the terminal takes it, nor while somebody else has the terminal.
    mutating func show(_ live: LiveState) {
        let now = Moment.now
        guard traits.progress == .live else {
            if let line = printer.line(for: live, at: now) { StandardError.print(line) }
            return
        }
        guard isAsked || live.progress != nil || live.phase != nil || live.message != nil else { return }
        if let drawnAt, isShown, now - drawnAt < traits.frame, now >= drawnAt { return }
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

/// Shows the progress of a command that has a terminal of its own, only in the tab of ours.
struct ExecTab {
    private let traits: TerminalTraits
    private var reports: TerminalReports
    private var wasShown = false

    /// Nil where the terminal takes neither form.
    init?(_ progress: TerminalTraits.Progress, osc: TerminalTraits.Wish) {
        traits = TerminalTraits(
            progress: progress, taskbar: osc, isTerminal: StandardOutput.isTerminal,
            environment: Machine.environment)
        guard traits.showsTaskbar || traits.showsStatus else { return nil }
        reports = TerminalReports(traits)
    }

    /// What the terminal gets from us, and so not from the command.
    var removal: PassedOutput.Removal { PassedOutput.Removal(sentTo: traits) }

    /// Shows its state, once it has reported any.
    mutating func show(_ live: LiveState) {
        guard wasShown || live.progress != nil || live.state == .blocked || live.tasks != nil else { return }
        wasShown = true
        StandardOutput.write(reports.update([live], at: .now))
    }

    /// Removes it from the tab.
    func close() {
        if wasShown { StandardOutput.write(TerminalReports.clear(traits)) }
    }
}

/// What is shown of a wrapped command besides its output: a row on standard error, its progress in the tab, or its live
/// states on standard output, one a line.
struct ExecDisplay {
    private var row: ExecRow?
    private var tab: ExecTab?
    /// Whether live states are printed in place of the command's output.
    private(set) var printsLives: Bool
    private var lastPrinted: LiveState?
    /// Why live states could not be printed; that nobody reads them is no fault.
    private(set) var fault: (number: Int, error: HostError)?

    /// What is removed from the command's output.
    let removal: PassedOutput.Removal

    /// - Parameters:
    ///   - row: where to show how far the command is, below its output.
    ///   - tab: where to show it when the command has a terminal of its own.
    ///   - printsLives: print live states, one a line, in place of its output.
    ///   - removal: what is removed from the command's output where there is neither a row nor a tab.
    init(row: ExecRow?, tab: ExecTab?, printsLives: Bool, removing removal: PassedOutput.Removal) {
        (self.row, self.tab, self.printsLives) = (row, tab, printsLives)
        self.removal = row?.removal ?? tab?.removal ?? removal
    }

    /// Whether anything is shown.
    var isShown: Bool { row != nil || tab != nil || printsLives }

    /// Whether the last state is shown.
    var showsEnd: Bool { row != nil || printsLives }

    /// Shows `live`; a row only where it `fits`: below whole lines of a command that has not ended, and in the tab only
    /// `between` two sequences of its output.
    mutating func show(_ live: LiveState?, fits: Bool, between: Bool) {
        guard let live else { return }
        if printsLives {
            guard live != lastPrinted else { return }
            lastPrinted = live
            print(live)
        } else if fits {
            row?.show(live)
        }
        if between { tab?.show(live) }
    }

    /// Makes room for what is about to be printed.
    mutating func erase() { row?.erase() }

    /// Leaves a line of how it ended where there was a row.
    mutating func close(_ live: LiveState?, detail: String?) {
        row?.close(live, detail: detail)
        tab?.close()
    }

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
