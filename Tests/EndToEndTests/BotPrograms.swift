import Foundation
import TestSupport
import Testing

/// Jobs that are prompts, and bots that are programs: scripts that print what the real ones do.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job whose bot is a program` {
    /// Prints as Claude does: a tool, then a reply that waits in the middle for the file `go`.
    private static let claude = """
        #!/bin/sh
        prompt=$(tail -n 1)
        echo '{"type":"system","subtype":"init","session_id":"s-1"}'
        echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}'
        echo "progress for people" >&2
        printf '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"You asked: %s"}}}\\n' "$prompt"
        until [ -e go ]; do sleep 0.05; done
        echo '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":" All is well."}}}'
        echo '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.02,"usage":{"input_tokens":9,"output_tokens":7},"result":"x"}'

        """

    private func start(
        _ backend: String, script: String = claude, hook: HookServer? = nil
    ) async throws -> Belfry {
        let belfry = try Belfry(hook: hook)
        try belfry.write(script, to: "bot.sh")
        try belfry.configure(
            """
            bots:
              cc: { backend: \(backend) }
            jobs:
              news: { schedule: manual, bot: cc, prompt: "What is new?", retry: { attempts: 3, backoff: 1s } }
            """)
        try await belfry.start()
        return belfry
    }

    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    @Test func `streams, survives a kill of the daemon, and rings its reply once`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await start("{ kind: command, command: [sh, bot.sh], output: claude }", hook: hook)
        try await belfry.run("run", "news")
        try await until {
            let live = try await belfry.json("run", "show", "news#1")["live"]
            return live["phase"].text == "writing" && live["message"].text == "5 words"
        }
        try await belfry.restart()
        try await until {
            let live = try await belfry.json("run", "show", "news#1")["live"]
            return live["phase"].text == "writing"
        }
        #expect(try await belfry.json("run", "show", "news#1")["state"].text == "running")
        try belfry.write("", to: "go")
        try await until { try await belfry.json("run", "show", "news#1")["state"].text == "completed" }
        let whole = "You asked: What is new? All is well."
        let messages = try await belfry.json("messages", "cc").list
        #expect(messages.map { $0["text"].text } == [whole])
        #expect(messages.first?["thread"].text == "news" && messages.first?["run"].text != nil)
        let rung = try await hook.webhook { $0.type == "message.group" }
        #expect(try #require(rung.data)["item"]["last"].list.map { $0["text"].text } == [whole])
        #expect(try await belfry.run("run", "logs", "news#1").text.hasPrefix(whole))
        #expect(try await belfry.json("run", "show", "news#1")["attempt"].integer == 1)
        #expect(try await belfry.json("bot", "show", "cc")["backend"].text == "claude")
    }

    /// Notes how it was called and what it read, and does not know its session while there is a file `lost`.
    private static let session = #"""
        #!/bin/sh
        cat > prompt
        echo "$*" >> calls
        if [ -e lost ] && [ -n "$1" ]; then echo "No conversation found with session ID: $2" >&2; exit 1; fi
        echo '{"type":"system","subtype":"init","session_id":"s-1"}'
        echo '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.02,"usage":{"input_tokens":9,"output_tokens":7},"result":"ok"}'

        """#

    @Test func `resumes its session for those who ask it, until that is lost or begun again`() async throws {
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh], output: claude }", script: Self.session)
        #expect(try await belfry.run("ask", "cc", "First?").text == "ok\n")
        #expect(try await belfry.run("ask", "cc", "Second?").text == "ok\n")
        #expect(try belfry.calls() == ["", "--resume s-1"])
        #expect(!belfry.lines(of: "prompt").contains("This was said before:"))
        let session = try await belfry.json("bot", "show", "cc")["session"]
        #expect(session["id"].text == "s-1" && session["messages"].integer == 4)
        let text = try await belfry.run("bot", "show", "cc").text
        #expect(
            text.contains("session   4 messages since ") && text.contains(", resumed as s-1\n"), "\(text)")
        #expect(text.contains("command   sh bot.sh\n") && text.contains("output    claude\n"), "\(text)")
        // What it forgot it is shown.
        try belfry.write("", to: "lost")
        #expect(try await belfry.run("ask", "cc", "Third?").text == "ok\n")
        #expect(try belfry.calls() == ["", "--resume s-1", "--resume s-1", ""])
        let shown = belfry.lines(of: "prompt")
        #expect(shown.contains("This was said before:") && shown.contains("You: ok"))
        #expect(shown.contains { $0.contains("First?") })
        #expect(try await belfry.run("bot", "reset", "cc").code == 0)
        #expect(try await belfry.run("bot", "show", "cc").text.contains("session   new\n"))
        #expect(try await belfry.run("ask", "cc", "Fourth?").text == "ok\n")
        #expect(try belfry.calls().suffix(2) == ["", ""])
        #expect(!belfry.lines(of: "prompt").contains("This was said before:"))
        // Jobs stand alone.
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        #expect(try belfry.calls().last == "")
    }

    @Test func `shows its program what its memory file says, before each prompt`() async throws {
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh], output: claude }", script: Self.session)
        try belfry.write("The backup disk is called attic.\n", to: "memory.md")
        try belfry.configure(
            """
            bots:
              cc:
                backend: { kind: command, command: [sh, bot.sh], output: claude }
                memory: \(belfry.folder.file("memory.md"))
            """)
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await belfry.run("ask", "cc", "Which disk?").code == 0)
        #expect(
            belfry.lines(of: "prompt").prefix(3)
                == ["<memory>", "The backup disk is called attic.", "</memory>"])
        try belfry.write(String(repeating: "x", count: 70_000), to: "memory.md")
        let failed = try await belfry.run("ask", "cc", "And now?")
        #expect(failed.code == 1 && failed.errors.contains("check bots.cc.memory"), "\(failed)")
    }

    @Test func `spends its budget, and is not run when that is used up`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh], output: claude, budget: { usd: 0.03 } }",
            script: Self.session, hook: hook)
        for _ in 1...2 { #expect(try await belfry.run("run", "news", "--follow").code == 0) }
        let end = try await hook.webhook { $0.type == "bot.budget" }
        #expect(try #require(end.data)["reason"].text == "budgetReached")
        #expect(try await belfry.run("run", "news", "--follow").code == 1)
        let run = try await belfry.json("run", "show", "news#3")
        #expect(run["state"].text == "failed" && run["reason"].text == "budget" && run["usage"] == nil)
        #expect(try belfry.calls().count == 2)
        let bot = try await belfry.json("bot", "show", "cc")
        #expect(bot["status"].text == "blocked" && bot["usage"]["month"]["costUsd"].number == 0.04)
        let text = try await belfry.run("bot", "show", "cc").text
        #expect(text.contains("$0.00 left of $0.03"))
        #expect(text.contains("complete after ") && !text.contains("0.0s"))
    }

    @Test func `keeps what it was started as, though its bot is another one by then`() async throws {
        let belfry = try await start("{ kind: command, command: [sh, bot.sh], output: claude }")
        try await belfry.run("run", "news")
        try await until { try await belfry.run("run", "logs", "news#1").text.hasPrefix("You asked") }
        try await belfry.kill()
        try belfry.configure(
            """
            bots:
              cc: { backend: openai, url: "http://127.0.0.1:9/v1", allow: [127.0.0.1/32], model: small }
            jobs:
              news: { schedule: manual, bot: cc, prompt: "What is new?", retry: { attempts: 3, backoff: 1s } }
            """)
        try await belfry.start()
        try belfry.write("", to: "go")
        try await until { try await belfry.json("run", "show", "news#1")["state"].text == "completed" }
        let messages = try await belfry.json("messages", "cc").list
        #expect(messages.map { $0["text"].text } == ["You asked: What is new? All is well."])
    }

    @Test func `fails with what it printed where JSON was promised, and is not tried again`() async throws {
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh], output: codex }", script: "echo 'Usage: codex'; exit 2\n"
        )
        let run = try await belfry.run("run", "news", "--follow")
        #expect(run.code == 1)
        let row = try await belfry.json("run", "show", "news#1")
        #expect(row["state"].text == "failed" && row["reason"].text == "malformed")
        #expect(row["attempt"].integer == 1)
        let sentence = "cc: sh sent an answer that cannot be read: a line is not JSON: Usage: codex"
        #expect(try await belfry.run("run", "show", "news#1").text.contains(sentence))
        #expect(try await belfry.run("run", "logs", "news#1").text.contains("Usage: codex"))
        #expect(try await belfry.json("messages", "cc").list.isEmpty)
    }

    @Test func `names the program that is missing`() async throws {
        let belfry = try await start("{ kind: command, command: [no-such-bot] }")
        #expect(try await belfry.run("run", "news", "--follow").code != 0)
        let row = try await belfry.json("run", "show", "news#1")
        #expect(row["state"].text == "failed" && row["reason"].text == "notFound")
        #expect(try await belfry.run("run", "show", "news#1").text.contains("cc: no program \"no-such-bot\""))
        #expect(try await belfry.run("status").text.contains("1 offline (cc)"))
        let test = try await belfry.run("bot", "test", "cc")
        #expect(
            test.code == 1 && test.text.contains("failed  configuration there is no program \"no-such-bot\""))
        #expect(try await belfry.run("bot", "test", "cc", "--ask").code == 1)
        let check = try await belfry.run("belfryd", ["--check", "--config", belfry.configPath])
        #expect(check.code == 0 && check.errors.contains("there is no program \"no-such-bot\""))
    }

    @Test func `that fails is explained by its own last words`() async throws {
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh] }", script: "echo no tape >&2; exit 4")
        let words = "sh ended with exit code 4: no tape"
        let asked = try await belfry.run("ask", "cc", "Well?")
        #expect(asked.code == 1 && asked.errors.contains("cc did not reply: \(words)"))
        #expect(try await belfry.run("run", "show", "cc.reply#1").text.contains("cc: \(words)"))
        let followed = try await belfry.run("run", "news", "--follow")
        #expect((followed.text + followed.errors).contains(words), "\(followed)")
    }

    @Test func `replies to a test that asks it, without a run or a message`() async throws {
        let belfry = try await start("{ kind: command, command: [sh, bot.sh], output: claude }")
        try belfry.write("", to: "go")
        let plain = try await belfry.run("bot", "test", "cc")
        #expect(plain.code == 0 && plain.text.contains("skipped reply         not asked"))
        let test = try await belfry.run("bot", "test", "cc", "--ask")
        #expect(test.code == 0, "\(test.text)")
        #expect(test.text.contains("ok      reply         \"You asked: Reply with the single word: ready"))
        #expect(try await belfry.json("runs").list.isEmpty)
        #expect(try await belfry.json("messages").list.isEmpty)
        #expect(try await belfry.json("bot", "show", "cc")["usage"]["total"]["outputTokens"].integer == 7)
    }

    @Test func `may say how its reply looks, or that there is nothing to say`() async throws {
        let hook = try await Belfry.receiver()
        let script =
            #"[ -e quiet ] && echo 'I looked.' && echo '{"notify":false}' && exit"# + "\n"
            + #"echo '{"text":"Disk is full","title":"Storage","priority":"critical"}'"# + "\n"
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh] }", script: script, hook: hook)
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let rung = try await hook.webhook { $0.type == "message.group" }
        let item = try #require(rung.data)["item"]
        #expect(item["last"].list.map { $0["text"].text } == ["Disk is full"])
        #expect(item["urgency"].text == "critical")
        try belfry.write("", to: "quiet")
        #expect(try await belfry.run("run", "news", "--follow").code == 0)
        let messages = try await belfry.json("messages", "cc").list
        #expect(messages.map { $0["text"].text } == ["Disk is full"])
        #expect(messages.first?["title"].text == "Storage")
        #expect(try await belfry.run("run", "logs", "news#2").text.contains("I looked."))
    }

    @Test func `is canceled with all it started`() async throws {
        let belfry = try await start(
            "{ kind: command, command: [sh, bot.sh] }", script: "echo on my way; echo still; sleep 1000\n")
        try await belfry.run("run", "news")
        try await until { try await belfry.run("run", "logs", "news#1").text.contains("on my way") }
        try await belfry.run("run", "cancel", "news#1")
        try await until { try await belfry.json("run", "show", "news#1")["state"].text == "canceled" }
    }
}

extension Belfry {
    /// The arguments of each call of the script, which may be none.
    fileprivate func calls() throws -> [String] {
        let text = try String(contentsOfFile: folder.file("calls"), encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
