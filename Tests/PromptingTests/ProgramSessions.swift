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

@Suite struct `the call of a bot that is a program` {
    @Test(arguments: [
        (ProgramDialect.claude, ["--model", "m", "--append-system-prompt", "Be brief."], "Hi"),
        (.codex, ["--model", "m"], "Be brief.\n\nHi"), (.gemini, ["--model", "m"], "Be brief.\n\nHi"),
    ])
    func `passes model, system and prompt as the program wants them`(
        dialect: ProgramDialect, options: [String], input: String
    ) throws {
        let command = try #require(dialect.standardCommand)
        var program = BotProgram(dialect, command: command)
        #expect(program.call("Hi", home: nil) == .init(words: command, input: "Hi"))
        (program.model, program.system) = ("m", "Be brief.")
        #expect(program.call("Hi", home: nil) == .init(words: command + options, input: input))
        #expect(program.kind == dialect.rawValue && program.name == dialect.rawValue)
    }

    @Test func `puts the prompt into the arguments where they have a place for it, as one word`() {
        let program = BotProgram(.text, command: ["/opt/x/llm", "ask", "{prompt}"])
        #expect(
            program.call("a 'b' $c", home: nil)
                == .init(words: ["/opt/x/llm", "ask", "a 'b' $c"], input: nil))
        #expect(program.call("--yolo", home: nil).words == ["/opt/x/llm", "ask", " --yolo"])
        #expect(program.name == "llm" && program.kind == "command")
    }

    @Test func `passes on no variables but those that concern it`() {
        let names = BotProgram(.codex, command: ["codex"], inherited: ["MINE"]).variables
        #expect(names.contains("HOME") && names.contains("CODEX_*") && names.contains("MINE"))
        #expect(!names.contains("ANTHROPIC_*") && !names.contains("*"))
    }

    @Test func `is made in a sandbox that holds what is named, and nothing else`() {
        let sandbox = Sandbox(read: ["/home/u/p", "/home/u/p/w"], write: ["/home/u/p/w", "/srv"])
        let words = sandbox.words(of: ["claude", "-p"], home: "/home/u", folder: "/home/u/p")
        #expect(words.first == "bwrap" && words.suffix(3) == ["--", "claude", "-p"])
        let text = words.joined(separator: " ")
        #expect(text.contains("--unshare-all --die-with-parent --new-session --cap-drop ALL"))
        #expect(!text.contains("--share-net"))
        // Folders come before those inside of them, and writing counts more than reading.
        #expect(
            text.contains(
                "--tmpfs /home/u --ro-bind /home/u/p /home/u/p --ro-bind /home/u/p/w /home/u/p/w "
                    + "--bind /home/u/p/w /home/u/p/w --bind /srv /srv --remount-ro / --chdir /home/u/p --"))
        #expect(Sandbox(hasNetwork: true).words(of: ["x"], home: nil).contains("--share-net"))
        #expect(!Sandbox().words(of: ["x"], home: nil).contains("--chdir"))
    }

    @Test func `has no path inside of one that may be written`() {
        for (read, write) in [
            (["/home/u/p/.git/hooks"], ["/home/u/p"]), ([], ["/home/u/p", "/home/u/p/sub"]),
            (["/x//y"], ["/x/"]),
            (["/etc"], ["/"]),
        ] {
            #expect(Sandbox(read: read, write: write).nested != nil, "\(read) \(write)")
        }
        #expect(Sandbox(read: ["/p", "/p/r", "/w", "/wider"], write: ["/p/w", "/w"]).nested == nil)
    }

    @Test func `names no path that leads elsewhere than it says`() {
        #expect(Sandbox.fault(in: "/home/u/..hidden") == nil)
        for path in ["docs", "~/docs", "/home/u/../v", "/home/./u", ".."] {
            #expect(Sandbox.fault(in: path) != nil, "\(path)")
        }
    }
}
