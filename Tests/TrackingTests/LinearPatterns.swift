import TestSupport
import Testing

@testable import Tracking

@Suite struct `a pattern` {
    private func found(_ pattern: String, _ text: String, ignoresCase: Bool = false) throws -> Bool {
        try LinearPattern(pattern, ignoresCase: ignoresCase).isFound(in: text)
    }

    @Test(arguments: [
        ("abc", "xxabcxx", true), ("abc", "abx", false), ("a.c", "a\nc", false), ("", "", true),
        ("^done$", "one\ndone\ntwo", true), ("^done$", "undone", false), ("end$", "the end\r\n", true),
        ("a|b|cd", "xcd", true), ("(ab)+c", "ababc", true), ("(?:ab)*c", "c", true),
        ("colou?r", "color", true),
        ("a{2,3}b", "ab", false), ("a{2,3}b", "aaaab", true), ("^a{2}$", "aaa", false),
        ("a{2,}", "aaaa", true),
        ("[a-c_]+\\d", "xb_7", true), ("[^a-z]", "abc", false), ("[]x]", "]", true), ("[a-]", "-", true),
        ("\\bok\\b", "it is ok.", true), ("\\bok\\b", "token", false), ("\\Bok", "token", true),
        ("\\D\\W\\S", "a-b", true), ("\\$5\\.00", "costs $5.00", true), ("[\\d.]+ MB", "12.5 MB", true),
        ("日本+", "日本本", true), ("(a|)(b|)c", "c", true), ("(a*)*b", "aaab", true),
    ])
    func `is found where it stands`(pattern: String, text: String, isFound: Bool) throws {
        #expect(try found(pattern, text) == isFound)
    }

    @Test func `is found in either case where it is to be`() throws {
        #expect(try found("done [A-C]", "DONE b", ignoresCase: true))
        #expect(try found("ÄRGER", "ärger", ignoresCase: true))
        #expect(try !found("done", "DONE"))
    }

    @Test(arguments: [
        ("a(b", "a ( without a )", 1..<2), ("ab)", "a ) without a (", 2..<3),
        ("*a", "nothing to repeat before *", 0..<1),
        ("x[ab", "a [ without a ]", 1..<2), ("é\\q", "\\q is not known", 2..<4),
        ("a{3,1}", "a count is written as", 1..<6),
        ("a{101}", "a count is at most 100", 1..<6), ("a+?", "lazy and double repetitions", 2..<3),
        ("(?=a)", "only (?: ) groups are known", 0..<2), ("[z-a]", "a range that goes down", 0..<4),
        ("a\\", "nothing behind the \\", 1..<2), ("^*", "a place can't be repeated", 0..<2),
        ("((a{100}){100}){100}", "the expression is too large", 0..<20),
    ])
    func `is refused at its fault`(pattern: String, message: String, bytes: Range<Int>) {
        let fault = #expect(throws: LinearPattern.Fault.self) { try LinearPattern(pattern) }
        #expect(
            fault?.message.hasPrefix(message) == true && fault?.bytes == bytes, "\(String(describing: fault))"
        )
    }

    @Test func `is not slowed down by a text that makes others take for ever`() throws {
        // Each doubles the time of a search that goes back with every character.
        let text = String(repeating: "a", count: 20_000)
        #expect(try !found("(a+)+b", text))
        #expect(try !found("(a|a)*c", text))
        #expect(try !found("(.*)(.*)(.*)x", text))
    }

    @Test func `is refused, or found, also where whoever wrote it means harm`() throws {
        // Each was followed by itself, and by nothing a hundred times within a hundred times.
        #expect(throws: LinearPattern.Fault.self) {
            try LinearPattern(String(repeating: "|", count: 200_000))
        }
        #expect(try found("(((((((((){100}){100}){100}){100}){100}){100}){100}){100}){100}b", "ab"))
        #expect(try found("(((((x{0}){100}){100}){100}){100}){100}b", "ab"))
        // Every second character: none is next to another.
        var apart = String.UnicodeScalarView()
        for value in stride(from: UInt32(0x4E00), to: 0xD000, by: 2) {
            if let scalar = Unicode.Scalar(value) { apart.append(scalar) }
        }
        let many = String(repeating: "[\(String(apart))]?", count: 200) + "!"
        #expect(try !found(many, String(repeating: "\u{4E02}", count: 500)))
        #expect(try found("^[\(String(apart))]$", "\u{4E02}"))
        #expect(try !found("^[\(String(apart))]$", "\u{4E03}"))
    }

    @Test(arguments: [
        ("^[ca-bb]+$", "abc", true), ("^[z0-9a-f5-7]+$", "z7f", true), ("^[z0-9a-f5-7]+$", "g", false),
        ("^[^za-f\\d]+$", "gh", true), ("^[^za-f\\d]+$", "g0", false), ("^[\\D5]$", "5", true),
        ("^[\\D5]$", "6", false), ("^[\\S\\s]$", "\n", true),
    ])
    func `has classes whose parts stand in any order`(pattern: String, text: String, isFound: Bool) throws {
        #expect(try found(pattern, text) == isFound)
    }

    @Test func `finds what Swift's own expressions find`() throws {
        var random = SeededGenerator(seed: 20_261_123)
        let atoms = ["a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab|b)", "\\b", "^", "$"]
        var compared = 0
        for _ in 0..<1500 {
            var pattern = ""
            for _ in 0..<(1 + random.below(4)) {
                let atom = atoms[random.below(atoms.count)]
                let repeats = ["\\b", "^", "$"].contains(atom) ? [""] : ["", "*", "+", "?", "{1,2}"]
                pattern += atom + repeats[random.below(repeats.count)]
            }
            let text = String((0..<random.below(7)).map { _ in ["a", "b", " ", "\n"][random.below(4)] })
            let regex = try Regex(pattern).anchorsMatchLineEndings().wordBoundaryKind(.simple)
            let expected = text.firstMatch(of: regex) != nil
            #expect(try found(pattern, text) == expected, "\(pattern) in \(text.debugDescription)")
            compared += 1
        }
        #expect(compared == 1500)
    }

    @Test func `of a job is a text as it stands, or between slashes a pattern`() throws {
        #expect(try TextRule("3 of 3").holds(in: "done: 3 of 3 files"))
        #expect(try !TextRule("a.c").holds(in: "abc"))
        #expect(try TextRule("aab").holds(in: "aaab") && !TextRule("aab").holds(in: "aaa"))
        #expect(try TextRule("/a.c/").holds(in: "abc") && TextRule("/A.C/i").holds(in: "xabc"))
        #expect(try TextRule("/usr/bin").holds(in: "in /usr/bin"))
        #expect(try TextRule("//").holds(in: "a//b"))
        let fault = #expect(throws: LinearPattern.Fault.self) { try TextRule("/a(b/") }
        #expect(fault?.bytes == 2..<3)
    }
}
