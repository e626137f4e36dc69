import TestSupport
import Testing

/// A conversation that its model can't be shown whole any more, with a provider that is a server of the test.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a long conversation with a bot` {
    private static func chat(_ text: String) -> ProviderServer.Answer {
        .init(
            #"data: {"choices":[{"index":0,"delta":{"content":"\#(text)"},"finish_reason":"stop"}]}"#
                + "\n\ndata: [DONE]\n\n")
    }

    private func turns(_ server: ProviderServer) async throws -> [String] {
        try JSON(try await server.request().body)["messages"].list.map {
            "\($0["role"].text ?? ""): \($0["content"].text ?? "")"
        }
    }

    @Test func `goes on with a summary, which a killed daemon makes again and keeps once`() async throws {
        let long = String(repeating: "long ", count: 140)
        let server = try await ProviderServer(
            Self.chat("Green. " + long), Self.chat("Black. " + long), .init("", then: .mute),
            Self.chat("They want green tea."), Self.chat("Third."), Self.chat("Fourth."), Self.chat("Fifth."))
        let belfry = try await Belfry.start(
            """
            bots:
              sage:
                backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
                model: small
                maxTokens: 200
                context: 1200
            """)
        #expect(try await belfry.run("ask", "sage", "one " + long).code == 0)
        #expect(try await belfry.run("ask", "sage", "two " + long).code == 0)
        #expect(try await turns(server).count == 1)
        #expect(try await turns(server).count == 3)

        try await belfry.run("send", "sage", "three")
        try await expectSummaryRequest(of: server)
        // The daemon ends before the summary comes: the next one asks for it again.
        try await belfry.restart()
        try await expectSummaryRequest(of: server)
        let third = try await turns(server)
        #expect(third.count == 3 && third[0].contains("They want green tea.") && third[0].contains(">two "))
        #expect(!third[0].contains(">one ") && third[2].contains(">three<"), "\(third)")
        while try await belfry.json("messages", "sage").list.first?["text"].text != "Third." {
            try Task.checkCancellation()
        }

        let session = try await belfry.json("bot", "show", "sage")["session"]
        #expect(session["summary"].text == "They want green tea." && session["messages"].integer == 6)
        #expect(
            try await belfry.run("bot", "show", "sage").text.contains("the older ones as the bot's summary"))
        let shown = try await belfry.run("bot", "show", "sage", "--session").text
        #expect(
            shown.contains("thread    main\n") && shown.hasSuffix("\n\nThey want green tea.\n"), "\(shown)")
        #expect(try await belfry.json("bot", "show", "sage", "--session")["messages"].integer == 6)
        // It is not made again, neither now nor by another daemon.
        try await belfry.restart()
        #expect(try await belfry.run("ask", "sage", "four").text == "Fourth.\n")
        let fourth = try await turns(server)
        #expect(fourth.count == 5 && fourth[0] == third[0] && fourth[4].contains(">four<"), "\(fourth)")
        // A new session knows nothing.
        #expect(try await belfry.run("bot", "reset", "sage").code == 0)
        #expect(try await belfry.run("ask", "sage", "five").text == "Fifth.\n")
        #expect(try await turns(server).count == 1)
        #expect(try await belfry.json("bot", "show", "sage")["session"]["summary"].text == nil)
    }

    private func expectSummaryRequest(of server: ProviderServer) async throws {
        let asked = try await turns(server)
        #expect(asked.count == 3 && asked[0].contains(">one ") && asked[1].hasPrefix("assistant: Green."))
        #expect(asked[2].hasPrefix("user: [SUMMARY REQUEST - "), "\(asked)")
    }
}
