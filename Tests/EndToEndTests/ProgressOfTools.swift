import TestSupport
import Testing

/// Calls of tools that take their time, as MCP clients see and end them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a call of a tool that takes its time` {
    private static func bot(_ name: String, _ server: ProviderServer, _ more: String) -> String {
        """
          \(name):
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            \(more)

        """
    }

    @Test(arguments: ["legacy", "auto"])
    func `shows the official client how far the job is that it runs`(mode: String) async throws {
        let server = try await ProviderServer(.init("{}"))
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let job = """
            jobs:
              ship:
                schedule: manual
                shell: |
                  echo '{"progress":0.5,"message":"half way"}' >&"$PROGRESS_FD"
                  read line < \(gate.path)
                  echo shipped
            """
        let belfry = try Belfry(
            "bots:\n" + Self.bot("sage", server, "tools: [\"run_job:ship\"]") + job, in: folder)
        try await belfry.start()
        let (python, script) = (try PythonTools.interpreter(), PythonTools.script("mcp-progress.py"))
        let answer = try await belfry.shell(
            "\(python) \(script) \(mode) \(gate.path) $(command -v belfry) --socket \(belfry.socketPath) mcp --bot sage"
        )
        #expect(answer.code == 0, "\(answer)")
        let json = try JSON(answer.text)
        #expect(json["text"].text == "ship#1 completed\nshipped\n" && json["isError"] == .bool(false))
        let seen = json["progress"].list.map { "\($0.list[0].number ?? -1) \($0.list[2].text ?? "")" }
        #expect(seen == ["0.0 calling run_job", "0.5 ship#1: half way", "1.0 done"], "\(answer)")
    }

    private static func program(_ belfry: String, _ gate: String) -> String {
        """
        import json, subprocess
        server = subprocess.Popen(["\(belfry)", "mcp", "--bot", "lead"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        def send(**message):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
            server.stdin.flush()
        send(id=0, method="initialize", params={"protocolVersion": "2025-11-25"})
        send(id=1, method="tools/call", params={"name": "delegate", "arguments": {
            "tasks": [{"bot": "scribe", "prompt": "Write the report"}]}})
        open("\(gate)").readline()
        send(method="notifications/cancelled", params={"requestId": 1})
        send(id=2, method="ping")
        ids = [json.loads(server.stdout.readline())["id"] for _ in range(2)]
        print("answered", ids)
        open("\(gate)").readline()
        server.stdin.close()
        print("then", server.stdout.read().decode(), server.wait(120))
        """
    }

    @Test func `ends with what it handed out when its client cancels it`() async throws {
        let server = try await ProviderServer(.init("", then: .mute))
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let lead = """
              lead:
                backend: { kind: command, command: [python3, \(folder.file("lead.py"))] }
                team: [scribe]
            jobs:
              plan: { schedule: manual, bot: lead, prompt: "Plan it" }
            """
        let belfry = try Belfry("bots:\n" + Self.bot("scribe", server, "") + lead, in: folder)
        try belfry.write(Self.program(BuiltProgram.path("belfry"), gate.path), to: "lead.py")
        try await belfry.start()
        let feed = try belfry.events()
        #expect(try await belfry.run("run", "plan").code == 0)
        _ = try await feed.event("run.started", of: "scribe.delegated")
        try gate.open()
        _ = try await feed.event("run.canceled", of: "scribe.delegated")
        // Its end is nobody's answer.
        try gate.open()
        _ = try await feed.event("run.completed", of: "plan")
        let said = try await belfry.json("messages", "lead").list.first?["text"].text
        #expect(said == "answered [0, 2]\nthen  0", "\(said ?? "")")
    }
}
