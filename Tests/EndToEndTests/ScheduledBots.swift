import TestSupport
import Testing

/// The whole way of a scheduled prompt, with a bot that is a program of this machine.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a bot that is asked by the clock` {
    /// Keeps what it is asked, and waits in the middle of its reply for the file `go`.
    private static let script = """
        { cat; echo; echo --; } >> asked
        echo "Well."
        echo "The first half."
        until [ -e go ]; do sleep 0.05; done
        echo "The second half."

        """

    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    @Test func `is watched while it writes, rings once, and answers in the same thread`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try Belfry(hook: hook)
        try belfry.write(Self.script, to: "bot.sh")
        try belfry.configure(
            """
            bots: { porter: { backend: { kind: command, command: [sh, bot.sh] } } }
            jobs: { report: { schedule: "* * * * * *", bot: porter, prompt: "How is it going?" } }
            """)
        try await belfry.start()
        try await until { try await belfry.run("run", "show", "report#1").code == 0 }
        let watch = try ChildProcess(
            BuiltProgram.path("belfry"), ["watch", "report#1", "--json"], environment: belfry.environment)
        let follow = try ChildProcess(
            BuiltProgram.path("belfry"), ["watch", "report#1"], environment: belfry.environment)
        #expect(await watch.line { $0.contains(#""phase":"writing""#) && $0.contains(" word") } != nil)
        #expect(await follow.line { $0 == "  Well." } != nil)
        try await until { try await belfry.run("run", "logs", "report#1").text == "Well.\nThe first half." }
        try await belfry.run("job", "pause", "report")
        try belfry.write("", to: "go")
        let whole = "Well.\nThe first half.\nThe second half."
        #expect(try await belfry.run("run", "logs", "-f", "report#1").text == whole)
        try await until { try await belfry.json("run", "show", "report#1")["state"].text == "completed" }
        #expect(await watch.line { $0.contains(#""state":"completed""#) } != nil)
        #expect(await follow.line { $0 == "  The second half." } != nil)
        #expect(await follow.line { $0.contains("report#1 completed") } != nil)
        let messages = try await belfry.json("messages", "porter").list
        #expect(messages.last?["thread"].text == "report" && messages.last?["text"].text == whole)
        let rung = try await hook.webhook { $0.type == "message.group" }
        #expect(try #require(rung.data)["item"]["thread"].text == "report")
        #expect(try #require(rung.data)["item"]["last"].list.first?["text"].text == whole)
        let asked = try await belfry.run("ask", "porter", "--thread", "report", "And now?")
        #expect(asked.code == 0 && asked.text == whole + "\n")
        let prompts = belfry.lines(of: "asked").split(separator: "--")
        #expect(prompts.first?.first?.hasPrefix("[SCHEDULED TASK - ") == true)
        #expect(prompts.first?.last == "How is it going?")
        let last = try #require(prompts.last)
        #expect(last.contains("You: Well.") && last.last { $0.contains("And now?") } != nil)
    }
}
