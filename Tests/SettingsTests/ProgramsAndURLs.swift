import Delivery
import Ledger
import Prompting
import Testing
import Timeline

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

@Suite struct `a job that calls an address` {
    private func read(_ url: String) throws(SettingsError) -> URLAction? {
        let reader = ConfigurationReader(hostZone: "UTC", zone: { _ in .utc }, readSecret: { _ in "" })
        let text = "jobs:\n  a: { schedule: manual, url: \(url) }\n"
        return try reader.read(SourceText(name: "belfry.yaml", text: text)).jobs.first?.spec.request
    }

    @Test func `is written as the address alone`() throws {
        let request = try #require(try read("https://example.org/hook"))
        #expect(request == URLAction(url: "https://example.org/hook"))
        #expect(request.effectiveMethod == "GET" && request.expectedStatuses == [200...299])
    }

    @Test func `is written as a map with all that is sent, and what is expected`() throws {
        let request = try #require(
            try read(
                """
                { url: "http://127.0.0.1:80/x", headers: { Accept: text/plain, Authorization: { file: /t } }, \
                body: "{}", expect: [204, 3xx, 400-404], allow: [127.0.0.1/32] }
                """))
        #expect(request.effectiveMethod == "POST" && request.body == "{}")
        #expect(
            request.headers == ["Accept": "text/plain"] && request.secretFiles == ["Authorization": "/t"])
        #expect(request.expectedStatuses == [204...204, 300...399, 400...404])
        #expect(try read("{ url: \"https://e.org\", expect: 200 }")?.expectedStatuses == [200...200])
    }

    @Test(arguments: [
        ("ftp://example.org/", ":2:31: jobs.a.url: the address must begin with https://"),
        ("http://example.org/", ":2:31: jobs.a.url: plain http goes only to hosts that url.allow names"),
        ("https://10.0.0.1/", "jobs.a.url: 10.0.0.1 is not a public address; write url: { url: ADDRESS,"),
        ("https://me:pw@example.org/", "jobs.a.url: a name or password in the address would be readable"),
        ("{ method: PUT }", "jobs.a.url: no url; write url: { url: https://example.org/hook"),
        ("{ url: https://e.org, methd: PUT }", "unknown key \"methd\"; did you mean \"method\"?"),
        ("{ url: https://e.org, method: FETCH }", "jobs.a.url.method: \"FETCH\" is not known here"),
        ("{ url: https://e.org, expect: ok }", "jobs.a.url.expect: \"ok\" is not a status; write one as 200"),
        ("{ url: https://e.org, expect: [] }", "jobs.a.url.expect: can't be empty"),
        ("{ url: https://e.org, allow: [a/b] }", "jobs.a.url.allow: "),
        ("{ url: https://e.org, headers: { a b: x } }", "\"a b\" is not the name of a header"),
        ("{ url: https://e.org, headers: { Content-Length: 3 } }", "Belfry sets this header itself"),
        ("{ url: https://e.org, headers: { A: \"x\\ny\" } }", "the value of a header is one line of text"),
        ("https://e.org, shell: date", "a job has one of command, shell, prompt and url, not two"),
    ])
    func `is refused at the place of its fault`(url: String, message: String) {
        let refused = #expect(throws: SettingsError.self) { try read(url) }
        #expect(refused?.description.contains(message) == true, "\(refused?.description ?? "")")
        #expect(refused?.description.contains("pw@") != true)
    }
}
