import Prompting
import Testing
import Tracking

@Suite struct `the session of a bot that is a program` {
    private func program(_ dialect: ProgramDialect) throws -> BotProgram {
        BotProgram(dialect, command: try #require(dialect.standardCommand))
    }

    @Test(arguments: [
        (ProgramDialect.claude, ["--resume", "s-1"]), (.gemini, ["--resume", "s-1"]),
        (.codex, ["resume", "s-1", "-"]),
    ])
    func `is resumed as the program wants it`(dialect: ProgramDialect, more: [String]) throws {
        var program = try program(dialect)
        program.model = "m"
        let session = Continuation(provider: dialect.rawValue, id: "s-1")
        #expect(
            program.call("Hi", home: nil, session: session)
                == .init(words: program.command + ["--model", "m"] + more, input: "Hi"))
        // The id of another program is of no use to this one.
        #expect(
            program.call("Hi", home: nil, session: Continuation(provider: "other", id: "s-1"))
                == program.call("Hi", home: nil))
    }

    @Test func `is resumed with the prompt behind it where that is an argument`() {
        let program = BotProgram(.codex, command: ["codex", "exec", "--json", "{prompt}"])
        let call = program.call("Hi", home: nil, session: Continuation(provider: "codex", id: "s"))
        #expect(call == .init(words: ["codex", "exec", "--json", "resume", "s", "Hi"], input: nil))
    }

    @Test(arguments: [
        "--dangerously-bypass-approvals-and-sandbox", "-c", "", "a b", "../x", "a/b", "a=b", "é", "_a", "a\n",
        String(repeating: "a", count: 129),
    ])
    func `is none where its id could be anything but one`(id: String) throws {
        #expect(Continuation(reported: id, by: "codex") == nil)
        for dialect in [ProgramDialect.codex, .claude, .gemini] {
            let program = try program(dialect)
            let session = Continuation(provider: dialect.rawValue, id: id)
            #expect(program.call("Hi", home: nil, session: session) == program.call("Hi", home: nil))
            let name = dialect == .codex ? "thread_id" : "session_id"
            let first = JSON.object([
                "type": .string(
                    dialect == .codex ? "thread.started" : dialect == .claude ? "system" : "init"),
                "subtype": .string("init"), name: .string(id),
            ])
            var decoder = ProgramDecoder(dialect)
            var events: [ReplyEvent] = []
            decoder.receive((first.bytes + [0x0A])[...]) { events.append($0) }
            #expect(events == [.started(nil)])
        }
    }

    @Test func `has the ids that programs make`() {
        for id in ["5d1c0b1e-7f7a-4a37-9d5e-9d8f3a9b6c11", "th_1.2", "0", String(repeating: "a", count: 128)]
        {
            #expect(Continuation(reported: id, by: "codex") == Continuation(provider: "codex", id: id))
        }
    }

    @Test func `knows who the bot is from its beginning`() throws {
        var program = try program(.codex)
        program.system = "Be brief."
        #expect(program.call("Hi", home: nil).input == "Be brief.\n\nHi")
        let session = Continuation(provider: "codex", id: "s")
        #expect(program.call("Hi", home: nil, session: session).input == "Hi")
    }

    @Test func `is kept where its folder can be written, and where it is wanted`() throws {
        var program = try program(.claude)
        #expect(program.sessionProvider(home: nil) == "claude")
        program.sandbox = Sandbox()
        #expect(program.sessionProvider(home: "/home/u") == nil)
        for path in ["/home/u/.claude", "/home/u", "/"] {
            program.sandbox = Sandbox(write: [path])
            #expect(program.sessionProvider(home: "/home/u") == "claude", "\(path)")
        }
        program.sandbox = Sandbox(write: ["/home/u/.claud"])
        #expect(program.sessionProvider(home: "/home/u") == nil)
        program.sandbox = nil
        program.keepsSession = false
        #expect(program.sessionProvider(home: nil) == nil)
        #expect(BotProgram(.text, command: ["x"]).sessionProvider(home: nil) == nil)
    }

    @Test func `of Codex reports the tokens of all its replies, of which one is the rest`() {
        let first = TokenUsage(input: 100, cacheRead: 50, output: 10)
        let total = ProgramDialect.codex.total(of: first)
        #expect(total == BotUsage(inputTokens: 150, cachedTokens: 50, outputTokens: 10))
        let both = TokenUsage(input: 130, cacheRead: 170, output: 15)
        #expect(
            ProgramDialect.codex.usage(of: both, after: total)
                == TokenUsage(input: 30, cacheRead: 120, output: 5))
        // Fewer than before can't be a total.
        let own = TokenUsage(input: 20, cacheRead: 60, output: 5)
        #expect(ProgramDialect.codex.usage(of: own, after: total) == own)
        #expect(ProgramDialect.codex.usage(of: first, after: nil) == first)
        for extreme in [Int.min, .max] {
            let before = BotUsage(
                inputTokens: extreme, cachedTokens: extreme, outputTokens: extreme)
            #expect(ProgramDialect.codex.usage(of: first, after: before) == first, "\(extreme)")
        }
        #expect(ProgramDialect.claude.usage(of: both, after: total) == both)
        #expect(ProgramDialect.claude.total(of: first) == nil)
    }

    @Test(arguments: [
        ("No conversation found with session ID: 5d1c", true),
        ("Error: thread/resume failed: no rollout found for thread id th-1", true),
        ("ENOENT: no such file or directory, open '/home/u/.claude/projects/x/5d1c.jsonl'", true),
        ("Error resuming session: Invalid session identifier \"g-1\".", true),
        ("ENOENT: no such file or directory, open '/etc/x'", false), ("usage limit reached", false),
    ])
    func `is lost where the program says that`(words: String, isLost: Bool) {
        #expect(LostSession.isMeant(by: words) == isLost)
    }
}
