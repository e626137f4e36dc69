import Delivery
import Prompting
import Settings
import Testing

@testable import Settings

@Suite struct `a bot with a provider` {
    private let secrets: [String: String] = ["/key": "sk-1"]

    private func read(_ text: String, leavesOut: Bool = false) throws -> Configuration {
        var reader = ConfigurationReader(hostZone: "UTC", zone: { _ in nil }) { source in
            guard case .file(let path) = source, let secret = secrets[path] else { throw Unreadable() }
            return secret
        }
        reader.leavesOutBots = leavesOut
        reader.tools = ["send_message", "list_tasks"]
        return try reader.read(SourceText(name: "belfry.yaml", text: text))
    }

    private struct Unreadable: Error, CustomStringConvertible { let description = "no such file" }

    private func refusal(_ bot: String) -> String {
        do {
            _ = try read("bots:\n  sage: \(bot)\n")
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        "{ backend: { kind: anthropic, model: m, key: { file: /key } } }",
        "{ backend: anthropic, model: m, key: { file: /key } }",
        "{ backend: { kind: anthropic }, model: m, key: { file: /key } }",
    ])
    func `is described in braces or beside them`(bot: String) throws {
        let contact = try #require(try read("bots:\n  sage: \(bot)\n").bots.first?.contact)
        #expect(contact.backend?.dialect == .anthropic && contact.backend?.model == "m")
        #expect(contact.backend?.reach.url.text == "https://api.anthropic.com")
        #expect(contact.secrets[BotInUse.key] == ["sk-1"] && contact.fault == nil)
        #expect(contact.backend?.maxTokens == 4096)
    }

    @Test func `has a price, a budget and a text of its own`() throws {
        let bot = """
            { backend: openai, url: "http://127.0.0.1:1/v1", allow: [127.0.0.1/32], model: small, maxTokens: 99, \
            system: Be brief., price: { input: 0.25, output: 2 }, budget: { usd: 5, per: month } }
            """
        let backend = try #require(try read("bots:\n  sage: \(bot)\n").bots.first?.contact?.backend)
        #expect(backend.dialect == .openAI && backend.maxTokens == 99 && backend.system == "Be brief.")
        #expect(backend.price == TokenPrice(input: 0.25, output: 2) && backend.budget == Budget(usd: 5))
    }

    @Test func `is shown as much of what was said as its model reads`() throws {
        let start = "{ backend: anthropic, model: m, key: { file: /key }"
        func limit(_ more: String) throws -> Int? {
            try read("bots:\n  sage: \(start)\(more) }\n").bots.first?.contact?.backend?.talkLimit
        }
        #expect(try limit("") == 131_072)
        #expect(try limit(", context: 32000, maxTokens: 2000") == 90_000)
        #expect(try limit(", context: 4096") == 3072 && limit(", context: 1000000") == 1 << 20)
        #expect(refusal("\(start), context: 1000 }").contains("context"))
    }

    @Test func `has a budget of tokens, which needs no price`() throws {
        let bot = "{ backend: anthropic, model: m, key: { file: /key }, budget: { tokens: 5000 } }"
        let read = try #require(try read("bots:\n  sage: \(bot)\n").bots.first)
        #expect(read.contact?.backend?.budget == Budget(tokens: 5000))
        #expect(read.keySources == [.file("/key")])
    }

