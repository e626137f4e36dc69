import Testing

@testable import TerminalView

@Suite struct `a notice of the terminal itself` {
    private func text(_ notice: TerminalNotice, _ title: String, _ body: String) -> String {
        String(decoding: notice.bytes(title: title, body: body), as: UTF8.self)
    }

    @Test func `is written as each terminal reads it`() {
        #expect(text(.osc9, "make is done", "in 2 min") == "\u{1B}]9;make is done: in 2 min\u{1B}\\")
        #expect(
            text(.osc99, "make", "done")
                == "\u{1B}]99;i=belfry:d=0;make\u{1B}\\\u{1B}]99;i=belfry:p=body;done\u{1B}\\")
        #expect(text(.osc777, "a;b", "c;d") == "\u{1B}]777;notify;a,b;c;d\u{1B}\\")
        #expect(text(.bell, "make", "done") == "\u{07}")
    }

    @Test func `is wrapped for the terminal behind tmux, but for the bell`() {
        func wrapped(_ notice: TerminalNotice) -> String {
            String(decoding: notice.bytes(title: "make", body: "done", throughTmux: true), as: UTF8.self)
        }
        #expect(wrapped(.osc9) == "\u{1B}Ptmux;\u{1B}\u{1B}]9;make: done\u{1B}\u{1B}\\\u{1B}\\")
        #expect(wrapped(.bell) == "\u{07}")
    }

    @Test func `is of what a person who watches wants to know`() {
        #expect(TerminalNotice.words(for: "run.failed") == "failed")
        #expect(TerminalNotice.words(for: "question.asked") == "asks a question")
        for type in [
            "run.started", "run.completed", "run.progress", "message.posted", "question.answered", "",
        ] {
            #expect(TerminalNotice.words(for: type) == nil)
        }
    }

    @Test(arguments: TerminalNotice.allCases)
    func `can't be ended by what it says`(notice: TerminalNotice) {
        let hostile = text(notice, "x\u{1B}]0;title\u{07}y\n", "z\u{9C}\u{1B}\\[2J")
        let sequences = notice == .osc99 ? 2 : notice == .bell ? 0 : 1
        #expect(hostile.unicodeScalars.filter { $0 == "\u{1B}" }.count == sequences * 2, "\(hostile)")
        #expect(!hostile.unicodeScalars.contains("\u{9C}") && !hostile.contains("\n"))
        #expect(hostile.unicodeScalars.filter { $0 == "\u{07}" }.count == (notice == .bell ? 1 : 0))
    }

    @Test(arguments: [
        (["TERM": "xterm-kitty"], TerminalNotice.osc99), (["KITTY_WINDOW_ID": "1"], .osc99),
        (["TERM": "foot"], .osc777), (["TERM": "xterm-256color", "VTE_VERSION": "7600"], .osc777),
        (["TERM_PROGRAM": "ghostty"], .osc9), (["WT_SESSION": "x"], .osc9),
        (["TERM": "xterm-kitty", "TMUX": "/tmp/x"], .bell), (["TERM": "screen-256color"], .bell),
        (["TERM": "linux"], .bell), ([:], .bell),
    ])
    func `is the one that the terminal understands, or else the bell`(
        environment: [String: String], expected: TerminalNotice
    ) {
        #expect(TerminalNotice(environment: environment) == expected)
    }
}
