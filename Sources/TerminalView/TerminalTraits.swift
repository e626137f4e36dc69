import Tracking

/// How to write to a terminal, decided once from the user's options and the environment.
package struct TerminalTraits: Hashable, Sendable {
    /// What `--progress` may ask for.
    package enum Progress: String, Hashable, Sendable, CaseIterable {
        /// Live on a capable terminal, else plain.
        case auto
        /// Rows that are redrawn.
        case live
        /// One line for each thing that happens.
        case plain
        /// One JSON object a line.
        case json
        /// Nothing but errors.
        case quiet
    }

    /// What `--color` and `--osc` may ask for.
    package enum Wish: String, Hashable, Sendable, CaseIterable {
        /// As set in the environment.
        case auto
        /// Yes, whatever is in the environment.
        case always
        /// No, whatever is in the environment.
        case never
    }

    /// How progress is shown; never `.auto`.
    package var progress: Progress
    /// Whether lines are coloured.
    package var usesColor: Bool
    /// Whether the user asked for text a screen reader can follow: nothing redrawn, no glyphs.
    package var isAccessible: Bool
    /// Whether the terminal takes UTF-8; else everything outside ASCII becomes `?`.
    package var isUTF8: Bool
    /// Whether its font has block elements and symbols; else `#>-`.
    package var hasGlyphs: Bool
    /// Whether it rewraps old rows when its width changes.
    package var reflows: Bool
    /// Whether it shows progress in its tab or task bar (OSC 9;4).
    package var showsTaskbar: Bool
    /// Whether it takes the state of each run by name (OSC 7501).
    package var showsStatus: Bool
    /// Whether it keeps commands apart by where they begin and end (OSC 3008).
    package var showsContexts: Bool
    /// Whether the title of its window shows how far runs are: Konsole's tab shows neither errors nor waits (OSC 9;4).
    package var showsTitle: Bool
    /// How long a frame stays at least: a tenth of a second, and half a second over ssh, where each is a packet.
    package var frame: Duration
    /// Whether such sequences have to be wrapped, for the terminal around a tmux that does not know them.
    package var passesThrough: Bool

    /// Decides for an output.
    ///
    /// - Parameters:
    ///   - progress: what `--progress` asks.
    ///   - color: what `--color` asks.
    ///   - taskbar: what `--osc` asks.
    ///   - isTerminal: whether the output is a terminal.
    ///   - environment: the environment variables.
    package init(
        progress: Progress = .auto, color: Wish = .auto, taskbar: Wish = .auto, isTerminal: Bool,
        environment: [String: String]
    ) {
        let variables = Environment(values: environment)
        let canMove = isTerminal && variables.canMoveCursor
        isAccessible = variables.isOn("ACCESSIBLE")
        self.progress =
            switch progress {
            case .auto: canMove && !isAccessible && !variables.isOn("CI") ? .live : .plain
            // Frames in a file are never wanted, whatever was asked.
            case .live: canMove ? .live : .plain
            case .plain, .json, .quiet: progress
            }
        usesColor = variables.wantsColor(color, isTerminal: isTerminal)
        isUTF8 = variables.isUTF8
        hasGlyphs = isUTF8 && variables["TERM"] != "linux" && !isAccessible
        reflows = variables.reflows
        let isLive = isTerminal && self.progress == .live
        showsTaskbar = isLive && variables.wantsTaskbar(taskbar)
        showsStatus = isLive && variables.wantsStatus(taskbar)
        showsContexts = isTerminal && variables.canMoveCursor && variables.wantsContexts(taskbar)
        passesThrough = variables.isOldTmux
        showsTitle = showsTaskbar && variables.isKonsole
        frame = .milliseconds(variables.isRemote ? 500 : 100)
    }
}

extension TerminalTraits {
    private struct Environment {
        let values: [String: String]

        /// The value, if it is set and not empty.
        subscript(_ name: String) -> String? {
            guard let value = values[name], !value.isEmpty else { return nil }
            return value
        }

        /// Whether a switch is set to anything but no.
        func isOn(_ name: String) -> Bool {
            guard let value = self[name]?.lowercased() else { return false }
            return value != "0" && value != "false"
        }

        var canMoveCursor: Bool { self["TERM"].map { $0 != "dumb" } ?? false }

