import TerminalView
import Testing

@Suite struct `keys of a terminal` {
    private func keys(_ text: String) -> [Key] {
        var reader = KeyReader()
        return reader.receive(Array(text.utf8))
    }

    @Test(
        arguments: [
            ("ab", [.text("ab")]), ("a\r", [.text("a"), .enter]),
            ("\u{3}\u{4}\u{1A}", [.interrupt, .endOfInput, .suspend]),
            ("\u{1B}[A\u{1B}OB\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
            ("\u{1B}[3~\u{7F}\u{1B}[1;5C\u{1B}b", [.delete, .backspace, .wordRight, .wordLeft]),
            ("\u{1B}[200~one\r\ntwo\u{7}\tx\u{1B}[201~y", [.text("one\ntwo x"), .text("y")]),
            ("grüße 👩‍🚀", [.text("grüße 👩‍🚀")]), ("\u{1B}[99;9Xz", [.text("z")]),
        ] as [(String, [Key])])
    func `are the same however the bytes are cut`(_ text: String, _ expected: [Key]) {
        #expect(keys(text) == expected)
        for cut in text.utf8.indices {
            var reader = KeyReader()
            let found = reader.receive(Array(text.utf8[..<cut])) + reader.receive(Array(text.utf8[cut...]))
            #expect(joined(found) == joined(expected))
        }
    }

    @Test(arguments: ["\u{1B}", "\u{1B}[", "\u{1B}O"])
    func `after an Escape that nothing followed are read as they are`(_ begun: String) {
        var reader = KeyReader()
        #expect(reader.receive(Array(begun.utf8)).isEmpty)
        reader.endSequence()
        #expect(reader.receive(Array("ship it\r".utf8)) == [.text("ship it"), .enter])
    }

    @Test func `of a paste that takes long are kept`() {
        var reader = KeyReader()
        #expect(reader.receive(Array("\u{1B}[200~one\u{1B}".utf8)).isEmpty)
        reader.endSequence()
        #expect(reader.receive(Array("[201~".utf8)) == [.text("one")])
    }

    /// Text that was typed in two pieces is one.
    private func joined(_ keys: [Key]) -> [Key] {
        keys.reduce(into: []) { all, key in
            if case .text(let more) = key, case .text(let text)? = all.last {
                all[all.count - 1] = .text(text + more)
            } else {
                all.append(key)
            }
        }
    }
}

@Suite struct `a line that is edited` {
    private func editor(_ keys: Key...) -> LineEditor {
        var editor = LineEditor()
        for key in keys { _ = editor.receive(key) }
        return editor
    }

    @Test func `takes characters as people see them`() {
        #expect(editor(.text("a👩‍🚀e"), .text("\u{301}"), .backspace, .backspace).text == "a")
        #expect(editor(.text("ac"), .left, .text("b")).text == "abc")
        #expect(editor(.text("one two "), .cutWord).text == "one ")
        #expect(editor(.text("one two"), .wordLeft, .cutToStart).text == "two")
        #expect(editor(.text("one two"), .home, .wordRight, .cutToEnd).text == "one")
        #expect(editor(.text("ab"), .home, .delete, .end, .delete).text == "b")
    }

    @Test func `comes back from the history, and the new one with it`() {
        var editor = editor(.text("first"), .enter, .text("second"), .enter, .enter, .text("dra"))
        var seen: [String] = []
        for key in [Key.up, .up, .up, .down, .down, .down] {
            _ = editor.receive(key)
            seen.append(editor.text)
        }
        #expect(seen == ["second", "first", "first", "second", "dra", "dra"])
    }

    @Test func `is left by Ctrl-D only when it is empty, and emptied by Ctrl-C`() {
        var editor = editor(.text("a"))
        #expect(editor.receive(.endOfInput) == .edited)
        #expect(editor.receive(.interrupt) == .interrupted(wasEmpty: false))
        #expect(editor.text.isEmpty)
        #expect(editor.receive(.interrupt) == .interrupted(wasEmpty: true))
        #expect(editor.receive(.endOfInput) == .ended)
    }

    @Test func `shows the part around the cursor, wide characters whole`() {
        let line = editor(.text("0123456789"))
        #expect(line.window(cells: 5) == .init(text: "6789", cursor: 4))
        #expect(line.window(cells: 40) == .init(text: "0123456789", cursor: 10))
        #expect(editor(.text("0123456789"), .home).window(cells: 5) == .init(text: "0123", cursor: 0))
        #expect(editor(.text("漢字漢字")).window(cells: 6) == .init(text: "漢字", cursor: 4))
        #expect(editor(.text("a\nb")).window(cells: 9) == .init(text: "a⏎b", cursor: 3))
    }
}

@Suite struct `text that comes in pieces` {
    private func rows(_ pieces: [String], columns: Int) -> [String] {
        var flow = FlowingText()
        return pieces.flatMap { flow.receive($0, columns: columns) } + flow.finish()
    }

    @Test(
        arguments: [
            ("one two three", ["one two", "three"]), ("a\n\nb", ["a", "", "b"]),
            ("abcdefghij", ["abcdefgh", "ij"]),
            ("漢字漢字漢 字", ["漢字漢字", "漢 字"]), ("  a", ["  a"]), ("", []), ("12345678", ["12345678"]),
        ] as [(String, [String])])
    func `has the same rows however it is cut`(_ text: String, _ expected: [String]) {
        #expect(rows([text], columns: 8) == expected)
        #expect(rows(text.map(String.init), columns: 8) == expected)
    }
}
