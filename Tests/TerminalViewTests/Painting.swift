import TestSupport
import Testing
import Tracking

@testable import TerminalView

@Suite struct `a painter` {
    private func frame(_ names: [String], size: TerminalSize) -> Frame {
        Frame(names.map { row(live($0)) }, size: size, traits: plainColors)
    }

    @Test func `shows the cursor again within the buffer that hides it`() {
        var painter = TerminalPainter(plainColors)
        let size = TerminalSize(columns: 80, rows: 24)
        let bytes = painter.paint(frame(["a"], size: size), size: size)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("\u{1B}[?25l\u{1B}[?2026h"))
        #expect(text.hasSuffix("\u{1B}[?2026l\u{1B}[?25h"))
    }

    @Test func `writes nothing when nothing changed, and one row when one did`() {
        var painter = TerminalPainter(plainColors)
        let size = TerminalSize(columns: 80, rows: 24)
        _ = painter.paint(frame(["a", "b", "c"], size: size), size: size)
        let same = painter.paint(frame(["a", "b", "c"], size: size), size: size)
        #expect(same.isEmpty)
        let one = String(
            decoding: painter.paint(frame(["a", "x", "c"], size: size), size: size), as: UTF8.self)
        #expect(one.contains("● x"))
        #expect(!one.contains("● a") && !one.contains("● c"))
        #expect(one.utf8.count < 200)
    }

    @Test func `leaves permanent lines above the frame, in order`() {
        var painter = TerminalPainter(plainColors)
        var screen = Screen(columns: 80, rows: 24)
        var done = FrameLine(plainColors)
        done.add("b is done")
        screen.write(painter.paint(frame(["a", "b"], size: screen.size), size: screen.size))
        screen.write(painter.paint(frame(["a"], size: screen.size), after: [done], size: screen.size))
        #expect(screen.text.first == "b is done")
        #expect(screen.text.last?.hasPrefix("● a") == true)
        screen.write(painter.erase(leaving: [done], size: screen.size))
        #expect(screen.text == ["b is done", "b is done"])
        let again = painter.erase(size: screen.size)
        #expect(again.isEmpty)
    }

    @Test func `leaves one frame when the terminal rewraps the old one`() {
        for (from, to) in [(100, 60), (100, 33), (60, 100), (80, 20), (20, 80)] {
            var painter = TerminalPainter(plainColors)
            var screen = Screen(columns: from, rows: 40)
            let names = ["first-of-many#1", "second#2", "third#3"]
            screen.write(painter.paint(frame(names, size: screen.size), size: screen.size))
            screen = screen.resized(columns: to, rows: 40)
            let next = frame(names, size: screen.size)
            screen.write(painter.paint(next, size: screen.size))
            #expect(screen.text == next.lines.map { text($0) }, "from \(from) to \(to)")
        }
    }

    @Test func `shows exactly the last frame after any sequence of frames, lines and sizes`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var painter = TerminalPainter(plainColors)
            var screen = Screen(columns: 80, rows: 60)
            var permanent: [String] = []
            for step in 0..<40 {
                if Int.random(in: 0..<6, using: &generator) == 0 {
                    screen = screen.resized(columns: .random(in: 20...120, using: &generator), rows: 60)
                    permanent = screen.text.dropLast(painter.height(at: screen.size)).map { $0 }
                }
                let names = (0..<Int.random(in: 0...5, using: &generator)).map {
                    "job-\($0)-\(Int.random(in: 0...3, using: &generator))"
                }
                var lines: [FrameLine] = []
                if Int.random(in: 0..<8, using: &generator) == 0 {
                    var line = FrameLine(plainColors)
                    line.add("done \(step)")
                    lines = [line]
                }
                let next = frame(names, size: screen.size)
                screen.write(painter.paint(next, after: lines, size: screen.size))
                permanent += lines.map { text($0) }
                #expect(screen.text == permanent + next.lines.map { text($0) }, "seed \(seed)")
                #expect(
                    screen.isCursorShown && !screen.isSynchronized && screen.unknown.isEmpty, "seed \(seed)")
                #expect(!screen.touchedLastColumn && screen.column == 0, "seed \(seed)")
            }
        }
    }

    @Test func `counts one row each on a terminal that cuts old rows`() {
        let cuts = TerminalTraits(
            color: .never, isTerminal: true,
            environment: ["TERM": "xterm", "XTERM_VERSION": "XTerm(379)", "LANG": "C.UTF-8"])
        var painter = TerminalPainter(cuts)
        let wide = TerminalSize(columns: 100, rows: 24)
        _ = painter.paint(frame(["a", "b"], size: wide), size: wide)
        let narrow = TerminalSize(columns: 40, rows: 24)
        let bytes = painter.paint(frame(["a", "b"], size: narrow), size: narrow)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\r\u{1B}[2A\u{1B}[J"))
    }
}

@Suite struct `a painter of a whole screen` {
    private func frame(_ lines: [String]) -> Frame {
        var frame = Frame([], size: TerminalSize(columns: 200, rows: 200), traits: plainColors)
        frame.lines = lines.map { text in
            var line = FrameLine(plainColors)
            line.add(text)
            return line
        }
        return frame
    }

    @Test func `writes nothing when nothing changed, and one row when one did`() {
        var painter = ScreenPainter()
        let size = TerminalSize(columns: 80, rows: 24)
        _ = painter.paint(frame(["a", "b", "c"]), size: size)
        let same = painter.paint(frame(["a", "b", "c"]), size: size)
        #expect(same.isEmpty)
        let one = String(decoding: painter.paint(frame(["a", "x", "c"]), size: size), as: UTF8.self)
        #expect(
            one == "\u{1B}[?25l\u{1B}[?2026h\u{1B}[2;1Hx\u{1B}[K\u{1B}[3;2H\u{1B}[?2026l\u{1B}[?25h")
        painter.forget()
        let all = String(decoding: painter.paint(frame(["a"]), size: size), as: UTF8.self)
        #expect(all.contains("\u{1B}[H\u{1B}[J\u{1B}[1;1Ha"))
    }

    @Test func `shows exactly the last frame after any sequence of frames and sizes`() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var painter = ScreenPainter()
            var screen = Screen(columns: 80, rows: 24)
            for _ in 0..<40 {
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    // There and back, too, which a painter can't see by the size.
                    for _ in 0..<Int.random(in: 1...3, using: &generator) {
                        screen = screen.cropped(
                            columns: .random(in: 2...120, using: &generator),
                            rows: .random(in: 1...40, using: &generator))
                    }
                    painter.forget()
                }
                let lines = (0..<Int.random(in: 1...screen.size.rows, using: &generator)).map { _ in
                    String(
                        repeating: ["a", "b", "日"].randomElement(using: &generator) ?? "a",
                        count: Int.random(in: 0...(screen.size.columns - 1) / 2, using: &generator))
                }
                screen.write(painter.paint(frame(lines), size: screen.size))
                let shown = lines.reversed().drop { $0.isEmpty }.reversed().map { $0 }
                #expect(screen.text == shown, "seed \(seed)")
                #expect(
                    screen.isCursorShown && !screen.isSynchronized && screen.unknown.isEmpty, "seed \(seed)")
                #expect(!screen.touchedLastColumn && screen.lines.count <= screen.size.rows, "seed \(seed)")
            }
        }
    }
}

