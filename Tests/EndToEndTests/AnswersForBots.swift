import Glibc
import TestSupport
import Testing

/// What bots wait for while a tool works: a person's answer, a search, a daemon that was away.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a bot that waits for a tool` {
    private static func call(_ tool: String, _ arguments: String) -> ProviderServer.Answer {
        let text = arguments.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return .init(
            #"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"\#(tool)","arguments":"\#(text)"}}]}}]}"#
                + "\n\n" + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#
                + "\n\ndata: [DONE]\n\n")
    }

    private static func reply(_ text: String) -> ProviderServer.Answer {
        .init(
            #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"},"finish_reason":"stop"}]}"#
                + "\n\ndata: [DONE]\n\n")
    }

    private static func config(_ server: ProviderServer, _ more: String, jobs: String = "") -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            \(more)
        jobs:
          news: { schedule: manual, bot: sage, prompt: "What is new?" }
        \(jobs)
        """
    }

    private func result(_ server: ProviderServer) async throws -> String? {
        try JSON(try await server.request().body)["messages"].list.last?["content"].text
    }

    @Test(arguments: [false, true])
    func `goes on with the person's answer`(isDaemonKilled: Bool) async throws {
        let question = #"{"question":"Ship \"it\" now?","choices":["yes","not yet"]}"#
        let server = try await ProviderServer(Self.call("ask_person", question), Self.reply("Then I wait."))
        let belfry = try await Belfry.start(Self.config(server, "tools: [ask_person]"))
        let feed = try belfry.events()
        #expect(try await belfry.run("run", "news").code == 0)
        _ = try await feed.event("question.asked")
        let open = try #require(try await belfry.json("questions").list.first)
        #expect(open["text"].text == "Ship \"it\" now?" && open["bot"].text == "sage")
        #expect(open["choices"].list.map(\.text) == ["yes", "not yet"])
        while try await belfry.json("run", "show", "news")["state"].text != "blocked" {
            try Task.checkCancellation()
        }
        if isDaemonKilled { try await belfry.restart() }
        let answered = try await belfry.run("answer", open["id"].text ?? "", "not yet")
        #expect(answered.code == 0, "\(answered)")
        _ = try await server.request()
        #expect(try await result(server) == "the person answered: not yet")
        while try await belfry.json("run", "show", "news")["state"].text != "completed" {
            try Task.checkCancellation()
        }
        #expect(try await belfry.json("messages", "sage").list.map { $0["text"].text } == ["Then I wait."])
        // It was asked once, also by the daemon that made the call again.
        let all = try await belfry.json("questions", "--all").list
        #expect(all.count == 1 && all[0]["answer"].text == "not yet", "\(all)")
        let calls = try await belfry.json("run", "show", "news#1")["calls"].list
        #expect(calls.map { $0["result"].text } == ["the person answered: not yet"])
    }

    @Test func `is shown what Brave finds, and what it refuses, without the key`() async throws {
        let found = """
            {"type":"search","web":{"type":"search","results":[
              {"title":"Tea <strong>house</strong>","url":"https://tea.example/","description":"Open &amp; warm","age":"1 day"},
              {"title":"More","url":"https://more.example/","description":"Less"}]}}
            """
        let server = try await ProviderServer(
            .init(found, type: "application/json"), .init("{}", status: 429, type: "application/json"),
            .init("{}", status: 422, type: "application/json"), .init("<html>", type: "text/html"),
            .init(#"{"web":{}}"#, type: "application/json"))
        let folder = try TemporaryFolder()
        let web =
            "web: { search: { kind: brave, url: \"\(server.url())\", allow: [127.0.0.1/32], "
            + "key: { file: \(folder.file("brave.key")) } } }\n    tools: [web_search]"
        let belfry = try Belfry(Self.config(server, web), in: folder)
        try belfry.write("BSA-s3cret\n", to: "brave.key")
        try await belfry.start()
        let calls = Array(repeating: #"["web_search",{"query":"tea & cake","count":1}]"#, count: 5)
        let answers = try await belfry.tools("sage", "[\(calls.joined(separator: ","))]")
        let place = server.url()
        #expect(
            answers.map { $0["text"].text ?? "" } == [
                "1. Tea house\n   https://tea.example/\n   Open & warm",
                "the search at \(place) takes no more requests now; try again later",
                "the search at \(place) refuses its key or its caller: 422",
                "the search at \(place) returned something that is not JSON", "nothing was found",
            ])
        #expect(answers.map { $0["isError"] == .bool(true) } == [false, true, true, true, false])
        let request = try await server.request()
        #expect(request.path == "/res/v1/web/search?q=tea%20%26%20cake&count=1" && request.method == "GET")
        #expect(request.headers["x-subscription-token"] == "BSA-s3cret")
        #expect(!"\(answers)".contains("s3cret"))
    }

    @Test func `is offered no search while none is set up`() async throws {
        let server = try await ProviderServer(Self.reply("Done."))
        let belfry = try await Belfry.start(Self.config(server, "tools: [web_search, send_message]"))
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let offered = try JSON(try await server.request().body)["tools"].list
        #expect(offered.map { $0["function"]["name"].text } == ["send_message"])
    }

    @Test func `and is refused it notifies the person once, also over a restart`() async throws {
        let server = try await ProviderServer(
            Self.call("send_message", #"{"text":"x"}"#), Self.reply("Done."),
            Self.call("send_message", #"{"text":"x"}"#), Self.reply("Done."),
            Self.call("memory", #"{"action":"read"}"#), Self.reply("Done."))
        let belfry = try await Belfry.start(Self.config(server, "tools: [all_tasks]"))
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        try await belfry.restart()
        for _ in 1...2 { #expect(try await belfry.run("run", "news", "--follow").code == 0) }
        let notices = try await belfry.json("messages", "belfry").list.filter { $0["thread"].text == "tools" }
        // Each tool is one thing to know of.
        #expect(
            notices.reversed().map { $0["text"].text?.contains("the tool send_message") } == [true, false],
            "\(notices)")
    }

    @Test func `over MCP has its result once after the daemon was killed meanwhile`() async throws {
        let server = try await ProviderServer(Self.reply("Done."))
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            Self.config(
                server, "tools: [\"run_job:ship\"]",
                jobs: "  ship: { schedule: manual, shell: \"read line < \(gate.path); echo shipped\" }"),
            in: folder)
        try await belfry.start()
        let feed = try belfry.events()
        async let answers = belfry.tools("sage", #"[["run_job",{"name":"ship","wait":600}]]"#)
        _ = try await feed.event("run.started", of: "ship")
        try await belfry.restart()
        try gate.open()
        #expect(try await answers.map { $0["text"].text } == ["ship#1 completed\nshipped\n"])
        #expect(try await belfry.json("runs", "ship").list.count == 1)
    }

    /// A bot that is a program, whose runs outlive the daemon.
    private static let program = """
        bots:
          cc: { backend: { kind: command, command: [sh, -c, "cat >/dev/null; exec sleep 600"] }, tools: [ask_person] }
        jobs:
          news: { schedule: manual, bot: cc, prompt: "What is new?" }
        """

    /// An MCP client that asks the person within a run of the bot which is under way, until that is asked.
    private func asking(_ belfry: Belfry) async throws -> ChildProcess {
        let feed = try belfry.events()
        #expect(try await belfry.run("run", "news").code == 0)
        _ = try await feed.event("run.started", of: "news")
        let run = try #require(try await belfry.json("run", "show", "news")["id"].text)
        let client = try ChildProcess(
            BuiltProgram.path("belfry"), ["mcp", "--bot", "cc"],
            environment: belfry.environment.merging(["BELFRY_RUN_ID": run]) { $1 })
        try client.write(
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#)
        try client.write(
            #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask_person","arguments":{"question":"Ship it?","choices":["yes","no"]}}}"#
        )
        _ = try await feed.event("question.asked")
        return client
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `over MCP takes its question back when its client dies`(signal: Int32) async throws {
        let belfry = try await Belfry.start(Self.program)
        let client = try await asking(belfry)
        let feed = try belfry.events()
        client.signal(signal)
        _ = try await feed.event("question.withdrawn")
        let all = try await belfry.json("questions", "--all").list
        #expect(all.map { $0["state"].text } == ["withdrawn"], "\(all)")
    }

    @Test(arguments: [false, true])
    func `over MCP is answered though the daemon ended meanwhile`(isKilled: Bool) async throws {
        let belfry = try await Belfry.start(Self.program)
        let client = try await asking(belfry)
        if isKilled { try await belfry.kill() } else { #expect(try await belfry.stop() == 0) }
        try await belfry.start()
        let open = try await belfry.json("questions").list
        #expect(open.map { $0["text"].text } == ["Ship it?"], "\(open)")
        #expect(try await belfry.run("answer", open.first?["id"].text ?? "", "yes").code == 0)
        let answer = await client.line { $0.contains("the person answered: yes") }
        #expect(answer != nil)
        let all = try await belfry.json("questions", "--all").list
        #expect(all.map { $0["state"].text } == ["answered"], "\(all)")
    }

    @Test func `over MCP refuses a second call of an id, more than 16 calls, and a line above 4 MiB`()
        async throws
    {
        let belfry = try await Belfry.start(Self.program)
        // The call of the id 2 is under way, and none of them ends: nobody answers the person's questions.
        let client = try await asking(belfry)
        func call(_ id: Int) throws {
            try client.write(
                #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"ask_person","arguments":{"question":"And \#(id)?","choices":["yes","no"]}}}"#
            )
        }
        try call(2)
        let second = await client.line { $0.contains(#""id":2,"#) }
        #expect(second?.contains("a request of this id is under way") == true, "\(second ?? "")")
        for id in 3...18 { try call(id) }
        let last = await client.line { $0.contains(#""isError""#) }
        #expect(last?.contains(#""id":18,"#) == true, "\(last ?? "")")
        #expect(last?.contains("at most 16 calls are performed at a time") == true)

        let long = try await belfry.shell(
            "head -c 4300000 /dev/zero | tr '\\0' x | belfry --socket \(belfry.socketPath) mcp --bot cc")
        #expect(long.code == 2 && long.errors.contains("longer than 4 MiB"), "\(long)")
    }
}
