import TestSupport
import Testing

/// Jobs that are prompts, and a provider of their bots: a real server that answers by a script.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job that is a prompt` {
    /// What stands before the prompt of a job.
    private static let taskLine =
        "[SCHEDULED TASK - The following message was sent automatically and is not coming directly from the "
        + "user or group.]\n\n"

    private static let reply = Self.chat("Hello", " there,\\nall is well.")

    /// A reply of these pieces as a stream of OpenAI's dialect.
    private static func chat(_ pieces: String...) -> String {
        pieces.map { #"data: {"choices":[{"index":0,"delta":{"content":"\#($0)"}}]}"# + "\n\n" }.joined()
            + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"# + "\n\n"
            + "data: [DONE]\n\n"
    }

    /// The same with what it used.
    private static let counted = reply.replacing(
        "data: [DONE]",
        with:
            #"data: {"choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":34,"prompt_tokens_details":{"cached_tokens":200}}}"#
            + "\n\ndata: [DONE]")

    private func config(_ server: ProviderServer, _ job: String = "") -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            system: You are brief.
        jobs:
          news: { schedule: manual, bot: sage, prompt: "What is new?"\(job) }
        """
    }

    /// Waits until something is so; the time limit ends a wait that is in vain.
    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    @Test func `asks its bot, keeps the reply as a message of the job's thread, and rings`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(config(server), hook: hook)
        let run = try await belfry.run("run", "news", "--follow")
        #expect(run.code == 0)
        let request = try await server.request()
        #expect(request.path == "/v1/chat/completions")
        #expect(request.body.contains("You are brief.") && request.body.contains("What is new?"))
        let messages = try await belfry.json("messages", "sage").list
        #expect(messages.map { $0["text"].text } == ["Hello there,\nall is well."])
        #expect(messages.first?["thread"].text == "news" && messages.first?["run"].text != nil)
        let rung = try await hook.webhook { $0.type == "message.group" }
        #expect(
            try #require(rung.data)["item"]["last"].list.first?["text"].text == "Hello there,\nall is well.")
        #expect(try await belfry.run("run", "logs", "news#1").text.hasPrefix("Hello there,\nall is well."))
    }

    @Test func `is shown what was said before in its thread with a session of its own`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try await Belfry.start(config(server, ", session: bot"))
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let task = Self.taskLine + "What is new?"
        func turns() async throws -> [String] {
            try JSON(try await server.request().body)["messages"].list.map {
                "\($0["role"].text ?? ""): \($0["content"].text ?? "")"
            }
        }
        #expect(try await turns() == ["system: You are brief.", "user: \(task)"])
        #expect(
            try await turns() == [
                "system: You are brief.", "user: [MESSAGE OF THE BOT]",
                "assistant: Hello there,\nall is well.", "user: \(task)",
            ])
        let shown = try await belfry.run("job", "show", "news").text
        #expect(shown.contains("its bot sees what was said before"))
    }

    @Test func `asks only when its wake script finds something, and shows why it did not`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try Belfry(
            config(server, ", wake: { command: [sh, wake.sh] }"))
        try belfry.write(
            "cat news 2>/dev/null; [ ! -e broken ] || { echo no network >&2; exit 4; }", to: "wake.sh")
        try await belfry.start()
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let skipped = try await belfry.json("run", "show", "news#1")
        #expect(skipped["state"].text == "skipped" && skipped["reason"].text == "nothingToDo")
        #expect(try await belfry.json("messages", "sage").list.isEmpty)
        let reason = "the wake script sh wake.sh found nothing to do"
        #expect(try await belfry.run("run", "show", "news#1").text.contains(reason))
        try belfry.write("two mails\n", to: "news")
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let body = try JSON(try await server.request().body)
        #expect(
            body["messages"].list.last?["content"].text
                == Self.taskLine + "Script output:\ntwo mails\n\nInstructions:\nWhat is new?")
        let messages = try await belfry.json("messages", "sage").list
        #expect(messages.map { $0["text"].text } == ["Hello there,\nall is well."])
        try belfry.write("", to: "broken")
        #expect(try await belfry.run("run", "news", "--follow").code == 1)
        let failed = try await belfry.json("run", "show", "news#3")
        #expect(failed["state"].text == "failed" && failed["reason"].text == "wakeScript")
        let why = "the wake script sh wake.sh failed with exit code 4: no network"
        #expect(try await belfry.run("run", "show", "news#3").text.contains(why))
        #expect(try await belfry.run("job", "show", "news").text.contains("asks if: sh wake.sh"))
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "online")
    }

    @Test func `shows what it used, and what that cost`() async throws {
        let server = try await ProviderServer(.init(Self.counted))
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(
            config(server).replacing(
                "model: small", with: "model: small\n    price: { input: 3, output: 15 }"),
            hook: hook)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        for run in try await [belfry.json("run", "show", "news#1")] + belfry.json("runs").list {
            let usage = run["usage"]
            #expect(usage["inputTokens"].integer == 1200 && usage["outputTokens"].integer == 34)
            // 1000 at $3, 200 of the cache at a tenth of it, and 34 at $15 a million.
            #expect(usage["cachedTokens"].integer == 200 && usage["costUsd"].number == 0.00357)
        }
        let shown = try await belfry.run("run", "show", "news#1").text
        #expect(shown.contains("1,200 input tokens (200 cached), 34 output tokens, $0.0036"))
        let sent = try await hook.webhook { $0.type == "run.completed" }
        #expect(try #require(sent.data)["run"]["usage"]["outputTokens"].integer == 34)
    }

    @Test func `fails at once when the budget is used up, until it is raised`() async throws {
        let server = try await ProviderServer(.init(Self.counted))
        let hook = try await Belfry.receiver()
        func bot(_ usd: String) -> String {
            config(server).replacing(
                "model: small",
                with: "model: small\n    price: { input: 3, output: 15 }\n    budget: { usd: \(usd) }")
        }
        let belfry = try await Belfry.start(bot("0.004"), hook: hook)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let near = try await hook.webhook { $0.type == "bot.budget" }
        #expect(try #require(near.data)["bot"]["budget"]["costUsd"].number == 0.00357)
        // $0.00043 are left: one more is asked, and is not cut.
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let end = try await hook.webhook { $0.type == "bot.budget" }
        #expect(try #require(end.data)["reason"].text == "budgetReached")
        #expect(try await belfry.run("run", "news", "--follow").code == 1)
        let run = try await belfry.json("run", "show", "news#3")
        #expect(run["state"].text == "failed" && run["reason"].text == "budget" && run["usage"] == nil)
        let shown = try await belfry.json("bot", "show", "sage")
        #expect(shown["status"].text == "blocked" && shown["reason"].text == "budget")
        #expect(shown["usage"]["month"]["inputTokens"].integer == 2400)
        #expect(shown["usage"]["totalReplies"].integer == 2 && shown["budget"]["leftUsd"].number == 0)
        #expect(shown["firstWordMs"].number != nil && shown["latencyMs"].number != nil)
        let text = try await belfry.run("bot", "show", "sage").text
        #expect(text.contains("2 replies: 2,400 input tokens (400 cached), 68 output tokens, $0.0071"))
        #expect(text.contains("$0.00 left of $0.0040"))
        #expect(try await belfry.run("status").text.contains("1 blocked (sage)"))
        try belfry.configure(bot("1"))
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "online")
    }

    @Test func `has a bot that can be tested without it`() async throws {
        let models = ProviderServer.Answer(#"{"data":[{"id":"small"}]}"#, type: "application/json")
        let server = try await ProviderServer(
            .init(#"{"error":{"message":"no"}}"#, status: 401, type: "application/json"), models, models,
            .init(Self.counted))
        let belfry = try await Belfry.start(config(server))
        let refused = try await belfry.run("bot", "test", "sage")
        #expect(refused.code == 1)
        #expect(refused.text.contains("failed  key           127.0.0.1 refused the key (401)"))
        let blocked = try await belfry.json("bot", "show", "sage")
        #expect(blocked["status"].text == "blocked" && blocked["reason"].text == "auth")
        #expect(blocked["lastError"]["message"].text?.hasPrefix("sage: 127.0.0.1 refused the key") == true)
        #expect(try await belfry.run("bot", "test", "sage").code == 0)
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "online")
        let asked = try await belfry.run("bot", "test", "sage", "--ask", "--json")
        #expect(asked.code == 0)
        let steps = try asked.json()["steps"].list
        #expect(steps.last?["step"].text == "reply" && steps.last?["outcome"].text == "ok")
        #expect(try await belfry.json("bot", "show", "sage")["usage"]["total"]["outputTokens"].integer == 34)
        #expect(try await belfry.run("bot", "test", "nobody").code == 4)
    }

    @Test func `leaves its bot offline while its key can't be read, and everything else runs`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try Belfry()
        let key = belfry.folder.file("key")
        try belfry.configure(
            """
            bots:
              sage:
                backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
                model: small
                key: { file: \(key) }
            jobs:
              news: { schedule: manual, bot: sage, prompt: "What is new?" }
              other: { schedule: manual, shell: "true" }
            """)
        try await belfry.start()
        let event = try await belfry.events().event("config.partial")
        #expect(event["bot"].text == "sage")
        let bot = try await belfry.json("bot", "list").list.first { $0["name"].text == "sage" }
        #expect(bot["status"].text == "offline" && bot["reason"].text == "badSecret")
        #expect(bot["message"].text?.contains("can't be read from file \(key)") == true)
        #expect(try await belfry.run("run", "other", "--follow").code == 0)
        #expect(try await belfry.run("run", "news", "--follow").code == 1)
        let problem = try await belfry.json("status")["problems"].list.first {
            $0["kind"].text == "configPartial"
        }
        #expect(problem["message"].text?.hasPrefix("bot \"sage\"") == true)
        // What else changed comes in meanwhile.
        let text = belfry.lines(of: "belfry.yaml").joined(separator: "\n")
        try belfry.write(
            text.replacing("jobs:", with: "  porter: { backend: { kind: command } }\njobs:"),
            to: "belfry.yaml")
        let reload = try await belfry.run("reload")
        #expect(reload.code == 0 && reload.errors.contains("bot \"sage\" at "))
        #expect(try await belfry.json("bot", "show", "porter")["origin"].text == "file")
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "offline")
        try belfry.write("sk-late\n", to: "key")
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "online")
    }

    @Test func `fails with the provider's reason, without the key, and is not tried again; other bots go on`()
        async throws
    {
        let good = try await ProviderServer(.init(Self.reply))
        let server = try await ProviderServer(
            .init(
                #"{"error":{"message":"bad key sk-wrong","type":"invalid_request_error"}}"#, status: 401,
                type: "application/json"))
        let belfry = try Belfry()
        try belfry.write("sk-wrong\n", to: "key")
        try belfry.configure(
            """
            bots:
              sage:
                backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
                model: small
                key: { file: \(belfry.folder.file("key")) }
              well:
                backend: { kind: openai, url: "\(good.url("/v1"))", allow: [127.0.0.1/32] }
                model: small
            jobs:
              news: { schedule: manual, bot: sage, prompt: "What is new?", retry: { attempts: 3, backoff: 1s } }
              other: { schedule: manual, bot: well, prompt: "What is new?" }
            """)
        try await belfry.start()
        let run = try await belfry.run("run", "news", "--follow")
        #expect(run.code == 1 && !run.text.contains("sk-wrong"))
        let why = "sage: 127.0.0.1 refused the key (401); check bots.sage.key"
        #expect(run.text.split(separator: "\n").last == "  \(why)")
        #expect(try await belfry.run("runs").text.contains("failed: \(why)"))
        let row = try await belfry.json("run", "show", "news#1")
        #expect(row["state"].text == "failed" && row["reason"].text == "auth" && row["attempt"].integer == 1)
        let shown = try await belfry.run("run", "show", "news#1").text
        #expect(shown.contains("sage: 127.0.0.1 refused the key (401); check bots.sage.key"))
        #expect(!shown.contains("sk-wrong"))
        #expect(try await belfry.run("run", "other", "--follow").code == 0)
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "blocked")
        #expect(try await belfry.json("bot", "show", "well")["status"].text == "online")
    }

    @Test func `is lost when the daemon dies, and its part of the reply stays`() async throws {
        let part = #"data: {"choices":[{"index":0,"delta":{"content":"The first half"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang), .init(Self.reply))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("run", "news")
        _ = try await server.request()
        try await until { try await belfry.run("run", "logs", "news#1").text.hasPrefix("The first half") }
        try await belfry.restart()
        try await until { try await belfry.json("run", "show", "news#1")["state"].text == "lost" }
        #expect(try await belfry.json("run", "show", "news#1")["reason"].text == "streamCut")
        #expect(try await belfry.run("run", "logs", "news#1").text.hasPrefix("The first half"))
        #expect(try await belfry.json("messages", "sage").list.isEmpty)
    }

    @Test func `shows its bot thinking and writing, and ends when it is canceled`() async throws {
        let part =
            #"data: {"choices":[{"index":0,"delta":{"content":"one two three"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("run", "news")
        try await until {
            let live = try await belfry.json("run", "show", "news#1")["live"]
            return live["phase"].text == "writing" && live["message"].text == "3 words"
        }
        try await belfry.run("run", "cancel", "news#1")
        try await until { try await belfry.json("run", "show", "news#1")["state"].text == "canceled" }
    }

    @Test func `shows its bot thinking before its first word`() async throws {
        let thought =
            #"data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(thought, then: .hang))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("run", "news")
        try await until {
            try await belfry.json("run", "show", "news#1")["live"]["phase"].text == "thinking"
        }
        #expect(try await belfry.run("run", "logs", "news#1").text.isEmpty)
        try await belfry.run("run", "cancel", "news#1")
    }

    @Test func `waits for its bot's lane`() async throws {
        let part = #"data: {"choices":[{"index":0,"delta":{"content":"one"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang))
        let belfry = try await Belfry.start(
            config(server) + "\n  other: { schedule: manual, bot: sage, prompt: \"And then?\" }")
        try await belfry.run("run", "news")
        _ = try await server.request()
        try await belfry.run("run", "other")
        try await until { try await belfry.json("run", "show", "other#1")["reason"].text == "lane" }
        let wait = try await belfry.json("run", "show", "other#1")["waitsFor"]
        #expect(wait["kind"].text == "lane" && wait["name"].text == "sage" && wait["before"].integer == 1)
        #expect(try await belfry.json("runs", "other").list.first?["waitsFor"]["kind"].text == "lane")
        #expect(
            try await belfry.run("run", "show", "other#1").text.contains(
                "queued: waits for sage, 1 before it\n"))
        let watch = try ChildProcess(
            BuiltProgram.path("belfry"), ["watch", "other#1"], environment: belfry.environment)
        #expect(await watch.line { $0.hasSuffix("other#1 queued, waits for sage, 1 before it") } != nil)
        try await belfry.run("run", "cancel", "news#1")
        // The first one's leaving and the second one's coming may be seen in any order.
        while try await !server.line().contains("And then?") {}
    }
}
