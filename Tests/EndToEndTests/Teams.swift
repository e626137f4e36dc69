import Foundation
import TestSupport
import Testing

/// Bots that hand work to bots: each has a provider of its own, a server of the test.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a bot with a team` {
    private static func reply(_ text: String) -> ProviderServer.Answer {
        .init(
            #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"},"finish_reason":"stop"}]}"#
                + "\n\ndata: [DONE]\n\n")
    }

    /// The same of a provider that reports what it used.
    private static func reply(_ text: String, tokens: Int) -> ProviderServer.Answer {
        .init(
            #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"},"finish_reason":"stop"}]}"# + "\n\n"
                + #"data: {"choices":[],"usage":{"prompt_tokens":\#(tokens),"completion_tokens":1}}"#
                + "\n\ndata: [DONE]\n\n")
    }

    private static func delegation(_ tasks: String) -> ProviderServer.Answer {
        let text = #"{"tasks":[\#(tasks)]}"#.replacing("\"", with: "\\\"")
        return .init(
            #"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"delegate","arguments":"\#(text)"}}]}}]}"#
                + "\n\n" + #"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#
                + "\n\ndata: [DONE]\n\n")
    }

    private static let both =
        #"{"bot":"scribe","prompt":"Write the report"},{"bot":"critic","prompt":"Find its faults"}"#

    private static func bot(_ name: String, _ server: ProviderServer, _ more: String = "") -> String {
        """
          \(name):
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            \(more)

        """
    }

    private static func config(_ lead: ProviderServer, _ scribe: ProviderServer, _ critic: ProviderServer)
        -> String
    {
        "bots:\n" + bot("lead", lead, "team: [scribe, critic]") + bot("scribe", scribe)
            + bot("critic", critic)
            + "jobs:\n  plan: { schedule: manual, bot: lead, prompt: \"Plan it\" }\n"
    }

    /// What the lead was shown as the result of its call.
    private func result(_ request: ProviderServer.Request) throws -> String {
        try JSON(request.body)["messages"].list.last?["content"].text ?? ""
    }

    @Test func `gets a result of each, with a daemon that is killed meanwhile`() async throws {
        let lead = try await ProviderServer(Self.delegation(Self.both), Self.reply("All done."))
        let scribe = try await ProviderServer(.init("", then: .mute), Self.reply("Written."))
        let critic = try await ProviderServer(Self.reply("Two faults."))
        let belfry = try await Belfry.start(Self.config(lead, scribe, critic))
        let feed = try belfry.events()
        #expect(try await belfry.run("run", "plan").code == 0)
        _ = try await scribe.request()
        let asked = try JSON(try await critic.request().body)["messages"].list.last?["content"].text
        #expect(asked?.hasPrefix("[SUBTASK - ") == true && asked?.hasSuffix("Find its faults") == true)
        _ = try await feed.event("run.completed", of: "critic.delegated")

        try await belfry.restart()
        let after = try belfry.events()
        _ = try await after.event("run.completed", of: "plan")
        let runs = try await belfry.json("runs").list
        #expect(
            Set(runs.compactMap { $0["name"].text }) == [
                "plan#1", "scribe.delegated#1", "critic.delegated#1",
            ])
        #expect(runs.allSatisfy { $0["state"].text == "completed" }, "\(runs)")
        _ = try await lead.request()
        let text = try result(try await lead.request())
        #expect(text.contains("## 1. scribe (scribe.delegated#1): completed\nWritten."), "\(text)")
        #expect(text.contains("## 2. critic (critic.delegated#1): completed\nTwo faults."), "\(text)")
        let child = try await belfry.json("run", "show", "scribe.delegated#1")
        #expect(child["parent"].text == "plan#1" && child["kind"].text == "delegated")
        let parts = try await belfry.json("run", "show", "plan#1")["live"]["tasks"].list
        #expect(parts.map { $0["id"].text } == ["scribe.1", "critic.1"], "\(parts)")
        // Its live state ends a moment after the run does.
        try await belfry.until {
            try await belfry.json("run", "show", "plan#1")["live"]["tasks"].list.allSatisfy {
                $0["state"].text == "done"
            }
        }
        // One message: the bots of the team reply to the lead alone.
        let messages = try await belfry.json("messages").list.filter { $0["from"].text == "bot" }
        #expect(messages.map { $0["text"].text } == ["All done."])
        // Whose daemon was not killed was asked once.
        await lead.stop()
        await critic.stop()
        await #expect(throws: (any Error).self) { try await lead.request() }
        await #expect(throws: (any Error).self) { try await critic.request() }
    }

    @Test func `is not refused what it handed out before a crash, though its team could do no more`()
        async throws
    {
        let used = Self.reply("Two faults.", tokens: 50)
        let lead = try await ProviderServer(Self.delegation(Self.both), Self.reply("All done."))
        let scribe = try await ProviderServer(.init("", then: .mute), Self.reply("Written."))
        let critic = try await ProviderServer(used)
        let belfry = try await Belfry.start(
            "bots:\n" + Self.bot("lead", lead, "team: [scribe, critic]") + Self.bot("scribe", scribe)
                + Self.bot("critic", critic, "budget: { tokens: 10, per: month }")
                + "jobs:\n  plan: { schedule: manual, bot: lead, prompt: \"Plan it\" }\n")
        let feed = try belfry.events()
        #expect(try await belfry.run("run", "plan").code == 0)
        _ = try await scribe.request()
        _ = try await feed.event("run.completed", of: "critic.delegated")
        // Its run is reported before it lets go of its bot.
        while try await belfry.json("bot", "show", "critic")["status"].text != "blocked" {
            try Task.checkCancellation()
        }
        try await belfry.restart()
        let after = try belfry.events()
        _ = try await after.event("run.completed", of: "plan")
        _ = try await lead.request()
        let text = try result(try await lead.request())
        #expect(text.contains("completed\nWritten.") && text.contains("completed\nTwo faults."), "\(text)")
    }

    @Test func `that is canceled cancels what it handed out`() async throws {
        let lead = try await ProviderServer(Self.delegation(Self.both), Self.reply("All done."))
        let (scribe, critic) = (
            try await ProviderServer(.init("", then: .mute)), try await ProviderServer(.init("", then: .mute))
        )
        let belfry = try await Belfry.start(Self.config(lead, scribe, critic))
        let feed = try belfry.events()
        #expect(try await belfry.run("run", "plan").code == 0)
        _ = try await scribe.request()
        _ = try await critic.request()
        #expect(try await belfry.run("run", "cancel", "plan").code == 0)
        var open: Set = ["plan", "scribe.delegated", "critic.delegated"]
        while !open.isEmpty {
            let event = try await feed.event("run.canceled")
            open.remove(event["job"].text ?? "")
        }
        // Nobody asks the lead again.
        #expect(try await belfry.json("runs").list.allSatisfy { $0["state"].text == "canceled" })
        _ = try await lead.request()
        await lead.stop()
        await #expect(throws: (any Error).self) { try await lead.request() }
    }

    @Test func `is refused whom it may not ask, and what is too much`() async throws {
        let eleven = Array(repeating: #"{"bot":"scribe","prompt":"x"}"#, count: 11).joined(separator: ",")
        let lead = try await ProviderServer(
            Self.delegation(#"{"bot":"root","prompt":"x"}"#), Self.delegation(eleven),
            Self.delegation(#"{"bot":"scribe"}"#), Self.reply("I gave up."))
        let other = try await ProviderServer(Self.reply("?"))
        let belfry = try await Belfry.start(Self.config(lead, other, other))
        #expect(try await belfry.run("run", "plan", "--follow").code == 0)
        _ = try await lead.request()
        #expect(
            try result(try await lead.request())
                == "\"root\" is not of your team. Your team: scribe, critic.")
        #expect(try result(try await lead.request()) == "tasks: is not a list of 1 to 10")
        #expect(try result(try await lead.request()) == "tasks: number 1: prompt: is missing")
        #expect(try await belfry.json("runs").list.count == 1)
    }

    @Test func `is refused a bot whose budget is used up`() async throws {
        let lead = try await ProviderServer(
            Self.delegation(#"{"bot":"critic","prompt":"Find its faults"}"#), Self.reply("I gave up."))
        let critic = try await ProviderServer(Self.reply("Two faults.", tokens: 50))
        let belfry = try await Belfry.start(
            "bots:\n" + Self.bot("lead", lead, "team: [critic]")
                + Self.bot("critic", critic, "budget: { tokens: 10, per: month }") + "jobs:\n"
                + "  judge: { schedule: manual, bot: critic, prompt: \"Judge it\" }\n"
                + "  plan: { schedule: manual, bot: lead, prompt: \"Plan it\" }\n")
        for job in ["judge", "plan"] {
            #expect(try await belfry.run("run", job, "--follow").code == 0)
        }
        _ = try await lead.request()
        let text = try result(try await lead.request())
        #expect(text.hasPrefix("critic: its budget for "), "\(text)")
        let names = try await belfry.json("runs").list.compactMap { $0["name"].text }
        #expect(Set(names) == ["judge#1", "plan#1"])
    }

    @Test func `that leads back to itself is refused`() async throws {
        let server = try await ProviderServer(Self.reply("?"))
        let belfry = try Belfry(
            "bots:\n" + Self.bot("one", server, "team: [two]") + Self.bot("two", server, "team: [one]"))
        let answer = try await belfry.run("config", "check", "--config", belfry.configPath)
        #expect(answer.code == 2)
        #expect("\(answer)".contains("the team leads back to the bot: one -> two -> one"), "\(answer)")
    }
}
