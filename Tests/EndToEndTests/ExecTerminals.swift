import Foundation
import TestSupport
import Testing

/// Drives `belfry exec` on a real terminal; see `Tests/Support/pty-driver.py`.
@Suite(.timeLimit(.minutes(5))) struct `belfry exec on a terminal` {
    /// Plays `steps` against `belfry exec` and these words; what the driver saw.
    private func play(_ belfry: Belfry, _ steps: String, _ words: String) async throws -> JSON {
        try belfry.write(steps, to: "steps")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 \
            '\(try PythonTools.interpreter())' '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" \
            belfry exec \(words)
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil, "\(seen["failed"] ?? .null): \(seen["text"].text ?? "")")
        return seen
    }

    @Test(arguments: Company.allCases)
    func `gives the command one of the same size, and forwards a new size`(company: Company) async throws {
        let belfry = try await company.home()
        let seen = try await play(
            belfry,
            #"[["wait","30 100"],["wait","all"],["size",40,120],["wait","40 120"],["type","q\r"]]"#,
            """
            --pty -- sh -c 'trap "stty size; went=1" WINCH; stty size
            test -t 0 && test -t 1 && test -t 2 && echo all
            until [ "$went" ]; do sleep 0.1; done; read key; test "$key" = q && exit 9'
            """)
        #expect(seen["code"].number == 9 && seen["canonical"] == .bool(true))
    }

    @Test(arguments: Company.allCases)
    func `types every key there, Ctrl-C and the end of input among them`(company: Company) async throws {
        let belfry = try await company.home()
        let seen = try await play(
            belfry,
            #"[["wait","ready"],["raw",true],["type","\u0003"],["wait","caught"],["type","a b\r\u0004"]]"#,
            "--pty -- sh -c 'trap went=1 INT; echo ready; until [ $went ]; do sleep 0.05; done; echo caught; cat; exit 6'"
        )
        #expect(seen["code"].number == 6 && seen["text"].text?.contains("a b") == true)
        #expect(seen["canonical"] == .bool(true))
    }

    @Test(arguments: Company.allCases)
    func `dies of Ctrl-C as the command does`(company: Company) async throws {
        let belfry = try await company.home()
        let seen = try await play(
            belfry, #"[["wait","ready"],["raw",true],["type","\u0003"]]"#,
            "--pty -- sh -c 'echo ready; exec sleep 1000'")
        #expect(seen["code"].number == 130 && seen["canonical"] == .bool(true))
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/vim")),
        arguments: Company.allCases)
    func `lets an editor draw and write`(company: Company) async throws {
        let belfry = try await company.home()
        let seen = try await play(
            belfry, #"[["wait","~"],["type","ihello\u001b"],["wait","hello"],["type",":wq\r"]]"#,
            "--pty -- vim -u NONE -n note")
        #expect(seen["code"].number == 0, "\(seen)")
        #expect(belfry.lines(of: "note") == ["hello"])
    }

    @Test(arguments: Company.allCases)
    func `takes its input from a pipe, too`(company: Company) async throws {
        let belfry = try await company.home()
        let answer = try await belfry.shell(
            "printf 'one\\ntwo' | belfry exec --pty -- sh -c 'cat; echo; echo over'")
        #expect(answer.text.contains("over\r\n"), "\(answer)")
        #expect(answer.text.contains("two") && answer.code == 0)
    }

    @Test(arguments: Company.allCases, ["--pty", ""])
    func `stops and continues with the command`(company: Company, flag: String) async throws {
        let belfry = try await company.home()
        let seen = try await play(
            belfry,
            #"[["wait","tick"],["signal",20],["stopped"],["wait","tick"],["wait","tick"],["signal",15]]"#,
            "\(flag) -- sh -c 'while :; do echo tick; sleep 0.1; done'")
        #expect(seen["code"].number == 143 && seen["canonical"] == .bool(true))
    }

    @Test(arguments: Company.allCases, ["--pty", ""])
    func `signals the command when it hangs up`(company: Company, flag: String) async throws {
        let belfry = try await company.home()
        let seen = try await play(
            belfry, #"[["wait","ready"],["hangup"]]"#,
            """
            \(flag) -- sh -c 'trap "echo hup >mark; exit 5" HUP; echo ready; while :; do sleep 0.05; done'
            """)
        #expect(seen["code"].number == 5)
        #expect(belfry.lines(of: "mark") == ["hup"])
    }

    @Test func `does not notice that the daemon is killed`() async throws {
        let belfry = try await Belfry.start()
        let gate = try Gate(in: belfry.folder)
        async let seen = play(
            belfry,
            #"[["wait","ready"],["type","echo >gate; echo on$((40+2))\r"],["wait","on42"],["type","exit 3\r"]]"#,
            "--pty --name shell -- sh -c 'echo ready; exec sh'")
        try await gate.passed()
        try await belfry.kill()
        #expect(try await seen["code"].number == 3)
        try await belfry.start()
        #expect(try await belfry.events().event("run.failed", of: "shell")["reason"].text == "exitCode")
    }

    @Test(arguments: Company.allCases)
    func `shows how far the command is, below what it prints`(company: Company) async throws {
        let belfry = try await company.home()
        // It goes on once it was seen.
        let gate = try Gate("go", in: belfry.folder)
        let seen = try await play(
            belfry, #"[["wait","first"],["wait","50%"],["run","echo >go"],["wait","second"]]"#,
            """
            --name probe -- sh -c 'echo first; echo "{\\"progress\\":0.5}" >&$PROGRESS_FD; read line <go; echo second'
            """)
        withExtendedLifetime(gate) {}
        let text = seen["text"].text ?? ""
        #expect(seen["code"].number == 0)
        #expect(text.contains("completed") && text.hasSuffix("\u{1B}[?25h"), "\(text)")
    }

    @Test(arguments: Company.allCases, ["--pty ", ""])
    func `sends the terminal the progress that the command sends to one, in the form that it takes`(
        company: Company, flag: String
    ) async throws {
        let belfry = try await company.home()
        // It goes on once it was seen.
        let gate = try Gate("go", in: belfry.folder)
        let seen = try await play(
            belfry, #"[["wait","\u001b]9;4;1;42\u001b\\"],["run","echo >go"],["wait","second"]]"#,
            """
            --osc always \(flag)-- sh -c 'printf "first \\033]9;4;1;42\\007\\n"; read line <go; echo second'
            """)
        withExtendedLifetime(gate) {}
        let text = seen["text"].text ?? ""
        #expect(seen["code"].number == 0)
        // As the command wrote it, it never arrives; and at the end it is taken away.
        #expect(!text.contains("\u{07}"), "\(text)")
        let shown = try #require(text.ranges(of: "\u{1B}]9;4;1;42\u{1B}\\").last)
        #expect(text[shown.upperBound...].contains("\u{1B}]9;4;0\u{1B}\\"), "\(text)")
    }

    @Test(arguments: Company.allCases)
    func `gets a sequence whole that the command began and what it left behind ends`(
        company: Company
    ) async throws {
        let belfry = try await company.home()
        let gates = [try Gate("go", in: belfry.folder), try Gate("end", in: belfry.folder)]
        try belfry.write(
            #"printf 'a\033]9;4;'; (read line <go; printf '1;50\033\\rest\n') &"#, to: "left.sh")
        try belfry.write(
            "belfry exec --osc always -- sh left.sh; echo >go; read line <end", to: "outer.sh")
        try belfry.write(#"[["wait","rest"],["run","echo >end"]]"#, to: "steps")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 '\(try PythonTools.interpreter())' \
            '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" sh outer.sh
            """)
        withExtendedLifetime(gates) {}
        let text = try answer.json()["text"].text ?? ""
        #expect(text.contains("\u{1B}]9;4;1;50\u{1B}\\rest"), "\(text.debugDescription)")
    }

    @Test func `is not sent it by the log of a run`() async throws {
        let belfry = try await Belfry.start(
            #"jobs: { bar: { schedule: manual, shell: "printf 'a\\033]9;4;1;42\\007b\\n'" } }"#)
        try await belfry.run("run", "bar", "--follow")
        try belfry.write(#"[["wait","ab"]]"#, to: "steps")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 '\(try PythonTools.interpreter())' \
            '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" belfry run logs bar
            """)
        #expect(try answer.json()["failed"] == nil)
        // A file gets every byte.
        #expect(try await belfry.run("run", "logs", "bar").text == "a\u{1B}]9;4;1;42\u{07}b\n")
    }
}
