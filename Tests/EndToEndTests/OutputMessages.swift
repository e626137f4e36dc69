import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `the output of a job` {
    @Test func `is a message of its bot where it asks for that, in the file or on the command line`()
        async throws
    {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(
            """
            bots: { ops: {} }
            jobs:
              report:
                bot: ops
                schedule: manual
                shell: echo "$(seq 3)"; [ "$FAIL" = no ]
                env: { FAIL: no }
                notify: { message: output, output: tail }
            """, hook: hook)
        try await belfry.run("run", "report", "--follow")
        let group = try await hook.webhook { $0.type == "message.group" }
        #expect(group.data["item"]["key"].text == "thread:ops/report")
        let message = try #require(try await belfry.json("messages", "ops").list.first)
        #expect(message["text"].text == "1\n2\n3" && message["thread"].text == "report")
        #expect(try await belfry.run("job", "show", "report").text.contains("message: its output (tail)"))

        try await belfry.run(
            "job", "add", "quiet", "--every", "1h", "--notify-message", "output", "--", "true")
        try await belfry.run("run", "quiet", "--follow")
        #expect(
            try await belfry.json("job", "show", "quiet")["policies"]["notify"]["output"].text == "last-line")
        try await belfry.run("job", "edit", "quiet", "--notify-output", "all")
        #expect(try await belfry.json("job", "show", "quiet")["policies"]["notify"]["output"].text == "all")
        #expect(try await belfry.json("messages", "belfry").list.isEmpty)
        let refused = try await belfry.run(
            "job", "add", "wrong", "--every", "1h", "--notify-output", "all", "--", "true")
        #expect(refused.code == 2 && refused.errors.contains("applies only to message: output"))
    }
}