        /// The flag, then NO_COLOR, then the two that force, then CLICOLOR, then what the output is.
        /// - Source: no-color.org; bixense.com/clicolors; CMake 4.3 for NO_COLOR over CLICOLOR_FORCE.
        func wantsColor(_ wish: Wish, isTerminal: Bool) -> Bool {
            switch wish {
            case .always: return true
            case .never: return false
            case .auto: break
            }
            if self["NO_COLOR"] != nil { return false }
            for name in ["CLICOLOR_FORCE", "FORCE_COLOR"] {
                if let value = self[name], value != "0" { return true }
            }
            if self["CLICOLOR"] == "0" { return false }
            return isTerminal && canMoveCursor
        }

        /// The first of the three that is set decides, as in setlocale(3).
        var isUTF8: Bool {
            let locale = self["LC_ALL"] ?? self["LC_CTYPE"] ?? self["LANG"] ?? ""
            let name = locale.lowercased()
            return name.contains("utf-8") || name.contains("utf8")
        }

        /// Whether the terminal is on another machine.
        var isRemote: Bool { self["SSH_CONNECTION"] != nil || self["SSH_TTY"] != nil }

        /// Konsole itself, and not a tmux or screen in it.
        var isKonsole: Bool { self["KONSOLE_VERSION"] != nil && self["TMUX"] == nil && self["STY"] == nil }

        /// xterm, the kernel's console and screen cut old rows instead of wrapping them.
        var reflows: Bool {
            if self["TMUX"] != nil { return true }
            return self["XTERM_VERSION"] == nil && self["STY"] == nil && self["TERM"] != "linux"
        }

        /// The terminals known to draw OSC 9;4; some others pop up a notification for it.
        ///
        /// Inside tmux or screen the outer terminal's variables are still there and mean nothing.
        func wantsTaskbar(_ wish: Wish) -> Bool {
            switch wish {
            case .always: return true
            case .never: return false
            case .auto: break
            }
            if self["TMUX"] != nil { return number("TERM_PROGRAM_VERSION", of: "tmux") >= 3.7 }
            if self["STY"] != nil { return false }
            if self["ConEmuANSI"] == "ON" || self["WT_SESSION"] != nil { return true }
            if ["ghostty", "WezTerm"].contains(self["TERM_PROGRAM"]) { return true }
            if let version = self["PTYXIS_VERSION"] { return leadingNumber(version) >= 48 }
            if let version = self["VTE_VERSION"] { return leadingNumber(version) >= 8000 }
            if let version = self["KONSOLE_VERSION"] { return leadingNumber(version) >= 260400 }
            return self["TERM_FEATURES"].map(hasProgressFeature) ?? false
        }

        /// Inside a tmux that swallows what it does not know.
        var isOldTmux: Bool { self["TMUX"] != nil && number("TERM_PROGRAM_VERSION", of: "tmux") < 3.7 }

        /// The terminals that say so themselves, or are known to.
        func wantsStatus(_ wish: Wish) -> Bool {
            switch wish {
            case .always: return true
            case .never: return false
            case .auto: break
            }
            if self["TMUX"] != nil || self["STY"] != nil { return false }
            if ["cmux", "TUIOS"].contains(self["TERM_PROGRAM"]) { return true }
            return self["TERM_FEATURES"].map { $0.contains("Pst") } ?? false
        }

        func wantsContexts(_ wish: Wish) -> Bool {
            switch wish {
            case .always: true
            case .never: false
            case .auto: self["TERMINAL_NAME"] == "contour" && self["TMUX"] == nil && self["STY"] == nil
            }
        }

        private func number(_ name: String, of program: String) -> Double {
            guard self["TERM_PROGRAM"] == program, let value = self[name] else { return 0 }
            return leadingNumber(value)
        }

        /// `3.7b` is 3.7.
        private func leadingNumber(_ text: String) -> Double {
            Double(text.prefix { $0.isASCII && $0.isNumber || $0 == "." }) ?? 0
        }

        /// Features are words run together, each of a capital letter, small letters and digits; `P` alone is
        /// progress.
        private func hasProgressFeature(_ features: String) -> Bool {
            let letters = Array(features)
            return letters.indices.contains { index in
                let next = index + 1 < letters.count ? letters[index + 1] : " "
                return letters[index] == "P" && !next.isLowercase && !next.isNumber
            }
        }
    }
}

/// How much a terminal shows.
package struct TerminalSize: Hashable, Sendable {
    /// Cells in a row, at least 1.
    package var columns: Int
    /// Rows on the screen, at least 1.
    package var rows: Int

    /// A size as the terminal reports it; zero counts as 80 by 24.
    package init(columns: Int, rows: Int) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 0 ? rows : 24
    }
}

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
