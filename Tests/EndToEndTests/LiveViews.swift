import Foundation
import TestSupport
import Testing

/// Drives live views on a real terminal; see `Tests/Support/pty-driver.py`.
///
/// Issue 10, 22.
@Suite(.timeLimit(.minutes(5))) struct `a live view on a terminal` {
    /// A daemon with a run that does not end, shown by the view.
    private func play(
        _ steps: String, _ words: String = "watch", isIdle: Bool = false
    ) async throws -> JSON {
        let belfry = try await Belfry.start("jobs: { long: { schedule: manual, shell: 'sleep 1000' } }")
        if words.hasPrefix("watch"), !isIdle { try await belfry.run("run", "long") }
        try belfry.write(steps, to: "steps")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 \
            '\(try PythonTools.interpreter())' '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" belfry \(words)
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil, "\(seen["failed"] ?? .null): \(seen["text"].text ?? "")")
        return seen
    }

    @Test func `echoes no keys into its rows, and ends at q with the terminal as it was`() async throws {
        let seen = try await play(#"[["wait","long#1"],["raw",true],["type","ZZZZ\r\rZZ"],["type","q"]]"#)
        #expect(seen["code"].number == 0)
        #expect(seen["text"].text?.contains("Z") == false)
        #expect(seen["canonical"] == .bool(true) && seen["echo"] == .bool(true))
    }

    @Test func `shows that no run is active, until one is`() async throws {
        let seen = try await play(
            #"[["wait","No run is active"],["wait","q quit"],["run","belfry run long"],["wait","long#1"],["type","q"]]"#,
            isIdle: true)
        #expect(seen["code"].number == 0)
        // The first row is drawn where the line was.
        let text = try #require(seen["text"].text)
        let idle = try #require(text.range(of: "No run is active"))
        let row = try #require(text[idle.upperBound...].range(of: "\u{1B}[1;1H  "))
        let end = text[row.upperBound...].range(of: "\u{1B}[K")?.lowerBound ?? text.endIndex
        #expect(text[row.upperBound..<end].contains("long#1"), "\(text)")
    }

    @Test(arguments: [("\\u0003", 130), ("\\u001c", -3)])
    func `gives the terminal back at a signal`(key: String, code: Double) async throws {
        let steps = #"[["wait","long#1"],["raw",true],["type","KEY"]]"#
        let seen = try await play(steps.replacing("KEY", with: key))
        #expect(seen["code"].number == code)
        #expect(seen["text"].text?.contains("^") == false)
        #expect(seen["canonical"] == .bool(true) && seen["echo"] == .bool(true))
    }

    @Test(arguments: [2, 15, 1], ["watch --osc always", "run long --follow --osc always"])
    func `takes its progress away from the terminal's tab at a signal`(
        signal: Int, words: String
    ) async throws {
        let steps = #"[["wait","\u001b]9;4;3\u001b\\"],["signal",NUMBER]]"#
        let seen = try await play(steps.replacing("NUMBER", with: "\(signal)"), words)
        #expect(seen["code"].number == 128 + Double(signal))
        let text = try #require(seen["text"].text)
        let shown = try #require(text.ranges(of: "\u{1B}]9;4;3\u{1B}\\").last)
        #expect(text[shown.upperBound...].contains("\u{1B}]9;4;0\u{1B}\\"), "\(text)")
    }

    @Test func `gives the terminal back while it is stopped, and takes it again`() async throws {
        let seen = try await play(
            #"""
            [["wait","long#1"],["raw",true],["type","\u001a"],["raw",false],["stopped"],["raw",true],
            ["wait","long#1"],["type","q"]]
            """#)
        #expect(seen["code"].number == 0 && seen["canonical"] == .bool(true))
    }

    @Test func `of one run reads no keys, and is left by Ctrl-C with how to come back`() async throws {
        let seen = try await play(
            #"[["wait","long#1"],["type","q\r"],["type","\u0003"]]"#, "run long --follow")
        #expect(seen["code"].number == 130 && seen["canonical"] == .bool(true))
        #expect(seen["text"].text?.contains("long#1 is still active. Follow it: belfry watch long#1") == true)
    }
}
