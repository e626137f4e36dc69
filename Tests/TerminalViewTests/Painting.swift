import TestSupport
import Testing
import Timeline
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
