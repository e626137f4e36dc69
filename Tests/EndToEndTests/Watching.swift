import Foundation
import TestSupport
import Testing

/// `belfry watch` on a real terminal, with keys; see `Tests/Support/pty-driver.py`.
@Suite(.timeLimit(.minutes(5))) struct `watch on a terminal` {
    private func play(
        _ steps: String, _ command: String = "belfry watch", in belfry: Belfry
    ) async throws -> JSON {
        try belfry.write(steps, to: "steps")
        try belfry.write(command, to: "command")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 '\(try PythonTools.interpreter())' \
            '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" sh -c "$(cat command)"
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil, "\(seen["failed"] ?? .null): \(seen["text"].text ?? "")")
        return seen
    }

    @Test func `cancels a run, repeats it and is left, all by keys`() async throws {
        let belfry = try await Belfry.start("jobs: { long: { schedule: manual, shell: 'sleep 1000' } }")
        try await belfry.run("run", "long")
        let seen = try await play(
            #"""
            [["wait","long#1"],["type","c"],["wait","Cancel long#1? y/n"],["type","y"],
            ["wait","long#1  canceled"],["type","r"],["wait","long#1 is repeated as long#2"],["type","q"]]
            """#, in: belfry)
        #expect(seen["code"].number == 0 && seen["canonical"] == .bool(true) && seen["echo"] == .bool(true))
        let runs = try await belfry.json("runs").list
        #expect(runs.map { $0["name"].text } == ["long#2", "long#1"])
        #expect(runs.last?["state"].text == "canceled")
        // With the time of day at which it ended.
        #expect(seen["text"].text?.firstMatch(of: /\d\d:\d\d\S*  long#1  canceled/) != nil)
    }

    @Test func `shows the log of a run, and finds a word in it`() async throws {
        let belfry = try await Belfry.start(
            "jobs: { talker: { schedule: manual, shell: 'seq -f item-%g 100; sleep 1000' } }")
        try await belfry.run("run", "talker")
        let seen = try await play(
            #"""
            [["wait","talker#1"],["type","\r"],["wait","item-100"],["type","/item-13\r"],["wait","item-13"],
            ["type","qq"]]
            """#, in: belfry)
        #expect(seen["code"].number == 0)
    }

    @Test func `adds what a run prints to the log that is shown`() async throws {
        let belfry = try await Belfry.start(
            #"""
            jobs:
              talker: { schedule: manual, shell: 'echo first; until [ -e ~/go ]; do :; done; echo second' }
            """#)
        try await belfry.run("run", "talker")
        let seen = try await play(
            #"""
            [["wait","talker#1"],["type","\r"],["wait","first"],["run","touch ~/go"],["wait","second"],
            ["type","qq"]]
            """#, in: belfry)
        #expect(seen["code"].number == 0)
    }

    @Test(arguments: [
        ("osc9", #"\u001b]9;{name}: {words}\u001b\\"#),
        ("osc777", #"\u001b]777;notify;{name};{words}\u001b\\"#),
        (
            "osc99",
            #"\u001b]99;i=belfry:d=0;{name}\u001b\\\u001b]99;i=belfry:p=body;{words}\u001b\\"#
        ),
    ])
    func `has the terminal itself notify of failures and questions`(way: String, form: String) async throws {
        let belfry = try await Belfry.start("jobs: { bad: { schedule: manual, shell: 'exit 3' } }")
        func notice(_ name: String, _ words: String) -> String {
            form.replacing("{name}", with: name).replacing("{words}", with: words)
        }
        let seen = try await play(
            """
            [["wait","No run is active"],["run","belfry run bad"],["wait","\(notice("bad#1", "failed"))"],
            ["run","belfry confirm 'Ship it?' --bot ops >answer 2>&1 &"],
            ["wait","\(notice("ops", "asks a question"))"],["type","q"]]
            """, "exec env -u TMUX belfry watch --notify \(way)", in: belfry)
        #expect(seen["code"].number == 0)
    }

    @Test func `puts a question on top, and answers it`() async throws {
        let belfry = try await Belfry.start()
        let seen = try await play(
            #"""
            [["wait","No run is active"],["run","belfry confirm 'Ship it?' --bot ops >answer 2>&1 &"],
            ["wait","ops asks: Ship it?"],["type","a"],["wait","answer yes/no"],["type","yes\r"],
            ["wait","Answered: yes"],["type","q"]]
            """#, in: belfry)
        #expect(seen["code"].number == 0)
        let asked = try await belfry.json("questions", "--all").list
        #expect(asked.first?["answer"].text == "yes")
    }

    @Test func `shows what runs next, and pauses it`() async throws {
        let belfry = try await Belfry.start(
            "jobs: { backup: { schedule: { every: 12h }, command: ['true'] } }")
        let seen = try await play(
            #"[["wait","next: backup"],["type","j"],["type","p"],["wait","backup is paused"],["type","q"]]"#,
            in: belfry)
        #expect(seen["code"].number == 0)
        #expect(try await belfry.json("job", "show", "backup")["paused"] != .null)
    }

    @Test func `leaves the terminal as it was, also when it is killed`() async throws {
        let belfry = try await Belfry.start("jobs: { long: { schedule: manual, shell: 'sleep 1000' } }")
        try await belfry.run("run", "long")
        // The shell has no settings of its own for the terminal, so that all is left to the guard.
        let seen = try await play(
            #"""
            [["wait","long#1"],["raw",true],["run","kill -9 $(cat pid)"],["raw",false],["wait","same"]]
            """#,
            """
            stty -a >before; sh -c 'echo $$ >pid; exec belfry watch --osc always'
            until stty -a | cmp -s - before; do :; done; echo same
            """, in: belfry)
        #expect(seen["code"].number == 0)
        let text = try #require(seen["text"].text)
        let shown = try #require(text.ranges(of: "\u{1B}[?25h").last?.lowerBound)
        let hidden = try #require(text.ranges(of: "\u{1B}[?25l").last?.lowerBound)
        #expect(shown > hidden, "the cursor is visible")
        let entered = try #require(text.ranges(of: "\u{1B}[?1049h").last?.lowerBound)
        let left = try #require(text.ranges(of: "\u{1B}[?1049l").last?.lowerBound)
        #expect(left > entered, "the screen of the shell is shown")
        #expect(text[left...].contains("\u{1B}]9;4;0\u{1B}\\"), "the tab shows no progress")
    }
}
