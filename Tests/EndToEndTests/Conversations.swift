import TestSupport
import Testing

/// What people say to bots, and a provider of the bots: a real server that answers by a script.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a conversation with a bot` {
    /// A reply of these pieces as a stream of OpenAI's dialect.
    private static func chat(_ pieces: String...) -> String {
        pieces.map { #"data: {"choices":[{"index":0,"delta":{"content":"\#($0)"}}]}"# + "\n\n" }.joined()
            + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"# + "\n\n"
            + "data: [DONE]\n\n"
    }

    private func config(_ server: ProviderServer, _ more: String = "") -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small\(more)
        jobs:
          news: { schedule: manual, bot: sage, prompt: "What is new?" }
        """
    }

    /// Waits until something is so; the time limit ends a wait that is in vain.
    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    /// The turns of a request, as `user: text`.
    private func turns(_ request: ProviderServer.Request) throws -> [String] {
        try JSON(request.body)["messages"].list.map {
            "\($0["role"].text ?? ""): \($0["content"].text ?? "")"
        }
    }

    private func texts(_ belfry: Belfry) async throws -> [String] {
        try await belfry.json("messages", "sage").list.reversed().map {
            "\($0["from"].text ?? ""): \($0["text"].text ?? "")"
        }
    }

    @Test func `prints the reply to ask while it comes, and keeps both sides as messages`() async throws {
        let server = try await ProviderServer(
            .init(Self.chat("Four", ", I", " think.")), .init(Self.chat("No.")))
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(config(server), hook: hook)
        let asked = try await belfry.run("ask", "sage", "What is 2 & 2?")
        #expect(asked.code == 0 && asked.text == "Four, I think.\n")
        let first = try await server.request()
        #expect(try turns(first).count == 1)
        #expect(
            first.body.contains(
                "<context timezone=\\\"UTC\\\" />\\n<messages>\\n<message sender=\\\"user\\\""))
        #expect(first.body.contains(">What is 2 &amp; 2?</message>\\n</messages>"))
        #expect(try await texts(belfry) == ["user: What is 2 & 2?", "bot: Four, I think."])
        let rung = try await hook.webhook { $0.type == "message.group" }
        #expect(try #require(rung.data)["item"]["last"].list.last?["text"].text == "Four, I think.")
        // The next question continues the conversation.
        #expect(try await belfry.run("ask", "sage", "Are you sure?").text == "No.\n")
        let second = try turns(try await server.request())
        #expect(second.count == 3 && second[1] == "assistant: Four, I think.")
        #expect(second[0].contains("What is 2") && second[2].contains("Are you sure?"))
    }

    @Test func `answers what waits together, oldest first, and jobs before it`() async throws {
        let part = #"data: {"choices":[{"index":0,"delta":{"content":"one"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang), .init(Self.chat("ok")))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("send", "sage", "first")
        _ = try await server.request()
        try await until {
            try await belfry.json("run", "show", "sage.reply#1")["live"]["phase"].text == "writing"
        }
        try await belfry.run("send", "sage", "second")
        try await belfry.run("send", "sage", "third")
        try await belfry.run("run", "news")
        try await belfry.run("run", "cancel", "sage.reply")
        // What was cancelled after it had begun to come is kept as far as it came.
        try await until { try await texts(belfry).contains("bot: one\n\n[The reply ends here: cancelled]") }
        var requests: [String] = []
        while requests.count < 2 {
            let line = try await server.line()
            if line != "left" { requests.append(line) }
        }
        #expect(requests[0].contains("What is new?") && !requests[0].contains("second"))
        let second = try #require(requests[1].firstRange(of: ">second<"))
        #expect(requests[1][second.upperBound...].contains(">third<"))
        try await until { try await texts(belfry).last == "bot: ok" }
    }

    @Test func `answers together what was said while its provider was away`() async throws {
        let port = try RefusingPort.makeFree()
        let belfry = try await Belfry.start(
            """
            bots:
              sage:
                backend: { kind: openai, url: "http://127.0.0.1:\(port)/v1", allow: [127.0.0.1/32] }
                model: small
            """)
        for text in ["first", "second", "third"] {
            #expect(try await belfry.run("send", "sage", text).code == 0)
        }
        let said = try await belfry.json("messages", "sage").list.map { $0["id"].text }
        try await until { try await !belfry.json("runs", "sage.reply").list.isEmpty }
        // The attempt that is due or under way now is in vain as well; the next ones know all that was said.
        let attempt = try #require(try await belfry.json("run", "show", "sage.reply#1")["attempt"].integer)
        try await until {
            try await belfry.json("run", "show", "sage.reply#1")["attempt"].integer ?? 0 > attempt
        }
        let server = try await ProviderServer(.init(Self.chat("ok")), at: port)
        let asked = try turns(try await server.request())
        let first = try #require(asked.first?.firstRange(of: ">first<"))
        let second = try #require(asked.first?.firstRange(of: ">second<"))
        let third = try #require(asked.first?.firstRange(of: ">third<"))
        #expect(first.upperBound <= second.lowerBound && second.upperBound <= third.lowerBound)
        #expect(asked.count == 1)
        try await until { try await texts(belfry).contains("bot: ok") }
        #expect(try await texts(belfry) == ["user: first", "user: second", "user: third", "bot: ok"])
        let kept = try await belfry.json("messages", "sage").list.map { $0["id"].text }
        #expect(Array(kept.dropFirst()) == said)
    }

    @Test func `answers many messages ten at a time, and none that was withdrawn`() async throws {
        let part = #"data: {"choices":[{"index":0,"delta":{"content":"one"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang), .init(Self.chat("ok")))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("run", "news")
        _ = try await server.request()
        try await belfry.run("send", "sage", "withdrawn")
        try await until { try await !belfry.json("runs", "sage.reply").list.isEmpty }
        try await belfry.run("run", "cancel", "sage.reply")
        for number in 1...12 { try await belfry.run("send", "sage", "number \(number)") }
        try await belfry.run("run", "cancel", "news")
        try await until { try await texts(belfry).filter { $0 == "bot: ok" }.count == 2 }
        var requests: [String] = []
        while requests.count < 2 {
            let line = try await server.line()
            if line != "left" { requests.append(line) }
        }
        // What was withdrawn comes with what was said next.
        #expect(requests[0].contains(">withdrawn<") && requests[0].contains(">number 9<"))
        #expect(!requests[0].contains(">number 10<"))
        #expect(requests[1].contains(">number 12<"))
        #expect(
            try await belfry.json("runs", "sage.reply").list.map { $0["state"].text }
                == ["completed", "completed", "canceled"])
    }

    @Test func `loses and doubles nothing when the daemon is killed`() async throws {
        let part = #"data: {"choices":[{"index":0,"delta":{"content":"The first half"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang), .init(Self.chat("All of it.")))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("send", "sage", "Tell me.")
        _ = try await server.request()
        try await belfry.restart()
        try await until { try await texts(belfry).count > 1 }
        #expect(try await texts(belfry) == ["user: Tell me.", "bot: All of it."])
        #expect(try await belfry.json("runs", "sage.reply").list.count == 1)
    }

    @Test func `reports why a bot did not reply, and asks with the next message again`() async throws {
        let refusal = #"{"error":{"message":"no","type":"invalid_request_error"}}"#
        let server = try await ProviderServer(
            .init(refusal, status: 400, type: "application/json"), .init(Self.chat("Both.")))
        let belfry = try await Belfry.start(config(server))
        let asked = try await belfry.run("ask", "sage", "One?")
        #expect(asked.code == 1 && asked.errors.contains("sage did not reply: 127.0.0.1 "))
        _ = try await server.request()
        #expect(try await belfry.run("ask", "sage", "Two?").text == "Both.\n")
        let again = try await belfry.run("run", "retry", "sage.reply#1")
        #expect(again.errors.contains("answered what people said to sage") && again.code != 0)
        let last = try turns(try await server.request())
        #expect(last.count == 1 && last[0].contains(">One?<") && last[0].contains(">Two?<"))
    }

    @Test func `is no longer waited for when the time of ask is over`() async throws {
        let part = #"data: {"choices":[{"index":0,"delta":{"content":"late"}}]}"# + "\n\n"
        let server = try await ProviderServer(.init(part, then: .hang))
        let belfry = try await Belfry.start(config(server))
        let asked = try await belfry.run("ask", "sage", "Quick?", "--wait", "1s")
        #expect(asked.code == 6 && asked.errors.contains("sage has not replied in time"))
        // A busy machine may need longer than that to ask.
        try await until { try await belfry.json("run", "show", "sage.reply")["state"].text == "running" }
    }

    @Test func `says at the end of that time what a reply waits for`() async throws {
        let server = try await ProviderServer(
            .init(#"{"error":{"message":"slow down"}}"#, status: 429, headers: ["Retry-After": "600"]))
        let belfry = try await Belfry.start(config(server))
        let asking = try ChildProcess(
            BuiltProgram.path("belfry"), ["ask", "sage", "Quick?", "--wait", "45s"],
            environment: belfry.environment, streams: .bothInLines)
        let line = await asking.line { $0.contains("has not replied in time") }
        let reason = "the provider received too many requests; waits for the next attempt"
        #expect(line?.contains("in time: " + reason) == true, "\(line ?? "")")
        #expect(await asking.status() == 6)
    }

    @Test func `says once why a reply waits, though there is no terminal`() async throws {
        let server = try await ProviderServer(
            .init(#"{"error":{"message":"slow down"}}"#, status: 429, headers: ["Retry-After": "600"]))
        let belfry = try await Belfry.start(config(server))
        func ask(_ text: String) throws -> ChildProcess {
            try ChildProcess(
                BuiltProgram.path("belfry"), ["ask", "sage", text], environment: belfry.environment,
                streams: .bothInLines)
        }
        func why(_ asking: ChildProcess) async -> String {
            await asking.line { $0.hasPrefix("belfry: ") } ?? "nothing"
        }
        let turn = "; the message waits for its turn"
        let first = try ask("One?")
        let reason = await why(first)
        // A slow machine may not have begun when a word is due.
        #expect(
            reason == "belfry: sage has not replied yet: the provider received too many requests; "
                + "waits for the next attempt" || reason.hasSuffix(turn), "\(reason)")
        // No run is given what is said behind it.
        let second = try ask("Two?")
        let waiting = await why(second)
        #expect(waiting.hasPrefix("belfry: sage is ") && waiting.hasSuffix(turn), "\(waiting)")
        try await belfry.run("run", "cancel", "sage.reply")
        // It was said once: the next line is the end of it.
        #expect(await why(first) == "belfry: cancelled")
        #expect(await first.status() == 1)
        second.signal(15)
        _ = await second.status()
    }

    @Test func `is refused with a bot that answers nobody, and one that nobody knows`() async throws {
        let belfry = try await Belfry.start("bots: { ops: { backend: command } }")
        let silent = try await belfry.run("send", "ops", "hello")
        #expect(silent.code == 2 && silent.errors.contains("bot \"ops\" answers nobody"))
        let unknown = try await belfry.run("ask", "opps", "hello")
        #expect(unknown.code == 4 && unknown.errors.contains("Did you mean \"ops\"?"))
        #expect(try await belfry.run("send", "ops", " ").code == 2)
        #expect(try await belfry.run("bot", "reset", "nobody").code == 4)
    }

    // MARK: Sessions

    @Test func `stands alone with session run, and after a reset`() async throws {
        let server = try await ProviderServer(.init(Self.chat("ok")))
        let belfry = try await Belfry.start(config(server))
        func ask(_ text: String) async throws -> [String] {
            try await belfry.run("ask", "sage", text)
            let request = try await server.request()
            return try turns(request)
        }
        #expect(try await ask("one").count == 1)
        #expect(try await ask("two").count == 3)
        #expect(try await belfry.run("bot", "reset", "sage").text == "sage started a new session.\n")
        #expect(try await ask("three").count == 1)
        #expect(try await ask("four").count == 3)
        try belfry.configure(config(server, "\n    session: run"))
        try await belfry.run("reload")
        #expect(try await ask("five").count == 1)
    }

    @Test func `shows its bot what its memory file says, and why it can't`() async throws {
        let server = try await ProviderServer(.init(Self.chat("ok")))
        let belfry = try Belfry()
        try belfry.write("The backup disk is called attic.\n", to: "memory.md")
        try belfry.configure(
            config(server, "\n    system: You are brief.\n    memory: \(belfry.folder.file("memory.md"))"))
        try await belfry.start()
        try await belfry.run("ask", "sage", "Which disk?")
        let request = try await server.request()
        #expect(
            try turns(request).first
                == "system: You are brief.\n\n<memory>\nThe backup disk is called attic.\n</memory>")
        try belfry.write(String(repeating: "x", count: 70_000), to: "memory.md")
        let failed = try await belfry.run("ask", "sage", "And now?")
        #expect(failed.code == 1 && failed.errors.contains("its memory can't be read"))
        #expect(failed.errors.contains("check bots.sage.memory"))
        try belfry.write("a secret", to: "id_rsa")
        _ = try await belfry.shell("cd \(belfry.folder.path) && ln -sf id_rsa memory.md")
        let linked = try await belfry.run("ask", "sage", "And now?")
        #expect(linked.code == 1 && linked.errors.contains("is a symbolic link"), "\(linked)")
    }

    // MARK: More than text

    @Test func `gives files, quotes and reactions to the bot`() async throws {
        let server = try await ProviderServer(.init(Self.chat("I see.")))
        let belfry = try await Belfry.start(config(server))
        try belfry.write("1 < 2\n", to: "sums.txt")
        try await belfry.run("ask", "sage", "Look.", "--file", belfry.folder.file("sums.txt"))
        #expect(
            try await server.request().body.contains(
                #"Look.\n  <attachment name=\"sums.txt\" bytes=\"6\">1 &lt; 2\n</attachment></message>"#))
        let reply = try #require(try await belfry.json("messages", "sage").list.first?["id"].text)
        #expect(try await belfry.run("react", reply, "👍").code == 0)
        #expect(try await belfry.json("messages", "show", reply)["reactions"].list == [.text("👍")])
        try await belfry.run("ask", "sage", "What?", "--reply-to", reply)
        let body = try await server.request().body
        #expect(
            body.contains(
                #"reply_to=\"\#(reply)\">\n  <quoted_message from=\"sage\">I see.</quoted_message>What?"#))
        #expect(body.contains("[USER_REACTION: 👍] to: I see."))
        // The bot is shown a reaction once.
        try await belfry.run("ask", "sage", "And?")
        #expect(try await !server.request().body.contains("USER_REACTION"))
        let asked = try await belfry.json("messages", "--search", "Look").list.first
        #expect(asked?["attachments"].list.first?["name"].text == "sums.txt")
    }

    @Test func `refuses a file that is too large, or is none`() async throws {
        let server = try await ProviderServer(.init(Self.chat("ok")))
        let belfry = try await Belfry.start(config(server))
        try belfry.write(String(repeating: "x", count: 5 * 1024 * 1024 + 1), to: "large")
        let large = try await belfry.run("send", "sage", "Look.", "--file", belfry.folder.file("large"))
        #expect(large.code == 2 && large.errors.contains("is larger than 5 MiB"))
        let folder = try await belfry.run("send", "sage", "Look.", "--file", belfry.folder.path)
        #expect(folder.code == 2 && folder.errors.contains("it is no regular file"))
        try belfry.write(String(repeating: "x", count: 5 * 1024 * 1024), to: "fits")
        #expect(try await belfry.run("send", "sage", "Look.", "--file", belfry.folder.file("fits")).code == 0)
    }

    @Test func `hands over what mentions another bot, and ends a loop of bots`() async throws {
        let server = try await ProviderServer(.init(Self.chat("@local and @sage, go on.")))
        let backend = "{ kind: openai, url: \"\(server.url("/v1"))\", allow: [127.0.0.1/32] }"
        let belfry = try await Belfry.start(
            config(server, "\n  local: { backend: \(backend), model: tiny }"))
        try await belfry.run("send", "sage", "Ask @local what it thinks.")
        func handed() async throws -> [String] {
            try await belfry.json("messages", "--limit", "100").list.reversed().filter {
                $0["from"].text == "user"
            }.map {
                "\($0["sender"].text ?? "me") to \($0["bot"].text ?? "")"
            }
        }
        // One hop to local by the person; then each reply hands over, three hops at most.
        try await until {
            let open = try await belfry.json("runs").list.filter { $0["state"].text != "completed" }
            let count = try await handed().count
            return open.isEmpty && count >= 5
        }
        let all = try await handed()
        #expect(all.first == "me to sage" && all.contains("me to local") && all.contains("sage to local"))
        #expect(all.count < 20)
    }

    @Test func `is exported whole, oldest first`() async throws {
        let server = try await ProviderServer(.init(Self.chat("# not a heading")))
        let belfry = try await Belfry.start(config(server))
        try await belfry.run("ask", "sage", "Write Markdown.")
        let text = try await belfry.run("messages", "sage", "--export", "md").text
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.first == "# sage: main")
        #expect(lines.filter { $0.hasPrefix("> ") } == ["> Write Markdown.", "> # not a heading"])
        #expect(lines.contains { $0.hasPrefix("**you**, ") } && lines.contains { $0.hasPrefix("**sage**, ") })
        let json = try JSON(try await belfry.run("messages", "sage", "--export", "json").text)
        #expect(json.list.map { $0["from"].text } == ["user", "bot"])
        #expect(try await belfry.json("messages", "--since", "1h").list.count == 2)
        #expect(try await belfry.json("messages", "--since", "2100-01-01").list.isEmpty)
    }
}
