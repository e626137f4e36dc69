import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The hooks of coding agents, as the agents call them: a payload on standard input, a decision on standard output.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the hook of a coding agent` {
    /// A `belfry confirm --hook` at work.
    private struct Hook {
        let process: ChildProcess
        let belfry: Belfry
        let output: String

        /// Its exit code, and every byte that it printed.
        func end() async -> (code: Int32?, text: String) {
            let code = await process.status()
            let bytes = FileManager.default.contents(atPath: belfry.folder.file(output)) ?? Data()
            return (code, String(decoding: bytes, as: UTF8.self))
        }
    }

    private func hook(_ agent: String, _ payload: String, in belfry: Belfry, _ more: String...) throws -> Hook
    {
        let name = "hook-\(payload.hashValue)-\(more.joined())"
        let process = try ChildProcess(
            BuiltProgram.path("belfry"), ["confirm", "--hook", agent] + more, environment: belfry.environment,
            streams: .files(output: belfry.folder.file(name), errors: belfry.folder.file(name + ".errors")))
        try process.write(payload)
        try process.closeInput()
        return Hook(process: process, belfry: belfry, output: name)
    }

    /// As both agents write it, with fields that nobody here knows.
    private static func permission(_ command: String, suggestions: String? = nil) -> String {
        """
        {"session_id":"1f2e3d4c-aaaa","transcript_path":null,"cwd":"/home/me/My Site","permission_mode":"default",\
        "hook_event_name":"PermissionRequest","turn_id":"t1","model":"m","effort":{"level":"high"},\
        "tool_name":"Bash","tool_input":{"command":"\(command)","description":"Runs the tests"}\
        \(suggestions.map { ",\"permission_suggestions\":\($0)" } ?? "")}
        """
    }

    private static let suggestion =
        #"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test"}],"behavior":"allow","destination":"localSettings"}"#

    private static func decision(_ text: String) -> String {
        #"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":"# + text + "}}\n"
    }

    @Test(arguments: [
        ("claude", "allow", decision(#"{"behavior":"allow"}"#)),
        ("claude", "allow for 1 h", decision(#"{"behavior":"allow"}"#)),
        (
            "claude", "always allow",
            decision(#"{"behavior":"allow","updatedPermissions":["# + suggestion + "]}")
        ),
        (
            "claude", "deny",
            decision(
                #"{"behavior":"deny","message":"The user denied this through Belfry.","interrupt":false}"#)
        ),
        ("codex", "allow", decision(#"{"behavior":"allow"}"#)),
        (
            "codex", "deny",
            decision(#"{"behavior":"deny","message":"The user denied this through Belfry."}"#)
        ),
    ])
    func `prints the decision in its dialect, byte for byte`(
        agent: String, answer: String, output: String
    ) async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        let run = try hook(
            agent, Self.permission("npm test", suggestions: "[\(Self.suggestion)]"), in: belfry)
        let asked = try await events.event("question.asked")
        #expect(asked["bot"].text == "my-site")
        #expect(asked["data"]?["text"]?.text == "\(agent) wants to use Bash:\nnpm test\nRuns the tests")
        let choices = ["allow", "deny", "allow for 1 h"] + (agent == "claude" ? ["always allow"] : [])
        #expect(asked["data"]?["choices"]?.list.compactMap(\.text) == choices)
        #expect(try await belfry.run("answer", asked["subject"].text ?? "", answer).code == 0)
        let end = await run.end()
        #expect(end.code == 0 && end.text == output)
    }

    @Test(arguments: ["claude", "codex"])
    func `is silent without a decision, and ends with 0`(agent: String) async throws {
        let belfry = try Belfry()
        let down = await (try hook(agent, Self.permission("npm test"), in: belfry)).end()
        #expect(down.code == 0 && down.text.isEmpty, "no daemon")
        try await belfry.start()
        let late = await (try hook(agent, Self.permission("npm test"), in: belfry, "--wait", "200ms")).end()
        #expect(late.code == 0 && late.text.isEmpty, "nobody answered")
        let unseen = String(repeating: "x", count: 900)
        for payload in [
            "", "no JSON", "[]", #"{"hook_event_name":"Whatever"}"#,
            #"{"hook_event_name":"PermissionRequest","tool_name":"Bash"}"#,
            Self.permission(unseen), Self.permission(#"rm \u202Etxt.exe"#), Self.permission(#"ls\u0007"#),
        ] {
            let end = await (try hook(agent, payload, in: belfry)).end()
            #expect(end.code == 0 && end.text.isEmpty, "\(payload)")
        }
        #expect(try await belfry.json("questions", "--all").list.count == 1)
    }

    @Test func `takes a trusted answer for exactly the same call, and lists each use`() async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        let first = try hook("claude", Self.permission("npm test"), in: belfry)
        let id = try await events.event("question.asked")["subject"].text ?? ""
        try await belfry.run("answer", id, "allow for 1 h")
        #expect(await first.end().code == 0)
        let second = await (try hook("claude", Self.permission("npm test"), in: belfry, "--wait", "5m")).end()
        #expect(second.text == Self.decision(#"{"behavior":"allow"}"#))
        let listed = try await belfry.json("questions", "--all").list
        #expect(listed.count == 2 && listed.first?["answeredBy"].text == "trust \(id.suffix(8))")
        for (agent, command) in [
            ("claude", "npm test; rm x"), ("claude", "npm test "), ("codex", "npm test"),
        ] {
            let other = await (try hook(agent, Self.permission(command), in: belfry, "--wait", "200ms")).end()
            #expect(other.text.isEmpty, "\(command)")
        }
    }

    @Test func `asks what the agent asks its user, and what tool servers ask`() async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        let questions =
            #"[{"question":"Which?","header":"Size","options":[{"label":"small"},{"label":"large"}],"multiSelect":false},"#
            + #"{"question":"More?","header":"X","options":[{"label":"a"},{"label":"b"}],"multiSelect":true}]"#
        let ask = try hook(
            "claude",
            #"{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","cwd":"/w","tool_input":{"questions":"#
                + questions + "}}", in: belfry)
        for answer in ["large", "a,b"] {
            let id = try await events.event("question.asked")["subject"].text ?? ""
            #expect(try await belfry.run("answer", id, answer).code == 0)
        }
        #expect(
            await ask.end().text
                == #"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":"#
                + questions + #","answers":{"Which?":"large","More?":"a,b"}}}}"# + "\n")
        let form = try hook(
            "claude",
            #"{"hook_event_name":"Elicitation","mcp_server_name":"db","message":"Drop it?","mode":"form","#
                + #""requested_schema":{"type":"object","properties":{"sure":{"type":"boolean"}}}}"#,
            in: belfry)
        let asked = try await events.event("question.asked")
        #expect(asked["data"]?["text"]?.text == "db: Drop it?")
        try await belfry.run("answer", asked["subject"].text ?? "", "yes")
        #expect(
            await form.end().text
                == #"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"sure":true}}}"#
                + "\n")
    }

    @Test func `says what the agent says, as the bot of its folder`() async throws {
        let belfry = try await Belfry.start()
        for (payload, text) in [
            (#""hook_event_name":"Stop","last_assistant_message":"All tests pass.""#, "All tests pass."),
            (#""hook_event_name":"StopFailure","error":"rate_limit""#, "claude stopped: rate_limit"),
            (
                #""hook_event_name":"Notification","notification_type":"idle_prompt","message":"Waiting for you""#,
                "Waiting for you"
            ),
        ] {
            let end = await
                (try hook(
                    "claude", #"{"session_id":"1f2e3d4c-aa","cwd":"/srv/site","# + payload + "}", in: belfry))
                .end()
            #expect(end.code == 0 && end.text.isEmpty)
            let said = try await belfry.json("messages", "site").list.first
            #expect(said?["text"].text == text && said?["thread"].text == "claude 1f2e3d4c")
        }
    }

    @Test func `withdraws its question when the agent was answered elsewhere`() async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        let run = try hook("claude", Self.permission("npm test"), in: belfry)
        let id = try await events.event("question.asked")["subject"].text
        run.process.signal(SIGKILL)
        #expect(try await events.event("question.withdrawn")["subject"].text == id)
    }

    @Test func `is put into the settings of the agent, once, and taken out again`() async throws {
        let belfry = try Belfry()
        let own = #"{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}"#
        let path = belfry.folder.file("settings.json")
        belfry.set("CLAUDE_CONFIG_DIR", belfry.folder.path)
        try belfry.write(own, to: "settings.json")
        func settings() throws -> JSON { try JSON(belfry.lines(of: "settings.json").joined(separator: "\n")) }
        let shown = try await belfry.run("hook", "install", "claude", "--dry-run")
        #expect(shown.code == 0 && belfry.lines(of: "settings.json") == [own])
        #expect(try await belfry.run("hook", "install", "claude").text.contains("is a hook of claude now"))
        let installed = try settings()
        #expect(belfry.lines(of: "settings.json").joined(separator: "\n") + "\n" == shown.text)
        let hook = installed["hooks"]?["PermissionRequest"]?.list.first?["hooks"]?.list.first
        #expect(hook?["command"].text == "belfry confirm --hook claude")
        #expect(installed["hooks"]?["Stop"]?.list.count == 2)
        #expect(try await belfry.run("hook", "install", "claude").text.contains("already"))
        #expect(try settings() == installed)
        #expect(try await belfry.run("hook", "remove", "claude").code == 0)
        #expect(try settings() == JSON(own))
        try belfry.write("{ broken", to: "settings.json")
        let refused = try await belfry.run("hook", "install", "claude")
        #expect(refused.code == 2 && refused.errors.contains("\(path) is not valid JSON"))
        #expect(belfry.lines(of: "settings.json") == ["{ broken"])
    }
}
