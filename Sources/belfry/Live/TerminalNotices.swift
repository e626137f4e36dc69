import API
import Host
import TerminalView

/// Has the terminal that a person sits at notify, by the way that was chosen.
struct TerminalNotices {
    private let way: TerminalNotice
    private let isInTmux: Bool

    /// `way` is one of ``TerminalNotice``, or `auto` for the one that the terminal understands.
    init(_ way: String, _ environment: [String: String]) {
        self.way = TerminalNotice(rawValue: way) ?? TerminalNotice(environment: environment)
        isInTmux = environment["TMUX"] != nil
    }

    /// Notifies of an event that a person who watches wants to know of, and of no other.
    func notify(of event: WireEvent) {
        guard let words = TerminalNotice.words(for: event.type) else { return }
        notify(of: event.name ?? event.job ?? event.bot ?? "belfry", words)
    }

    /// Notifies of what happened to something; nobody is notified where there is no terminal.
    func notify(of name: String, _ words: String) {
        try? ControllingTerminal.write(way.bytes(title: name, body: words, throughTmux: isInTmux))
    }
}
