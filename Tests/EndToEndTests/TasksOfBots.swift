import Foundation
import TestSupport
import Testing

/// What a bot does by its tools, over MCP.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `tools of a bot` {
    private static func config(_ server: ProviderServer, _ home: String) -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            memory: \(home)/memory.md
            sandbox: { read: [\(home)/docs] }
            web: { allow: [127.0.0.1/32], search: { kind: searxng, url: "\(server.url())", allow: [127.0.0.1/32] } }
            tools: [schedule_task, list_tasks, pause_task, resume_task, cancel_task, update_task, fetch_url,
              web_search, memory, read_file, list_files, run_job]
        jobs:
          ship: { schedule: manual, shell: "echo shipped" }
        """
    }

    private func answers(_ belfry: Belfry, _ calls: [String]) async throws -> [String] {
        let answers = try await belfry.tools("sage", "[\(calls.joined(separator: ","))]")
        #expect(answers.allSatisfy { $0["isError"] == .bool(false) }, "\(answers)")
        return answers.map { $0["text"].text ?? "" }
    }

    @Test func `schedule its tasks, and deal with them`() async throws {
        let server = try await ProviderServer(.init("{}"))
        let folder = try TemporaryFolder()
        let belfry = try Belfry(Self.config(server, folder.path), in: folder)
        try await belfry.start()
        let texts = try await answers(
            belfry,
            [
                #"["schedule_task",{"name":"plants","prompt":"Water them","words":"every weekday at 9:30"}]"#,
                #"["schedule_task",{"prompt":"Once","at":"2031-05-01T09:00"}]"#,
                #"["pause_task",{"name":"plants","note":"rain"}]"#,
                #"["list_tasks",{}]"#,
                #"["resume_task",{"name":"plants"}]"#,
                #"["update_task",{"name":"plants","prompt":"Water all","cron":"0 7 * * *"}]"#,
                #"["run_job",{"name":"ship"}]"#,
            ])
        #expect(texts[0].hasPrefix("scheduled as plants: "), "\(texts)")
        #expect(texts[1].contains("next at 2031-05-01T09:00:00Z"), "\(texts)")
        #expect(
            texts[3].contains("plants | ") && texts[3].contains("| paused | prompt: Water them"), "\(texts)")
        #expect(texts[6] == "ship#1 completed\nshipped\n", "\(texts)")
        let job = try await belfry.json("job", "show", "plants")
        #expect(job["bot"].text == "sage" && job["prompt"].text == "Water all")
        #expect(job["schedule"]["text"].text == "0 7 * * *")
        #expect(try await answers(belfry, [#"["cancel_task",{"name":"plants"}]"#]) == ["plants is removed"])
        #expect(try await belfry.run("job", "show", "plants").code == 4)
    }

    @Test func `deal with the tasks of other bots by a grant alone, each verb of them`() async throws {
        let server = try await ProviderServer(.init("{}"))
        let verbs = "list_tasks, pause_task, resume_task, update_task, cancel_task"
        let backend =
            "backend: { kind: openai, url: \"\(server.url("/v1"))\", allow: [127.0.0.1/32] }, model: small"
        let belfry = try await Belfry.start(
            """
            bots:
              sage: { \(backend), tools: [schedule_task] }
              boss: { \(backend), tools: [\(verbs), all_tasks] }
              peer: { \(backend), tools: [\(verbs)] }
            """)
        _ = try await answers(
            belfry, [#"["schedule_task",{"name":"plants","prompt":"Water them","cron":"0 9 * * *"}]"#])
        func call(_ bot: String, _ verb: String, _ more: String = "") async throws -> (String, Bool) {
            let answer = try await belfry.tools(bot, #"[["\#(verb)",{"name":"plants"\#(more)}]]"#)
            let first = try #require(answer.first)
            return (first["text"].text ?? "", first["isError"] == .bool(true))
        }
        func job() async throws -> JSON { try await belfry.json("job", "show", "plants") }
        // Without the grant it is as if there were none.
        #expect(
            try await belfry.tools("peer", #"[["list_tasks",{}]]"#).first?["text"].text
                == "there are no tasks")
        for (verb, more) in [
            ("pause_task", ""), ("resume_task", ""), ("update_task", #","prompt":"x""#), ("cancel_task", ""),
        ] {
            let (text, isError) = try await call("peer", verb, more)
            #expect(isError && text.hasPrefix("you have no task \"plants\""), "\(verb): \(text)")
        }
        #expect(try await job()["prompt"].text == "Water them")
        let listed = try #require(try await belfry.tools("boss", #"[["list_tasks",{}]]"#).first)
        #expect(listed["text"].text?.hasPrefix("plants | of sage | ") == true, "\(listed)")
        #expect(try await call("boss", "pause_task", #","note":"rain""#).0 == "plants is paused")
        #expect(try await job()["paused"]["note"].text == "rain")
        #expect(try await call("boss", "resume_task").0.hasPrefix("plants runs again: "))
        #expect(try await job()["paused"]["note"].text == nil)
        #expect(
            try await call("boss", "update_task", #","prompt":"Water all""#).0.hasPrefix(
                "plants is changed: "))
        let changed = try await job()
        #expect(changed["prompt"].text == "Water all" && changed["bot"].text == "sage", "\(changed)")
        #expect(try await call("boss", "cancel_task").0 == "plants is removed")
        #expect(try await belfry.run("job", "show", "plants").code == 4)
    }

    @Test func `keep its memory, and read the folders it may read`() async throws {
        let server = try await ProviderServer(.init("{}"))
        let folder = try TemporaryFolder()
        let home = folder.path
        #expect(try await Shell.run("cd \(home) && mkdir -p docs/a && echo plain > docs/a/plain.txt") == 0)
        let belfry = try Belfry(Self.config(server, home), in: folder)
        try await belfry.start()
        let texts = try await answers(
            belfry,
            [
                #"["memory",{"action":"read"}]"#, #"["memory",{"action":"append","text":"Likes tea."}]"#,
                #"["memory",{"action":"replace","section":"Plans","text":"Paris"}]"#,
                #"["memory",{"action":"replace","section":"Plans","text":"Rome"}]"#,
                #"["memory",{"action":"read"}]"#, #"["list_files",{}]"#, #"["list_files",{"path":"a"}]"#,
                #"["read_file",{"path":"\#(home)/docs/a/plain.txt"}]"#,
                #"["read_file",{"path":"a/plain.txt","from":2}]"#,
            ])
        #expect(texts[0] == "your memory is empty")
        #expect(texts[4] == "Likes tea.\n\n## Plans\nRome")
        #expect(texts[5...] == ["\(home)/docs", "plain.txt  6 bytes", "plain\n", "ain\n"])
    }

    @Test func `read pages as text, and search`() async throws {
        let page =
            "<html><head><title>Tea</title><script>var a = '<p>no</p>'</script></head>"
            + "<body><h1>Green &amp; black</h1><p>One<br>two</p><!-- hidden --></body></html>"
        let results =
            #"{"results":[{"title":"Tea <b>house</b>","url":"https://tea.example/","content":"Open daily"}]}"#
        let server = try await ProviderServer(
            .init(page, type: "text/html"), .init("", status: 302, headers: ["Location": "/other"]),
            .init("plain", type: "text/plain"), .init(results, type: "application/json"))
        let folder = try TemporaryFolder()
        let belfry = try Belfry(Self.config(server, folder.path), in: folder)
        try await belfry.start()
        let texts = try await answers(
            belfry,
            [
                #"["fetch_url",{"url":"\#(server.url("/a"))"}]"#,
                #"["fetch_url",{"url":"\#(server.url("/b"))"}]"#,
                #"["web_search",{"query":"tea & cake","count":3}]"#,
            ])
        #expect(texts[0] == "Tea\nGreen & black\nOne\ntwo")
        #expect(texts[1] == "plain")
        #expect(texts[2] == "1. Tea house\n   https://tea.example/\n   Open daily")
        let paths = try await [
            server.request().path, server.request().path, server.request().path, server.request().path,
        ]
        #expect(paths == ["/a", "/b", "/other", "/search?q=tea%20%26%20cake&format=json"])
    }
}

/// A program that is a bot, and is given its tools as an MCP server.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a program that is a bot with tools` {
    /// Does what Claude Code does with the servers of its configuration, and replies what a call returned.
    private static let claude = #"""
        import json, os, subprocess, sys
        words = sys.argv
        config = json.loads(words[words.index("--mcp-config") + 1])["mcpServers"]["belfry"]
        server = subprocess.Popen(
            [config["command"], *config["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **config["env"]})
        def ask(number, method, params):
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            server.stdin.write(line.encode() + b"\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())["result"]
        ask(1, "initialize", {"protocolVersion": "2025-11-25"})
        names = [tool["name"] for tool in ask(2, "tools/list", {})["tools"]]
        allowed = words[words.index("--allowedTools") + 1]
        said = ask(3, "tools/call", {"name": "report_progress", "arguments": {"progress": 0.5, "phase": "half"}})
        text = " ".join(names + [allowed, said["content"][0]["text"]])
        print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": text}))

        """#

    @Test func `calls them as part of its run`() async throws {
        let belfry = try Belfry(
            """
            bots:
              cc: { backend: { kind: command, command: [python3, bot.py], output: claude }, tools: [report_progress] }
            jobs:
              news: { schedule: manual, bot: cc, prompt: "What is new?" }
            """)
        try belfry.write(Self.claude, to: "bot.py")
        try await belfry.start()
        let answer = try await belfry.run("run", "news", "--follow")
        #expect(answer.code == 0, "\(answer)")
        let messages = try await belfry.json("messages", "cc").list.map { $0["text"].text }
        #expect(messages == ["report_progress mcp__belfry__report_progress shown"])
        let calls = try await belfry.json("run", "show", "news#1")["calls"].list
        #expect(calls.map { $0["tool"].text } == ["report_progress"])
        #expect(calls.first?["arguments"].text == #"{"progress":0.5,"phase":"half"}"#)
    }

    /// Does what Codex does with its settings, words of TOML, and replies what a call returned.
    private static let codex = #"""
        import json, os, subprocess, sys, tomllib
        config = {}
        for flag, word in zip(sys.argv, sys.argv[1:]):
            if flag == "-c":
                config |= tomllib.loads(word)["mcp_servers"]["belfry"]
        server = subprocess.Popen(
            [config["command"], *config["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **config["env"]})
        def ask(number, method, params):
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            server.stdin.write(line.encode() + b"\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())["result"]
        ask(1, "initialize", {"protocolVersion": "2025-06-18"})
        said = ask(2, "tools/call", {"name": "report_progress", "arguments": {"phase": "half"}})
        text = said["content"][0]["text"]
        print(json.dumps({"type": "thread.started", "thread_id": "th-1"}))
        print(json.dumps({"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": text}}))
        print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}))

        """#

    @Test func `is started by the words that Codex is given`() async throws {
        let belfry = try Belfry(
            """
            bots:
              cx: { backend: { kind: command, command: [python3, bot.py], output: codex }, tools: [report_progress] }
            jobs:
              news: { schedule: manual, bot: cx, prompt: "What is new?" }
            """)
        try belfry.write(Self.codex, to: "bot.py")
        try await belfry.start()
        let answer = try await belfry.run("run", "news", "--follow")
        #expect(answer.code == 0, "\(answer)")
        #expect(try await belfry.json("messages", "cx").list.map { $0["text"].text } == ["shown"])
        let calls = try await belfry.json("run", "show", "news#1")["calls"].list
        #expect(calls.map { $0["tool"].text } == ["report_progress"])
    }
}
