import TestSupport
import Testing

/// Replies that a person types into a notification, where the desktop takes them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a reply typed on the desktop` {
    @Test func `is said to the bot, which answers it in the same notification`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(
            at: bus.address, "--capabilities", "actions,body,inline-reply")
        let belfry = try await Belfry.start(
            "bots: { echo: { backend: { kind: command, command: [sh, -c, 'echo heard; cat'] } }, ops: }",
            bus: bus)
        try await belfry.run("notify", "What now?", "--bot", "ops")
        #expect(try await server.next()?.actions.contains("inline-reply") == false, "it only speaks")
        let said = try await belfry.json("notify", "What now?", "--bot", "echo")
        let shown = try #require(try await server.next())
        #expect(Array(shown.actions.prefix(4)) == ["default", "Mark as read", "inline-reply", "Reply"])
        #expect(Array(shown.actions.suffix(2)) == ["mute", "Mute echo"])
        try server.reply("Do the dishes; $(reboot)", to: shown.id)
        var answer = try await server.next()
        while answer?.body.hasPrefix("heard") == false { answer = try await server.next() }
        #expect(answer?.summary == "echo")
        let messages = try await belfry.json("messages", "echo").list
        let mine = try #require(messages.first { $0["from"].text == "user" })
        #expect(mine["text"].text == "Do the dishes; $(reboot)" && mine["replyTo"] == said["id"])
    }
}
