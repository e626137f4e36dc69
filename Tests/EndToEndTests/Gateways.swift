import Foundation
import TestSupport
import Testing
import Tracking

/// The whole way of a bot that is an agent behind an OpenClaw gateway.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a bot behind a gateway` {
    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    /// A home whose bot `opta` is behind the gateway.
    private func home(
        _ gateway: GatewayEmulator, _ more: String = "", jobs: String = "", hook: HookServer? = nil
    ) throws -> Belfry {
        let belfry = try Belfry(hook: hook)
        try belfry.write("shared-token\n", to: "token")
        try belfry.configure(
            """
            bots:
              opta:
                backend: { kind: openclaw, url: "\(gateway.url)", token: { file: \(belfry.folder.file("token")) }\(more) }
            \(jobs)
            """)
        return belfry
    }

    @Test(arguments: [3, 4]) func `replies to what it is asked`(version: Int) async throws {
        var manner = GatewayEmulator.Manner()
        manner.version = version
        let gateway = try await GatewayEmulator(manner)
        gateway.reply(with: .init("The bells ", "are ", "fine."))
        let belfry = try home(gateway)
        try await belfry.start()
        let asked = try await belfry.run("ask", "opta", "How are the bells?")
        #expect(asked.code == 0 && asked.text == "The bells are fine.\n", "\(asked)")
        #expect(gateway.executed == ["How are the bells?"])
        let sent = gateway.requests.first { $0.method == "chat.send" }
        #expect(sent?.params["sessionKey"]?.text == "agent:main:main")
        #expect(sent?.params["deliver"] == .bool(true))
        #expect(gateway.requests.allSatisfy { $0.fault == nil })
        let bot = try await belfry.json("bot", "show", "opta")
        #expect(bot["backend"].text == "openclaw" && bot["status"].text == "online")
    }

    @Test func `is asked by the clock`() async throws {
        let gateway = try await GatewayEmulator()
        let belfry = try home(
            gateway, ", session: direct",
            jobs: "jobs: { report: { schedule: \"* * * * * *\", bot: opta, prompt: \"Report.\" } }")
        try await belfry.start()
        let sent = await gateway.request("chat.send")
        #expect(sent.params["message"]?.text?.contains("Report.") == true)
        try await until {
            try await belfry.json("runs", "report").list.contains { $0["state"].text == "completed" }
        }
        let messages = try await belfry.json("messages", "opta").list
        #expect(messages.contains { $0["text"].text == "Hello there" })
    }

    @Test func `is asked once, and its reply is kept whole, though the daemon is killed in the middle`()
        async throws
    {
        let gateway = try await GatewayEmulator()
        gateway.reply(with: .init("First ", "half, ", "second half.", pauseAfter: 2))
        let belfry = try home(
            gateway, ", session: direct",
            jobs: "jobs: { report: { schedule: manual, bot: opta, prompt: \"Report.\" } }")
        try await belfry.start()
        try await belfry.run("run", "report")
        _ = await gateway.request("chat.send")
        try await until {
            try await belfry.run("run", "logs", "report#1").text.hasPrefix("First half,")
        }
        try await belfry.kill()
        // Nobody listens while it ends.
        gateway.proceed()
        try await belfry.start()
        try await until { try await belfry.json("run", "show", "report#1")["state"].text == "completed" }
        #expect(gateway.executed.count == 1)
        let messages = try await belfry.json("messages", "opta").list
        #expect(messages.last?["text"].text == "First half, second half.")
    }

    @Test func `is asked once although the connection breaks in the middle`() async throws {
        let gateway = try await GatewayEmulator()
        gateway.reply(with: .init("One ", "two.", pauseAfter: 1))
        let belfry = try home(gateway, ", session: isolated")
        try await belfry.start()
        async let asked = belfry.run("ask", "opta", "Count.")
        _ = await gateway.request("chat.send")
        gateway.cut()
        _ = await gateway.request("connect")
        _ = await gateway.request("chat.history")
        gateway.proceed()
        #expect(try await asked.text == "One two.\n")
        #expect(gateway.executed.count == 1)
    }

    @Test func `has in its thread what was said to it elsewhere, and nothing twice`() async throws {
        let gateway = try await GatewayEmulator()
        let session = "agent:main:main"
        gateway.say("From the phone.", reply: "Noted.", in: session)
        let belfry = try home(gateway)
        try await belfry.start()
        try await until { try await belfry.json("messages", "opta").list.count == 2 }
        let first = try await belfry.json("messages", "opta").list
        try #require(first.map { $0["text"].text } == ["Noted.", "From the phone."])
        #expect(first[1]["from"].text == "user" && first[1]["sender"].text == "you, elsewhere")
        #expect(first.allSatisfy { $0["read"] == .bool(true) })
        #expect(try await belfry.run("ask", "opta", "And here?").text == "Hello there\n")
        gateway.say("From the tablet.", reply: "Seen.", in: session)
        let end = #"{"runId":"other","sessionKey":"agent:main:main","seq":2,"state":"final"}"#
        let payload = Tracking.JSON(parsing: Array(end.utf8)[...])
        gateway.send("chat", payload ?? .null)
        try await until { try await belfry.json("messages", "opta").list.count == 6 }
        let all = try await belfry.json("messages", "opta").list.map { $0["text"].text ?? "" }
        #expect(
            all.sorted() == [
                "And here?", "From the phone.", "From the tablet.", "Hello there", "Noted.", "Seen.",
            ])
        gateway.cut()
        _ = await gateway.request("connect")
        #expect(try await belfry.run("ask", "opta", "Once more?").code == 0)
        #expect(try await belfry.json("messages", "opta").list.count == 8)
        #expect(gateway.executed == ["And here?", "Once more?"])
    }

    @Test func `has a state of its own beside those behind other gateways`() async throws {
        let (good, strict) = (try await GatewayEmulator(), try await GatewayEmulator())
        strict.change { $0.token = "their-token" }
        let belfry = try Belfry()
        for (name, token) in [("good", "shared-token"), ("strict", "old-token")] {
            try belfry.write("\(token)\n", to: name)
        }
        func bot(_ name: String, _ gateway: GatewayEmulator) -> String {
            let token = belfry.folder.file(name)
            return
                "\(name): { backend: { kind: openclaw, url: \"\(gateway.url)\", token: { file: \(token) } } }"
        }
        try belfry.configure("bots:\n  \(bot("good", good))\n  \(bot("strict", strict))\n")
        try await belfry.start()
        try await until { try await belfry.json("bot", "show", "good")["status"].text == "online" }
        try await until { try await belfry.json("bot", "show", "strict")["status"].text == "blocked" }
        let bots = try await belfry.json("bot", "list").list
        let (fine, refused) = (
            bots.first { $0["name"].text == "good" }, bots.first { $0["name"].text == "strict" }
        )
        #expect(fine?["reason"].text == nil && fine?["since"].text != nil)
        #expect(refused?["reason"].text == "tokenRefused" && refused?["since"].text != nil)
        #expect(refused?["message"].text?.contains("refused the token") == true)
        let list = try await belfry.run("bot", "list").text.split(separator: "\n")
        #expect(list.first?.contains("SINCE") == true)
        #expect(list.first { $0.contains("strict") }?.contains("blocked") == true)
        #expect(list.first { $0.contains("good") }?.contains("online") == true)
        let findings = try await belfry.run("doctor").text
        let place = "127.0.0.1:\(strict.port)"
        #expect(findings.contains("bot \"strict\" is blocked since 20"))
        #expect(findings.contains(": the gateway at \(place) refused the token"))
        // Its key's file is open to others, as the other's is: that is all.
        #expect(
            !findings.contains("bot \"good\" is blocked") && !findings.contains("bot \"good\" is offline"))
        #expect(!findings.contains("old-token"), "\(findings)")
        let event = try await belfry.events().event("bot.status")
        #expect(event["bot"].text == "strict" && event["reason"].text == "tokenRefused")
        // Each has its own key and its own token, and what fails at one is nothing to the other.
        #expect(try await belfry.run("ask", "good", "Hi").text == "Hello there\n")
        let (one, other) = (good.requests.first?.params, strict.requests.first?.params)
        #expect(
            one?["auth"]?["token"]?.text == "shared-token" && other?["auth"]?["token"]?.text == "old-token")
        #expect(one?["device"]?["id"]?.text != other?["device"]?["id"]?.text)
        try belfry.write("their-token\n", to: "strict")
        try await belfry.run("reload")
        try await until { try await belfry.json("bot", "show", "strict")["status"].text == "online" }
        #expect(try await belfry.run("ask", "strict", "Hi").text == "Hello there\n")
        #expect(good.executed == ["Hi"] && strict.executed == ["Hi"])
    }

    @Test func `is blocked with the command that approves the device`() async throws {
        var manner = GatewayEmulator.Manner()
        manner.wantsApproval = true
        let gateway = try await GatewayEmulator(manner)
        let belfry = try home(gateway)
        try await belfry.start()
        try await until { try await belfry.json("bot", "show", "opta")["status"].text == "blocked" }
        let bot = try await belfry.json("bot", "show", "opta")
        #expect(bot["reason"].text == "pairing")
        #expect(
            bot["message"].text?.hasSuffix("wants this device approved; openclaw devices approve r-1") == true
        )
        #expect(try await belfry.run("bot", "list").text.contains("blocked"))
        let test = try await belfry.run("bot", "test", "opta")
        #expect(test.code == 1 && test.text.contains("openclaw devices approve r-1"))
        let findings = try await belfry.run("doctor").text
        #expect(findings.contains("openclaw devices approve r-1"), "\(findings)")
        let event = try await belfry.events().event("bot.status")
        #expect(event["reason"].text == "pairing")
        gateway.approve()
        try await belfry.run("reload")
        try await until { try await belfry.json("bot", "show", "opta")["status"].text == "online" }
        #expect(try await belfry.run("ask", "opta", "Hi").text == "Hello there\n")
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the check of a gateway` {
    @Test func `prints what works, and fails where it is refused`() async throws {
        let gateway = try await GatewayEmulator()
        let folder = try TemporaryFolder()
        let token = folder.file("token")
        try Data("shared-token\n".utf8).write(to: URL(fileURLWithPath: token))
        let good = try ChildProcess(
            BuiltProgram.path("bench"),
            [
                "gateway-check", gateway.url, "--token-file", token, "--ask", "--write", "--deliver",
                "telegram:123",
            ])
        var lines: [String] = []
        for await line in good.lines { lines.append(line) }
        #expect(await good.status() == 0, "\(lines)")
        #expect(lines.contains { $0.contains("chat.send") && $0.contains("\"Hello there\"") }, "\(lines)")
        let methods = [
            "health", "status", "agents.list", "sessions.list", "chat.history", "agent.wait", "cron.status",
            "cron.list", "cron.runs", "chat.send", "agent ", "send ", "cron.add", "cron.get", "cron.update",
            "cron.run ", "cron.remove", "wake",
        ]
        for method in methods {
            #expect(lines.contains { $0.contains("  \(method)") && $0.contains(" ok ") })
        }
        #expect(!lines.contains { $0.contains("fails") } && gateway.requests.allSatisfy { $0.fault == nil })
        let bad = try ChildProcess(BuiltProgram.path("bench"), ["gateway-check", gateway.url])
        var words: [String] = []
        for await line in bad.lines { words.append(line) }
        #expect(await bad.status() == 1)
        #expect(words.contains { $0.contains("connect") && $0.contains("wants a token") }, "\(words)")
    }
}
