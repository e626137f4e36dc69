import Testing

@testable import TerminalView

@Suite struct `the way to speak to a terminal` {
    private static let xterm = ["TERM": "xterm-256color", "LANG": "en_US.UTF-8"]

    private func traits(
        _ more: [String: String], progress: TerminalTraits.Progress = .auto,
        color: TerminalTraits.Wish = .auto,
        taskbar: TerminalTraits.Wish = .auto, isTerminal: Bool = true
    ) -> TerminalTraits {
        TerminalTraits(
            progress: progress, color: color, taskbar: taskbar, isTerminal: isTerminal,
            environment: Self.xterm.merging(more) { $1 })
    }

    @Test func `is live on a capable terminal and plain elsewhere`() {
        #expect(traits([:]).progress == .live)
        #expect(traits([:], isTerminal: false).progress == .plain)
        #expect(traits(["TERM": "dumb"]).progress == .plain)
        #expect(traits(["TERM": ""]).progress == .plain)
        #expect(traits(["CI": "true"]).progress == .plain)
        #expect(traits(["CI": "false"]).progress == .live)
        #expect(traits(["NO_COLOR": "1"]).progress == .live)
        #expect(traits(["ACCESSIBLE": "1"]).progress == .plain)
        #expect(traits(["ACCESSIBLE": "0"]).progress == .live)
    }

    @Test func `has ten frames a second, and two over ssh`() {
        #expect(traits([:]).frame == .milliseconds(100))
        #expect(traits(["SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"]).frame == .milliseconds(500))
        #expect(traits(["SSH_TTY": "/dev/pts/3"]).frame == .milliseconds(500))
        #expect(traits(["SSH_CONNECTION": ""]).frame == .milliseconds(100))
    }

    @Test func `is what was asked, but no frames go into a file`() {
        #expect(traits(["CI": "true"], progress: .live).progress == .live)
        #expect(traits([:], progress: .live, isTerminal: false).progress == .plain)
        #expect(traits(["TERM": "dumb"], progress: .live).progress == .plain)
        for wish in [TerminalTraits.Progress.plain, .json, .quiet] {
            #expect(traits([:], progress: wish).progress == wish)
        }
    }

    @Test func `has colour by the flag, then NO_COLOR, then the forcing ones, then CLICOLOR`() {
        #expect(traits([:]).usesColor)
        #expect(!traits([:], isTerminal: false).usesColor)
        #expect(traits(["NO_COLOR": "1"], color: .always).usesColor)
        #expect(!traits(["CLICOLOR_FORCE": "1"], color: .never).usesColor)
        #expect(!traits(["NO_COLOR": "1", "CLICOLOR_FORCE": "1"]).usesColor)
        #expect(traits(["NO_COLOR": ""]).usesColor)
        #expect(traits(["CLICOLOR_FORCE": "1", "CLICOLOR": "0"], isTerminal: false).usesColor)
        #expect(traits(["FORCE_COLOR": "1"], isTerminal: false).usesColor)
        #expect(!traits(["FORCE_COLOR": "0"], isTerminal: false).usesColor)
        #expect(!traits(["CLICOLOR": "0"]).usesColor)
        #expect(!traits(["TERM": "dumb"]).usesColor)
    }

    @Test func `takes UTF-8 by the first locale variable that is set`() {
        #expect(traits([:]).isUTF8)
        #expect(!traits(["LC_ALL": "C"]).isUTF8)
        #expect(traits(["LC_ALL": "", "LC_CTYPE": "de_DE.utf8", "LANG": "C"]).isUTF8)
        #expect(!traits(["TERM": "linux"]).hasGlyphs)
        #expect(traits(["TERM": "linux"]).isUTF8)
    }

    @Test(arguments: [
        (["WT_SESSION": "x"], true), (["ConEmuANSI": "ON"], true), (["ConEmuANSI": "OFF"], false),
        (["TERM_PROGRAM": "ghostty"], true), (["TERM_PROGRAM": "Apple_Terminal"], false),
        (["PTYXIS_VERSION": "48.1"], true), (["PTYXIS_VERSION": "47.9"], false),
        (["VTE_VERSION": "8003"], true),
        (["VTE_VERSION": "7800"], false), (["KONSOLE_VERSION": "260400"], true),
        (["KONSOLE_VERSION": "251200"], false), (["TERM_FEATURES": "T3CwLrMSc7UPw9Ts3B"], false),
        (["TERM_FEATURES": "T3CwLrMSc7UPTs3B"], true), ([:], false),
        (["TMUX": "x", "VTE_VERSION": "8003"], false), (["STY": "x", "WT_SESSION": "x"], false),
        (["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.7"], true),
        (["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"], false),
    ])
    func `includes the task bar only where it is known to be drawn`(
        environment: [String: String], shows: Bool
    ) {
        #expect(traits(environment).showsTaskbar == shows)
        #expect(!traits(environment, isTerminal: false).showsTaskbar)
        #expect(!traits(environment, taskbar: .never).showsTaskbar)
        #expect(traits(environment, taskbar: .always).showsTaskbar)
    }

    @Test func `treats a terminal without a size as 80 by 24`() {
        #expect(TerminalSize(columns: 0, rows: 0) == TerminalSize(columns: 80, rows: 24))
    }
}
