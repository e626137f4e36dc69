import Foundation
import TestSupport
import Testing

/// Claude's hooks as addresses: the daemon is the hook, without a program.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the daemon as the hook of an agent` {
    private struct Home {
        let belfry: Belfry
        let url: String
        let token: String

        /// What curl printed for a hook's payload: the body and the status.
        func post(_ payload: String, token: String? = nil, to agent: String = "claude") throws -> Posted {
            let name = "posted-\(UUID().uuidString)"
            let process = try ChildProcess(
                "/usr/bin/curl",
                [
                    "-s", "-w", "\n%{http_code}", "-H", "Authorization: Bearer \(token ?? self.token)",
                    "--data-binary", "@-", "\(url)/v1/agents/\(agent)",
                ],
                streams: .files(
                    output: belfry.folder.file(name), errors: belfry.folder.file(name + ".errors")))
            try process.write(payload)
            try process.closeInput()
            return Posted(process: process, path: belfry.folder.file(name))
        }
    }

    private struct Posted {
        let process: ChildProcess
        let path: String

        func end() async -> String {
            _ = await process.status()
            return String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }
    }

    private func start() async throws -> Home {
        let belfry = try Belfry()
        try belfry.write("listen: { address: 127.0.0.1:0 }\n", to: "belfry.yaml")
        try await belfry.start()
        let line = try await belfry.logged("serving the API over TCP")
        let port = try #require(line.firstMatch(of: /port="?([0-9]+)/).flatMap { Int($0.1) })
        let token = try await belfry.run("token", "add", "claude", "--scope", "publish").lines.first ?? ""
        return Home(belfry: belfry, url: "http://127.0.0.1:\(port)", token: token)
    }

    private static func payload(_ event: String, _ command: String = "npm test", more: String = "") -> String
    {
        #"{"session_id":"1f2e3d4c-aaaa","cwd":"/home/me/My Site","hook_event_name":"\#(event)","tool_name":"Bash","#
            + #""tool_input":{"command":"\#(command)","description":"Runs"}\#(more)}"#
    }

    private static func decision(_ text: String) -> String {
        #"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":"# + text + "}}\n200"
    }

    @Test(arguments: [
        ("allow", decision(#"{"behavior":"allow"}"#)),
        (
            "deny",
            decision(
                #"{"behavior":"deny","message":"The user denied this through Belfry.","interrupt":false}"#)
        ),
    ])
    func `answers with what the program would print`(answer: String, output: String) async throws {
        let home = try await start()
        let events = try home.belfry.events()
        let posted = try home.post(Self.payload("PermissionRequest"))
        let asked = try await events.event("question.asked")
        #expect(asked["bot"].text == "my-site")
        #expect(asked["data"]?["text"]?.text == "claude wants to use Bash:\nnpm test\nRuns")
        #expect(try await home.belfry.run("answer", asked["subject"].text ?? "", answer).code == 0)
        #expect(await posted.end() == output)
    }

    @Test func `says what the agent says, and is silent where nothing is decided`() async throws {
        let home = try await start()
        let said = try home.post(
            Self.payload("Stop", more: #","last_assistant_message":"All tests pass.""#))
        #expect(await said.end() == "\n200")
        #expect(
            try await home.belfry.json("messages", "my-site").list.first?["text"].text == "All tests pass.")
        for payload in ["no JSON", "[]", #"{"hook_event_name":"Whatever"}"#] {
            #expect(await (try home.post(payload)).end() == "\n200", "\(payload)")
        }
        let payload = Self.payload("PermissionRequest")
        for scope in ["read", "answer"] {
            let weak = try await home.belfry.run("token", "add", scope, "--scope", scope).lines.first ?? ""
            #expect(await (try home.post(payload, token: weak)).end().hasSuffix("\n403"), "\(scope)")
        }
        #expect(await (try home.post(payload, token: "bft_forged")).end().hasSuffix("\n401"))
        #expect(await (try home.post(payload, to: "codex")).end().hasSuffix("\n404"))
        #expect(try await home.belfry.json("questions", "--all").list.isEmpty)
    }

    @Test func `withdraws what an agent asked that was killed`() async throws {
        let home = try await start()
        let events = try home.belfry.events()
        let posted = try home.post(Self.payload("PermissionRequest"))
        let asked = try await events.event("question.asked")["subject"].text
        posted.process.signal(SIGKILL)
        let withdrawn = try await events.event("question.withdrawn")
        #expect(withdrawn["subject"].text == asked && asked != nil)
        #expect(try await home.belfry.json("questions").list.isEmpty)
    }

    @Test func `withdraws what was answered at the terminal, whoever asked`() async throws {
        let home = try await start()
        let events = try home.belfry.events()
        let program = try ChildProcess(
            BuiltProgram.path("belfry"), ["confirm", "--hook", "claude"],
            environment: home.belfry.environment,
            streams: .files(output: home.belfry.folder.file("out"), errors: home.belfry.folder.file("err")))
        try program.write(Self.payload("PermissionRequest", "npm test"))
        try program.closeInput()
        let first = try await events.event("question.asked")["subject"].text
        let posted = try home.post(Self.payload("PermissionRequest", "npm start"))
        let second = try await events.event("question.asked")["subject"].text
        // The tool ran, so it was allowed there; another one's question stays.
        _ = await (try home.post(Self.payload("PostToolUse", "npm test"))).end()
        #expect(try await events.event("question.withdrawn")["subject"].text == first)
        #expect(await program.status() == 0)
        #expect(home.belfry.lines(of: "out").isEmpty)
        #expect(try await home.belfry.json("questions").list.map { $0["id"].text } == [second])
        // The next prompt ends the turn in which it was asked.
        let ended = try await home.belfry.run(
            "confirm", "--hook", "claude", input: Self.payload("UserPromptSubmit", "npm start"))
        #expect(ended.code == 0 && ended.text.isEmpty)
        #expect(try await events.event("question.withdrawn")["subject"].text == second)
        #expect(await posted.end() == "\n200")
    }
}

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the hooks in an agent's settings` {
    /// Settings as a person writes them, which no program would.
    private static let own = """
        {
            "model":   "opus", "hooks": {"Stop": [ {"hooks":[{"type":"command", "command":"say done"}]} ] },
          "env": {"A":"\\u00e9"}
        }
        """

    private func home(_ agent: String) throws -> (Belfry, file: String) {
        let belfry = try Belfry()
        belfry.set(agent == "claude" ? "CLAUDE_CONFIG_DIR" : "CODEX_HOME", belfry.folder.path)
        return (belfry, agent == "claude" ? "settings.json" : "hooks.json")
    }

    private func text(_ belfry: Belfry, _ file: String) -> String? {
        FileManager.default.contents(atPath: belfry.folder.file(file)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: ["claude", "codex"])
    func `are added once and taken out byte for byte`(agent: String) async throws {
        let (belfry, file) = try home(agent)
        try belfry.write(Self.own, to: file)
        let shown = try await belfry.run("hook", "install", agent, "--dry-run")
        #expect(shown.code == 0 && text(belfry, file) == Self.own)
        #expect(try await belfry.run("hook", "install", agent).text.contains("is a hook of \(agent) now"))
        #expect(text(belfry, file) == shown.text)
        let hooks = try #require(try JSON(text(belfry, file) ?? "")["hooks"])
        let hook = try #require(hooks["PermissionRequest"].list.first?["hooks"].list.first)
        #expect(hook["command"].text == "belfry confirm --hook \(agent)")
        #expect(hook["timeout"].integer == (agent == "claude" ? 600 : 60))
        #expect(hooks["Stop"].list.count == 2)
        #expect(try await belfry.run("hook", "install", agent).text.contains("already"))
        #expect(try await belfry.run("hook", "remove", agent).code == 0)
        #expect(text(belfry, file) == Self.own)
        #expect(text(belfry, file + ".before-belfry") == nil)
        #expect(try await belfry.run("hook", "remove", agent).text.contains("is no hook"))
    }

    @Test(arguments: ["claude", "codex"])
    func `leave no file where there was none, and nothing that was added since`(agent: String) async throws {
        let (belfry, file) = try home(agent)
        #expect(try await belfry.run("hook", "install", agent).code == 0)
        #expect(text(belfry, file)?.contains("belfry confirm") == true)
        #expect(try await belfry.run("hook", "remove", agent).code == 0)
        #expect(text(belfry, file) == nil)
        #expect(try await belfry.run("hook", "install", agent).code == 0)
        let edited = try #require(text(belfry, file)).replacing(
            "{\n  \"hooks\"", with: "{\n  \"a\": 1,\n  \"hooks\"")
        try belfry.write(edited, to: file)
        #expect(try await belfry.run("hook", "remove", agent).code == 0)
        #expect(text(belfry, file) == "{\n  \"a\": 1\n}\n")
    }

    @Test func `may be addresses of the daemon, with the token in a variable`() async throws {
        let (belfry, file) = try home("claude")
        try belfry.write(Self.own, to: file)
        let url = "http://127.0.0.1:8791"
        #expect(try await belfry.run("hook", "install", "claude").code == 0)
        #expect(try await belfry.run("hook", "install", "claude", "--url", url + "/").code == 0)
        let hooks = try #require(try JSON(text(belfry, file) ?? "")["hooks"])
        let hook = try #require(hooks["PostToolUse"].list.first?["hooks"].list.first)
        #expect(hook["type"].text == "http" && hook["url"].text == url + "/v1/agents/claude")
        #expect(hook["headers"]["Authorization"].text == "Bearer $BELFRY_TOKEN")
        #expect(hook["allowedEnvVars"].list.compactMap(\.text) == ["BELFRY_TOKEN"])
        #expect(text(belfry, file)?.contains("belfry confirm") == false)
        #expect(try await belfry.run("hook", "remove", "claude").code == 0)
        #expect(text(belfry, file) == Self.own)
        for words in [
            ["codex", "--url", url], ["claude", "--url", "x"],
            ["claude", "--url", url, "--token-variable", "a-b"],
        ] {
            #expect(try await belfry.run("belfry", ["hook", "install"] + words).code == 2, "\(words)")
        }
    }
}
