import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the commands of talk` {
    @Test func `keep messages until they are read`() async throws {
        let belfry = try await Belfry.start("bots: { ops: }")
        let said = try await belfry.json(
            "notify", "the tape is full", "--bot", "ops", "--thread", "tapes", "--title", "Tape", "--urgency",
            "critical")
        try await belfry.run("notify", "-", "--bot", "other", input: "from\nstandard input")
        let all = try await belfry.json("messages").list
        #expect(all.map { $0["text"].text } == ["from\nstandard input", "the tape is full"])
        #expect(try await belfry.json("messages", "ops").list.map { $0["id"] } == [said["id"]])
        #expect(try await belfry.json("messages", "--search", "STANDARD").list.count == 1)
        #expect(try await belfry.json("messages", "--search", "STANDARD", "--bot", "ops").list.isEmpty)
        #expect(try await belfry.run("messages", "ops", "--bot", "other").code == 2)
        #expect(said["thread"].text == "tapes")
        #expect(said["from"].text == "bot")
        #expect(said["read"] == .bool(false))

        let bots = try await belfry.json("bot", "list").list
        #expect(bots.map { $0["name"].text } == ["ops", "other"])
        #expect(try await belfry.json("bot", "show", "ops")["unread"].integer == 1)
        #expect(try await belfry.run("read", said["id"].text ?? "").code == 0)
        #expect(try await belfry.json("bot", "show", "ops")["unread"].integer == 0)
        #expect(try await belfry.json("messages", "ops").list.first?["read"] == .bool(true))
        #expect(try await belfry.run("pin", said["id"].text ?? "").text == "Pinned.\n")
        #expect(try await belfry.json("messages", "ops").list.first?["pinned"] == .bool(true))
        #expect(try await belfry.run("messages", "ops").text.contains { $0 == "★" || $0 == "+" })
        #expect(try await belfry.run("pin", said["id"].text ?? "", "--undo").code == 0)
        #expect(try await belfry.json("messages", "ops").list.first?["pinned"] == .bool(false))
    }

    @Test func `accept any text as text`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(hook: hook)
        let texts = [
            "<b>bold</b> & \"quoted\"", "$(touch ~/pwned); `id`", "\u{202E}reversed", "e\u{301}", "👩‍👩‍👧",
        ]
        for text in texts {
            #expect(try await belfry.run("notify", text, "--urgency", "critical").code == 0)
        }
        #expect(try await belfry.json("messages").list.map { $0["text"].text } == texts.reversed())
        #expect(belfry.lines(of: "pwned").isEmpty)
        #expect(try await hook.webhook().isVerified)
        for empty in ["", " \n\t"] {
            let refused = try await belfry.run("notify", "-", input: empty)
            #expect(refused.code == 2)
            #expect(refused.errors.contains("nothing to say"))
        }
    }
}
