import Tracking

/// How a terminal itself is asked to notify: for somebody who works over ssh, where no desktop of this machine is.
package enum TerminalNotice: String, CaseIterable, Sendable {
    /// OSC 9: iTerm2, WezTerm, Ghostty, Windows Terminal, ConEmu.
    case osc9
    /// OSC 99: kitty, foot.
    case osc99
    /// OSC 777: rxvt-unicode, VTE (GNOME Terminal, Ptyxis), foot.
    case osc777
    /// The bell alone.
    case bell

    /// The one that the terminal of this environment is known to understand; the bell of any other.
    ///
    /// - Source: the terminals' own documentation of `TERM_PROGRAM`, `KITTY_WINDOW_ID` and `VTE_VERSION`.
    package init(environment: [String: String]) {
        let (term, program) = (environment["TERM"] ?? "", environment["TERM_PROGRAM"] ?? "")
        if environment["TMUX"] != nil || term.hasPrefix("screen") || term.hasPrefix("tmux") {
            // What stands between passes only the bell on.
            self = .bell
        } else if environment["KITTY_WINDOW_ID"] != nil || term == "xterm-kitty" {
            self = .osc99
        } else if term.hasPrefix("foot") || term.hasPrefix("rxvt") || environment["VTE_VERSION"] != nil {
            self = .osc777
        } else if ["iTerm.app", "WezTerm", "ghostty"].contains(program) || environment["WT_SESSION"] != nil
            || term == "xterm-ghostty"
        {
            self = .osc9
        } else {
            self = .bell
        }
    }

    /// The bytes to write to the terminal; text is one line, without control characters.
    ///
    /// tmux passes them on to the terminal behind it where its option `allow-passthrough` is on.
    package func bytes(title: String, body: String, throughTmux: Bool = false) -> [UInt8] {
        let text = text(title, body)
        guard throughTmux, self != .bell else { return Array(text.utf8) }
        return Array("\u{1B}Ptmux;\(text.replacing("\u{1B}", with: "\u{1B}\u{1B}"))\u{1B}\\".utf8)
    }

    private func text(_ title: String, _ body: String) -> String {
        let (title, body) = (Self.plain(title), Self.plain(body))
        return switch self {
        case .osc9: "\u{1B}]9;\(title): \(body)\u{1B}\\"
        case .osc99: "\u{1B}]99;i=belfry:d=0;\(title)\u{1B}\\\u{1B}]99;i=belfry:p=body;\(body)\u{1B}\\"
        // A semicolon in the title would end it.
        case .osc777: "\u{1B}]777;notify;\(title.replacing(";", with: ","));\(body)\u{1B}\\"
        case .bell: "\u{07}"
        }
    }

    /// What a person who watches runs is notified of: the event's type in words; nil: nobody is.
    package static func words(for type: String) -> String? {
        switch type {
        case "run.failed": "failed"
        case "run.lost": "was lost"
        case "run.blocked": "waits for you"
        case "run.recovered": "recovered"
        case "run.missed": "missed slots"
        case "run.stuck": "is stuck"
        case "question.asked": "asks a question"
        default: nil
        }
    }

    private static func plain(_ text: String) -> String { CleanText.line(text, limit: 200) }
}
