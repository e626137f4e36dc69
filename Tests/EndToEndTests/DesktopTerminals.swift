import FoundationEssentials
import TestSupport
import Testing

/// What the buttons of notifications open.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a terminal opened by a button` {
    @Test func `shows the run's log, and a chat with the bot, and comes to the front`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try Belfry(
            """
            bots: { echo: { backend: { kind: command, command: [cat] } } }
            jobs: { bad: { schedule: manual, bot: echo, shell: exit 3 } }
            """, bus: bus)
        // The terminal of this machine: it prints what it was to run.
        let pipe = belfry.folder.file("opened")
        try FileManager.default.createDirectory(
            atPath: belfry.folder.file("bin"), withIntermediateDirectories: true)
        let program = belfry.folder.file("bin/x-terminal-emulator")
        try belfry.write(
            """
            #!/bin/sh
            printf '%s|%s|%s\\n' "$*" "$XDG_ACTIVATION_TOKEN" "$DISPLAY" >'\(pipe)'
            """, to: "bin/x-terminal-emulator")
        let reader = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "chmod +x '\(program)'; mkfifo '\(pipe)'; echo ready; exec cat <>'\(pipe)'",
            ])
        _ = await reader.line(where: { $0 == "ready" })
        belfry.set("DISPLAY", ":4711")
        belfry.set("PATH", belfry.folder.file("bin") + ":/usr/local/bin:/usr/bin:/bin")
        try await belfry.start()

        _ = try await belfry.run("run", "bad", "--follow")
        var end = try await server.next()
        while end?.actions.contains("run-again") == false { end = try await server.next() }
        let failed = try #require(end)
        #expect(Array(failed.actions.prefix(4)) == ["log", "Log", "run-again", "Run again"])
        try server.activate(failed.id, token: "token-1")
        try server.press("log", of: failed.id)
        let log = try #require(await reader.line(where: { $0.contains("|") }))
        #expect(log.contains("run logs bad#1 --follow|token-1|:4711"), "\(log)")

        let said = try await belfry.json("notify", "Shall I?", "--bot", "echo", "--thread", "plans")
        let id = try #require(said["id"].text)
        var asked = try await server.next()
        while asked?.actions.contains("reply") == false { asked = try await server.next() }
        try server.press("reply", of: try #require(asked).id)
        let chat = try #require(await reader.line(where: { $0.contains("|") }))
        #expect(chat.contains("chat echo --thread=plans --reply-to \(id)||:4711"), "\(chat)")

        // What the terminal would run, without one.
        let answer = try await belfry.run("chat", "echo", "--reply-to", id, input: "Yes\n")
        #expect(answer.code == 0, "\(answer.text)")
        let mine = try await belfry.json("messages", "echo").list.first { $0["text"].text == "Yes" }
        #expect(mine?["replyTo"].text == id && mine?["thread"].text == "plans")
    }
}
