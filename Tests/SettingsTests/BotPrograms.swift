import Delivery
import Prompting
import Testing

@testable import Settings

@Suite struct `a bot that is a program, in the file` {
    private func reader(missing: Set<String> = []) -> ConfigurationReader {
        var reader = ConfigurationReader(hostZone: "UTC", zone: { _ in nil }) { _ in "sk-1" }
        reader.programFault = { missing.contains($0) ? "there is no program \"\($0)\" in /bin" : nil }
        return reader
    }

    private func read(_ bot: String, missing: Set<String> = [], leavesOut: Bool = false) throws
        -> Configuration
    {
        var reader = reader(missing: missing)
        reader.leavesOutBots = leavesOut
        return try reader.read(SourceText(name: "belfry.yaml", text: "bots:\n  cc: \(bot)\n"))
    }

    private func contact(_ bot: String) throws -> BotInUse {
        try #require(try read(bot).bots.first?.contact)
    }

    @Test(arguments: [ProgramDialect.claude, .codex, .gemini])
    func `is one that Belfry knows by a word`(dialect: ProgramDialect) throws {
        let contact = try contact("{ backend: \(dialect.rawValue) }")
        #expect(contact.backend == nil && contact.fault == nil)
        #expect(contact.program == BotProgram(dialect, command: try #require(dialect.standardCommand)))
    }

    @Test func `is any command, with its keys inside or beside the braces`() throws {
        let inside = try contact(
            """
            { backend: { kind: command, command: [/opt/x, -p], output: claude, model: m, system: Be brief., \
            key: { file: /k }, inherit: [A, "B_*"], sandbox: { read: [/a], write: [/b], network: yes } } }
            """)
        let beside = try contact(
            """
            { backend: command, command: [/opt/x, -p], output: claude, model: m, system: Be brief., \
            key: { file: /k }, inherit: [A, "B_*"], sandbox: { read: [/a], write: [/b], network: yes } }
            """)
        #expect(inside == beside && inside.secrets[BotInUse.key] == ["sk-1"])
        var program = BotProgram(.claude, command: ["/opt/x", "-p"], inherited: ["A", "B_*"])
        (program.model, program.system) = ("m", "Be brief.")
        program.sandbox = Sandbox(read: ["/a"], write: ["/b"], hasNetwork: true)
        #expect(inside.program == program)
        #expect(try contact("{ backend: { kind: command, command: [x] } }").program?.dialect == .text)
        #expect(try contact("{ backend: claude, sandbox: {} }").program?.sandbox == Sandbox())
    }

    @Test func `may keep no session, and has a budget where it reports what it uses`() throws {
        let codex = try contact(
            "{ backend: codex, session: run, price: { input: 1, output: 8 }, budget: { usd: 5, tokens: 1000 } }"
        )
        #expect(codex.program?.keepsSession == false && codex.keepsSession == false)
        #expect(codex.program?.price == TokenPrice(input: 1, output: 8))
        #expect(codex.budget == Budget(usd: 5, tokens: 1000))
        #expect(try contact("{ backend: claude, budget: { usd: 5 } }").budget == Budget(usd: 5))
        #expect(try contact("{ backend: claude, session: bot }").keepsSession)
        #expect(try contact("{ backend: command, command: [x], session: run }").keepsSession == false)
    }

    @Test func `without a command only speaks for its jobs`() throws {
        #expect(try read("{ backend: { kind: command } }").bots.first?.contact == nil)
    }

    @Test(arguments: [
        ("{ backend: { kind: command, command: claude } }", "expected a list, found text"),
        ("{ backend: command, output: claude }", "kind: command has no such key without a command"),
        ("{ backend: { kind: command, command: [x], output: jsonl } }", "\"jsonl\""),
        ("{ backend: claude, output: text }", "kind: claude has no such key"),
        ("{ backend: claude, url: \"https://x.example\" }", "kind: claude has no such key"),
        ("{ backend: claude, maxTokens: 5 }", "kind: claude has no such key"),
        ("{ backend: claude, session: job }", "\"job\""),
        (
            "{ backend: claude, price: { input: 1, output: 2 } }",
            "Claude reports its own cost; remove price"
        ),
        (
            "{ backend: codex, budget: { usd: 5 } }",
            "a budget in USD needs a price; write price: { input: 3, output: 15 }"
        ),
        (
            "{ backend: command, command: [x], budget: { tokens: 5 } }",
            "this program does not report what it uses; remove budget"
        ),
        (
            "{ backend: { kind: command, command: [x], model: m } }",
            "Belfry cannot pass a model to this program; write it into command"
        ),
        (
            "{ backend: { kind: command, command: [x] }, key: { file: /k } }",
            "Belfry cannot pass a key to this program"
        ),
        (
            "{ backend: anthropic, model: m, key: { file: /k }, sandbox: { write: [/a] } }",
            "\"write\""
        ),
        ("{ backend: claude, sandbox: { read: [~/docs] } }", "must be an absolute path; write it out"),
        ("{ backend: claude, sandbox: { write: [/home/u/../v] } }", "must be written without . and .."),
        (
            "{ backend: claude, sandbox: { write: [/p], read: [/p/.git/hooks] } }",
            "\"/p/.git/hooks\" is inside of \"/p\", which the program may write"
        ),
        ("{ backend: claude, sandbox: { network: maybe } }", "\"maybe\""),
        ("{ backend: claude, sandbox: { reads: [/a] } }", "did you mean \"read\"?"),
        ("{ backend: claud }", "did you mean \"claude\"?"),
    ])
    func `is refused with the reason and what to write`(bot: String, sentence: String) {
        let error = #expect(throws: SettingsError.self) { try read(bot) }
        let shown = error.map { "\($0)" } ?? ""
        #expect(shown.contains(sentence), "\(shown)")
    }

    @Test func `needs bubblewrap for its sandbox, and is offline without it`() throws {
        let bot = "{ backend: claude, sandbox: {} }"
        let error = #expect(throws: SettingsError.self) { try read(bot, missing: ["bwrap"]) }
        let shown = error.map { "\($0)" } ?? ""
        #expect(
            shown.contains("there is no bubblewrap on this machine")
                && shown.contains("apt install bubblewrap"))
        let offline = try read(bot, missing: ["bwrap"], leavesOut: true)
        #expect(offline.bots.first?.contact?.fault?.contains("bubblewrap") == true)
        #expect(try read("{ backend: claude }", missing: ["bwrap"]).warnings.isEmpty)
    }

    @Test func `is warned of where it is not installed`() throws {
        let warnings = try read("{ backend: codex }", missing: ["codex"]).warnings
        #expect(warnings.map(\.message).first?.contains("there is no program \"codex\" in /bin") == true)
    }
}
