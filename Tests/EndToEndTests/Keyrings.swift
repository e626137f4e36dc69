import TestSupport
import Testing

/// Secrets of the session's keyring: a real one, GNOME Keyring, on a bus of its own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a key in the keyring` {
    private static let reply =
        #"data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#
        + "\n\ndata: [DONE]\n\n"

    private func home(_ server: ProviderServer, _ keyring: Keyring) throws -> Belfry {
        let belfry = try Belfry(
            """
            bots:
              sage:
                backend: { kind: openai, url: "\(server.url("/v1"))", allow: [127.0.0.1/32] }
                model: small
                key: { service: sage }
            jobs:
              news: { schedule: manual, bot: sage, prompt: "What is new?" }
            """)
        belfry.set("DBUS_SESSION_BUS_ADDRESS", keyring.bus.address)
        return belfry
    }

    @Test func `is read where it is not locked, and goes to the provider alone`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let keyring = try await Keyring()
        try await keyring.store("sk-of-the-ring", as: "sage")
        let belfry = try home(server, keyring)
        try await belfry.start()
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try await server.request().headers["authorization"] == "Bearer sk-of-the-ring")
        #expect(try await belfry.shell("grep -c sk-of-the \(belfry.statePath)/ledger.sqlite*").code == 1)
    }

    @Test func `that can't be read leaves its bot offline with what to do, and is read at a reload`()
        async throws
    {
        let server = try await ProviderServer(.init(Self.reply))
        let keyring = try await Keyring()
        let belfry = try home(server, keyring)
        func check() async throws -> String {
            try await belfry.run("belfryd", ["--check", "--config", belfry.configPath]).errors
        }
        #expect(
            try await check().contains(
                "the secret can't be read from secret service sage: the keyring has no secret with belfry=sage; "
                    + "store it with: secret-tool store --label \"Belfry sage\" belfry sage"))
        try await keyring.store("one", as: "sage")
        try await keyring.store("two", as: "sage", label: "another")
        #expect(try await check().contains("the keyring has 2 secrets with belfry=sage"))
        try await keyring.lock()
        #expect(try await check().contains("the keyring is locked; unlock it"))
        try await belfry.start()
        let bot = try await belfry.json("bot", "show", "sage")
        #expect(bot["status"].text == "offline")
        #expect(bot["message"].text?.contains("the keyring is locked") == true)
        let other = try await Keyring()
        try await other.store("sk-other", as: "sage")
        try await belfry.kill()
        belfry.set("DBUS_SESSION_BUS_ADDRESS", other.bus.address)
        try await belfry.start()
        #expect(try await belfry.json("bot", "show", "sage")["status"].text == "online")
    }

    @Test func `needs a keyring in the session`() async throws {
        let server = try await ProviderServer(.init(Self.reply))
        let belfry = try Belfry(
            "bots:\n  sage: { backend: openai, url: \"\(server.url("/v1"))\", allow: [127.0.0.1/32], "
                + "model: m, key: { service: sage } }")
        let bus = try await PrivateBus.start()
        belfry.set("DBUS_SESSION_BUS_ADDRESS", bus.address)
        func check() async throws -> String {
            try await belfry.run("belfryd", ["--check", "--config", belfry.configPath]).errors
        }
        #expect(try await check().contains("no keyring runs in the session; start one"))
        belfry.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
        #expect(try await check().contains("there is no session bus"))
    }
}
