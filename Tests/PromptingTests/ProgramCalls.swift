import Prompting
import Testing

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
