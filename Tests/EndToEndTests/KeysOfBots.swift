import TestSupport
import Testing

/// Where the key of a bot is read, and what happens to a bot whose key its provider refuses.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the key of a bot` {
    private static let reply =
        #"data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#
        + "\n\ndata: [DONE]\n\n"

    private func config(_ server: ProviderServer, key: String) -> String {
        """
        bots:
          sage:
            backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
            model: small
            key: { \(key) }
        """
    }

    @Test(arguments: ["file: secrets/sage", "credential: sage", "env: SAGE_KEY"])
    func `is read from a file, a credential of systemd or a variable, and stays there`(place: String)
        async throws
    {
        let server = try await ProviderServer(.init(Self.reply))
        let folder = try TemporaryFolder()
        let key = place.replacing("secrets", with: folder.file("secrets"))
        let belfry = try Belfry(config(server, key: key), in: folder)
        #expect(try await belfry.shell("mkdir secrets && echo sk-of-the-test >secrets/sage").code == 0)
        belfry.set("CREDENTIALS_DIRECTORY", folder.file("secrets"))
        belfry.set("SAGE_KEY", "sk-of-the-test")
        try await belfry.start()
        let asked = try await belfry.run("ask", "sage", "Hi?")
        #expect(asked.code == 0 && asked.text == "Hello\n", "\(asked)")
        #expect(try await server.request().headers["authorization"] == "Bearer sk-of-the-test")
        #expect(try await belfry.shell("grep -rlc sk-of-the \(belfry.statePath)").text == "")
        let shown = try await belfry.run("bot", "show", "sage", "--json").text
        #expect(!shown.contains("sk-of-the"))
    }

    @Test func `that is refused shows since when its bot can't be asked, also after a restart`() async throws
    {
        let server = try await ProviderServer(
            .init(
                #"{"error":{"message":"no","code":"invalid_api_key"}}"#, status: 401, type: "application/json"
            ))
        let belfry = try Belfry(config(server, key: "env: SAGE_KEY"))
        belfry.set("SAGE_KEY", "sk-of-the-test")
        try await belfry.start()
        let feed = try belfry.events()
        #expect(try await belfry.run("ask", "sage", "Hi?").code == 1)
        func bot() async throws -> JSON {
            let listed = try await belfry.json("bot", "list").list
            return try #require(listed.first { $0["name"].text == "sage" })
        }
        let news = try await feed.event("bot.status")
        #expect(news["data"]["status"].text == "blocked", "\(news)")
        let before = try await bot()
        let since = try #require(before["since"].text)
        #expect(before["status"].text == "blocked" && before["reason"].text == "auth", "\(before)")
        try await belfry.restart()
        let after = try await bot()
        #expect(after["status"].text == "blocked" && after["since"].text == since, "\(after)")
    }
}
