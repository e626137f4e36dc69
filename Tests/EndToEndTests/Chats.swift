import TestSupport
import Testing

/// Drives `belfry chat` on a real terminal; see `Tests/Support/pty-driver.py`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a chat` {
    /// A reply as a stream of OpenAI's dialect, or its beginning.
    private static func chat(_ text: String, isWhole: Bool = true) -> String {
        let piece = #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"}}]}"# + "\n\n"
        let end =
            #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"# + "\n\ndata: [DONE]\n\n"
        return isWhole ? piece + end : piece
    }

    private func start(_ server: ProviderServer) async throws -> Belfry {
        try await Belfry.start(
            """
            bots:
              sage:
                backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
                model: small
            """)
    }

    private func play(_ steps: String, _ server: ProviderServer) async throws -> JSON {
        let belfry = try await start(server)
        try belfry.write(steps, to: "steps")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 \
            '\(try PythonTools.interpreter())' '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" \
            belfry chat sage
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil, "\(seen["failed"] ?? .null): \(seen["text"].text ?? "")")
        #expect(seen["canonical"] == .bool(true) && seen["echo"] == .bool(true))
        return seen
    }

    @Test func `shows replies, recalls lines, and leaves the terminal as it was`() async throws {
        let server = try await ProviderServer(
            .init(Self.chat("Grüße \\u001b[31m漢字")), .init(Self.chat("Again.")))
        let seen = try await play(
            #"""
            [["wait","/help for help"],["raw",true],["type","Hello\r"],["wait","Grüße 漢字"],["size",20,30],
            ["type","/help\r"],["wait","starts a new session"],["type","\u001b[A\u001b[A\r"],["wait","Again."],
            ["type","/quit\r"]]
            """#, server)
        #expect(seen["code"].number == 0)
        #expect(try await server.request().body.contains(">Hello<"))
        #expect(try await server.request().body.contains(">Hello</message>\\n</messages>"))
    }

    @Test func `cancels the reply by Ctrl-C, and is left by the next`() async throws {
        let server = try await ProviderServer(.init(Self.chat("Well", isWhole: false), then: .hang))
        let seen = try await play(
            #"""
            [["wait","/help"],["raw",true],["type","Hello\r"],["wait","Well"],["type","\u0003"],
            ["wait","cancelled"],["type","\u0003"]]
            """#, server)
        #expect(seen["code"].number == 0)
    }

    @Test func `sends what is pasted as one message, and is left by Ctrl-D`() async throws {
        let server = try await ProviderServer(.init(Self.chat("Both.")))
        let seen = try await play(
            #"""
            [["wait","/help"],["raw",true],["type","\u001b[200~one\ntwo\u001b[201~"],["wait","one⏎two"],
            ["type","\r"],["wait","Both."],["type","\u0004"]]
            """#, server)
        #expect(seen["code"].number == 0)
        #expect(try await server.request().body.contains(#">one\ntwo</message>"#))
    }

    @Test func `gives the terminal back while it is stopped, and at a signal`() async throws {
        let server = try await ProviderServer(.init(Self.chat("ok")))
        let seen = try await play(
            #"""
            [["wait","/help"],["raw",true],["type","\u001a"],["raw",false],["stopped"],["raw",true],
            ["signal",15]]
            """#, server)
        #expect(seen["code"].number == 143)
    }

    @Test func `outlives a daemon that is away, and sends once what is typed meanwhile`() async throws {
        let server = try await ProviderServer(.init(Self.chat("Back.")))
        let belfry = try await start(server)
        let end = "kill $(cat state/pid); while kill -0 $(cat state/pid) 2>/dev/null; do sleep 0.05; done"
        let again =
            "'\(try BuiltProgram.path("belfryd"))' --config belfry.yaml --state state >log 2>&1 & echo $! >second"
        try belfry.write(
            #"""
            [["wait","/help for help"],["raw",true],["run","\#(end)"],["type","Hello\r"],
            ["wait","the daemon does not answer; what you say is sent once it does"],["type","Still there?\r"],
            ["run","\#(again)"],["wait","the daemon answers again"],["wait","Back."],["wait","> Still there?"],
            ["wait","Back."],["type","/quit\r"]]
            """#, to: "steps")
        let answer = try await belfry.shell(
            """
            echo \(try belfry.process().pid) >state/pid
            exec env TERM=xterm-256color LANG=C.UTF-8 \
            '\(try PythonTools.interpreter())' '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" \
            belfry chat sage
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil && seen["code"].number == 0, "\(seen["text"].text ?? "")")
        let said = try await belfry.json("messages", "sage").list.filter { $0["from"].text == "user" }
        #expect(said.reversed().map { $0["text"].text } == ["Hello", "Still there?"])
        _ = try await belfry.shell("kill $(cat second)")
    }

    @Test func `outlives an interrupt while the daemon is away`() async throws {
        let server = try await ProviderServer(.init(Self.chat("Well", isWhole: false), then: .hang))
        let belfry = try await start(server)
        let end = "kill -9 $(cat state/pid); while kill -0 $(cat state/pid) 2>/dev/null; do sleep 0.05; done"
        try belfry.write(
            #"""
            [["wait","/help for help"],["raw",true],["type","Hello\r"],["wait","Well"],["run","\#(end)"],
            ["wait","the daemon does not answer"],["signal",2],["type","/help\r"],
            ["wait","starts a new session"],["type","/quit\r"]]
            """#, to: "steps")
        let answer = try await belfry.shell(
            """
            echo \(try belfry.process().pid) >state/pid
            exec env TERM=xterm-256color LANG=C.UTF-8 \
            '\(try PythonTools.interpreter())' '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" \
            belfry chat sage
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil && seen["code"].number == 0, "\(seen["text"].text ?? "")")
    }

    @Test func `of lines outlives a daemon that is killed while it replies`() async throws {
        let server = try await ProviderServer(
            .init(Self.chat("Well", isWhole: false), then: .hang), .init(Self.chat("Done.")))
        let belfry = try await start(server)
        let chat = try ChildProcess(
            BuiltProgram.path("belfry"), ["chat", "sage"], environment: belfry.environment,
            streams: .bothInLines)
        try chat.write("one")
        _ = try await server.request()
        try await belfry.kill()
        try chat.write("two")
        try chat.closeInput()
        try await belfry.start()
        #expect(await chat.line { $0 == "Done." } == "Done.")
        #expect(await chat.line { $0 == "Done." } == "Done.")
        #expect(await chat.status() == 0)
        let said = try await belfry.json("messages", "sage").list.filter { $0["from"].text == "user" }
        #expect(said.reversed().map { $0["text"].text } == ["one", "two"])
    }

    @Test func `reads lines and prints replies where there is no terminal`() async throws {
        let server = try await ProviderServer(.init(Self.chat("First.")), .init(Self.chat("Second.")))
        let belfry = try await start(server)
        let answer = try await belfry.run("chat", "sage", input: "one\n\ntwo\n")
        #expect(answer.code == 0 && answer.text == "First.\nSecond.\n")
        #expect(try await belfry.run("chat", "nobody", input: "").code == 4)
    }
}