@Suite struct `the bar in the tab` {
    private func said(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `is sent when its percent or state changes, and again every 10 s`() {
        var bar = TaskbarProgress()
        func update(_ runs: [LiveState], _ second: Double) -> String {
            said(bar.update(runs, at: at(second)))
        }
        #expect(update([], 0) == "")
        #expect(update([live("a")], 0) == "\u{1B}]9;4;3\u{1B}\\")
        #expect(update([live("a", progress: 0.421)], 1) == "\u{1B}]9;4;1;42\u{1B}\\")
        #expect(update([live("a", progress: 0.429)], 2) == "")
        #expect(update([live("a", progress: 0.429)], 10.9) == "")
        #expect(update([live("a", progress: 0.429)], 11) == "\u{1B}]9;4;1;42\u{1B}\\")
        #expect(
            update([live("a", progress: 0.2), live("b", progress: 0.4), live("c")], 12)
                == "\u{1B}]9;4;1;30\u{1B}\\")
        #expect(update([live("a", progress: 0.2), live("b", .blocked)], 13) == "\u{1B}]9;4;4;20\u{1B}\\")
        #expect(update([live("a", .completed, progress: 1)], 14) == said(TaskbarProgress.clear))
        #expect(update([], 40) == "")
    }

    @Test func `ends in ST and never in BEL`() {
        var bar = TaskbarProgress()
        let runs = RunState.allCases.map { live("a", $0, progress: 0.5) }
        for (index, run) in runs.enumerated() {
            let bytes = bar.update([run], at: at(Double(index)))
            #expect(bytes.isEmpty || bytes.suffix(2) == [0x1B, 0x5C])
            #expect(!bytes.contains(0x07))
        }
        #expect(TaskbarProgress.clear.suffix(2) == [0x1B, 0x5C])
    }
}

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