    @Test func `has the tools that it is allowed, and none without them`() throws {
        let start = "{ backend: anthropic, model: m, key: { file: /key }"
        func bot(_ more: String) throws -> BotInUse? {
            try read("bots:\n  sage: \(start)\(more) }\n").bots.first?.contact
        }
        #expect(try bot("")?.tools == [] && bot("")?.maxTurns == 20)
        #expect(
            try bot(", tools: [list_tasks, send_message, list_tasks], maxTurns: 3")?.tools
                == ["list_tasks", "send_message"])
        #expect(try bot(", tools: [send_message], maxTurns: 3")?.maxTurns == 3)
        #expect(
            try read("bots:\n  cc: { backend: claude, tools: [send_message] }\n").bots.first?.contact?.tools
                == ["send_message"])
        #expect(refusal("\(start), tools: [send_mesage] }").contains("did you mean \"send_message\"?"))
        #expect(refusal("\(start), tools: send_message }").contains("write tools: [send_message]"))
        #expect(refusal("\(start), tools: [send_message], maxTurns: 0 }").contains("maxTurns"))
        #expect(refusal("{ backend: claude, maxTurns: 3 }").contains("kind: claude has no such key"))
    }

    @Test func `is an agent behind a gateway`() throws {
        let short = try #require(
            try read("bots:\n  opta: { backend: openclaw, url: \"ws://127.0.0.1:18789\" }\n").bots.first?
                .contact)
        #expect(short.gateway?.place == "127.0.0.1:18789" && short.gateway?.session == .synced)
        #expect(short.gateway?.agent == nil && short.secrets[BotInUse.key] == [])
        let bot = """
            { backend: { kind: openclaw, url: "wss://gw.example/claw", token: { file: /key }, agent: writer, \
            session: isolated } }
            """
        let long = try #require(try read("bots:\n  opta: \(bot)\n").bots.first)
        #expect(long.contact?.gateway?.place == "gw.example:443" && long.contact?.gateway?.agent == "writer")
        #expect(long.contact?.gateway?.session == .isolated && long.keySources == [.file("/key")])
        #expect(long.contact?.secrets[BotInUse.key] == ["sk-1"] && long.contact?.keepsSession == false)
    }

    @Test func `is offline when its key can't be read, which only a check refuses`() throws {
        let text = "bots:\n  sage: { backend: anthropic, model: m, key: { file: /none } }\n"
        #expect(throws: SettingsError.self) { try read(text) }
        let contact = try #require(try read(text, leavesOut: true).bots.first?.contact)
        #expect(contact.fault == "the secret can't be read from file /none: no such file")
    }

    @Test(arguments: [
        ("{ backend: anthropic, key: { file: /key } }", "bots.sage: this bot has no model"),
        ("{ backend: anthropic, model: m }", "bots.sage: this bot has no key; write key: { file: /path }"),
        ("{ backend: openai, model: m }", "bots.sage: this bot has no url"),
        ("{ model: m }", "this bot has no backend; write backend: anthropic or backend: openai"),
        ("{ backend: { model: m } }", "this backend has no kind"),
        ("{ backend: openclaw }", "bots.sage: this bot has no url; write url: \"ws://127.0.0.1:18789\""),
        (
            "{ backend: openclaw, url: \"http://127.0.0.1:18789\" }",
            "is no address of a gateway; write url: \"ws://127.0.0.1:18789\", or wss:// for another machine"
        ),
        (
            "{ backend: openclaw, url: \"ws://gw.example:18789\" }",
            "ws sends the token unencrypted to gw.example; write wss://, or name the host under allow:"
        ),
        (
            "{ backend: openclaw, url: \"ws://127.0.0.1:1\", agent: \"A B\" }", "\"A B\" is no agent's name"
        ),
        (
            "{ backend: openclaw, url: \"ws://127.0.0.1:1\", model: m }",
            "kind: openclaw has no such key; the agent's model is set in the gateway; write agent: NAME"
        ),
        (
            "{ backend: openclaw, url: \"ws://127.0.0.1:1\", token: sk-1 }",
            "do not write a secret in this file; write token: { file: /path }"
        ),
        ("{ backend: anthropic, model: m, key: { file: /key }, token: { file: /key } }", "has no such key"),
        ("{ backend: antropic }", "did you mean \"anthropic\"?"),
        ("{ backend: command, model: m }", "kind: command has no such key"),
        ("{ backend: anthropic, model: m, key: sk-1 }", "do not write a secret in this file; write key:"),
        (
            "{ backend: anthropic, model: m, key: { file: /key }, budget: { usd: 5 } }",
            "a budget in USD needs a price; write price:"
        ),
        (
            "{ backend: anthropic, model: m, key: { file: /key }, budget: { per: month } }",
            "this budget has no amount; write budget:"
        ),
        (
            "{ backend: anthropic, model: m, key: { file: /key }, budget: { tokens: 0 } }",
            "\"0\" is not a whole number from 1 to"
        ),
        (
            "{ backend: anthropic, model: m, key: { file: /key }, price: { input: x, output: 1 } }",
            "\"x\" is not an amount in USD"
        ),
        (
            "{ backend: anthropic, model: m, key: { file: /key }, price: { input: 1 } }",
            "a price has two parts"
        ),
        (
            "{ backend: { kind: openai, model: a }, model: b }",
            "\"model\" is in backend, too; write it once"
        ),
        (
            "{ backend: openai, model: m, url: \"http://127.0.0.1/v1\" }",
            "plain http goes only to hosts under `allow:`"
        ),
    ])
    func `is refused with the reason and what to write`(bot: String, sentence: String) {
        let shown = refusal(bot)
        #expect(shown.contains(sentence), "\(shown)")
        #expect(!shown.contains("sk-1"))
    }
}
