import API
import ArgumentParser
import Ledger
import Testing
import Timeline
import Tracking

@testable import belfry

@Suite struct `a list of messages` {
    private func message(_ text: String, from: String = "bot", of bot: String = "sage") -> WireMessage {
        WireMessage(
            id: "1", bot: bot, thread: "main", from: from, text: text, at: Timestamp(Moment(seconds: 60)))
    }

    @Test func `has the first words of each on one line, and a mark where nobody has read it`() {
        var reply = message("# Today\n\nLook at **the tape**.\u{1B}[31m")
        #expect(MessageText.preview(of: reply, glyphs: true) == "● Today Look at the tape.")
        #expect(MessageText.preview(of: reply, glyphs: false) == "* Today Look at the tape.")
        reply.read = true
        #expect(MessageText.preview(of: reply, glyphs: true) == "  Today Look at the tape.")
        reply.title = "News"
        #expect(MessageText.preview(of: reply, glyphs: true) == "  News: Today Look at the tape.")
    }

    @Test func `shows who asked, and what is no bot's text as it is`() {
        #expect(MessageText.preview(of: message("a *b* c", from: "user"), glyphs: true) == "● you: a *b* c")
        #expect(MessageText.preview(of: message("a *b* c", of: "belfry"), glyphs: true) == "● a *b* c")
        let long = message(String(repeating: "word ", count: 100_000))
        #expect(MessageText.preview(of: long, glyphs: true).count <= 102)
    }
}

@Suite struct `a bot in words` {
    @Test func `has its latency in milliseconds below a second`() {
        var bot = WireBot(name: "sage", backend: "openai")
        #expect(BotText.latency(bot) == nil)
        (bot.firstWordMs, bot.latencyMs) = (85, 4200)
        #expect(BotText.latency(bot) == "last reply: first word after 85 ms, complete after 4 s")
    }
}

@Suite struct `a bot that is made by flags` {
    @Test func `has its program, how that prints, and its memory as in a file`() throws {
        let options = try BotOptions.parse([
            "--backend", "command", "--output", "claude", "--memory", "/srv/memory.md", "--command", "my-bot",
            "-p",
            "--brief",
        ])
        let settings = try options.draft().settings
        #expect(settings["backend"]?.text == "command" && settings["output"]?.text == "claude")
        #expect(settings["command"]?.elements.compactMap(\.text) == ["my-bot", "-p", "--brief"])
        #expect(settings["memory"]?.text == "/srv/memory.md")
        #expect(try BotOptions.parse(["--memory", "none"]).draft().settings["memory"] == .null)
        #expect(
            try BotOptions.parse(["--memory", "m.md"]).draft().settings["memory"]?.text?.hasPrefix("/")
                == true)
    }

    @Test func `runs in a sandbox of these folders, with these variables`() throws {
        let options = try BotOptions.parse([
            "--backend", "claude", "--read", "/srv/a", "--read", "b", "--write", "/srv/c", "--network", "yes",
            "--inherit", "AWS_*",
        ])
        let settings = try options.draft().settings
        let sandbox = try #require(settings["sandbox"])
        let paths = sandbox["read"]?.elements.compactMap(\.text) ?? []
        #expect(paths.first == "/srv/a" && paths.last?.hasPrefix("/") == true && paths.count == 2)
        #expect(sandbox["write"] == .array([.string("/srv/c")]) && sandbox["network"]?.text == "yes")
        #expect(settings["inherit"] == .array([.string("AWS_*")]))
        // An emptied list leaves a sandbox, which only its own flag removes.
        #expect(try BotOptions.parse(["--read", "none"]).draft().settings["sandbox"]?["read"] == .array([]))
        #expect(try BotOptions.parse(["--sandbox", "none"]).draft().settings["sandbox"] == .null)
        #expect(throws: (any Error).self) {
            try BotOptions.parse(["--sandbox", "none", "--network", "no"]).validate()
        }
    }
}
