import Ledger
import Settings
import Testing
import Timeline

@Suite struct `what a job wants to be so at its end` {
    private func read(_ lines: String) throws(SettingsError) -> JobSpec? {
        let reader = ConfigurationReader(hostZone: "UTC", zone: { _ in .utc }, readSecret: { _ in "" })
        let bots = "bots: { sage: { backend: { kind: command, command: [cat] } } }"
        let text = bots + "\njobs:\n  a: { schedule: manual, \(lines) }\n"
        return try reader.read(SourceText(name: "belfry.yaml", text: text)).jobs.first?.spec
    }

    @Test func `is a file, a text, a program, in any combination`() throws {
        let spec = try #require(
            try read(
                "shell: x, ensure: { file: /a, output: \"/b+/\", command: [c, d], timeout: 5s }, usually: 5m")
        )
        #expect(spec.ensure?.file == "/a" && spec.ensure?.output == "/b+/")
        #expect(spec.ensure?.command == ["c", "d"] && spec.ensure?.timeout == .seconds(5))
        #expect(spec.usually == .seconds(300))
        #expect(try read("bot: sage, prompt: Hi, ensure: { reply: ok }")?.ensure?.reply == "ok")
        #expect(try read("shell: x")?.ensure == nil)
    }

    @Test func `may be said to a bot that knows what was said before`() throws {
        #expect(try read("bot: sage, prompt: Hi, session: bot")?.session == .bot)
        #expect(try read("bot: sage, prompt: Hi")?.session == .run)
    }

    @Test(arguments: [
        ("session: bot", "jobs.a.session: applies only to a job with a prompt"),
        ("session: thread", "jobs.a.session: \"thread\" is not known here; known here: bot, run"),
        ("ensure: { file: a }", "jobs.a.ensure.file: must be an absolute path"),
        ("ensure: { output: \"/a(b/\" }", ":3:57: jobs.a.ensure.output: not a pattern: a ( without a )"),
        ("ensure: { reply: ok }", "jobs.a.ensure.reply: applies only to a job with a prompt"),
        ("ensure: { timeout: 5s }", "jobs.a.ensure.timeout: applies only to a command"),
        ("ensure: /a", "jobs.a.ensure: a map is expected; write ensure: { file: /srv/report.pdf }"),
        ("ensure: { fil: /a }", "unknown key \"fil\"; did you mean \"file\"?"),
    ])
    func `is refused at the place of its fault`(lines: String, message: String) {
        let refused = #expect(throws: SettingsError.self) { try read("shell: x, \(lines)") }
        #expect(refused?.description.contains(message) == true, "\(refused?.description ?? "")")
    }
}

@Suite struct `what a job wants to be so before its bot is asked` {
    private func read(_ lines: String) throws(SettingsError) -> JobSpec? {
        let reader = ConfigurationReader(hostZone: "UTC", zone: { _ in .utc }, readSecret: { _ in "" })
        let bots = "bots: { sage: { backend: { kind: command, command: [cat] } } }"
        let text = bots + "\njobs:\n  a: { schedule: manual, \(lines) }\n"
        return try reader.read(SourceText(name: "belfry.yaml", text: text)).jobs.first?.spec
    }

    @Test func `is what a script finds`() throws {
        let spec = try #require(
            try read("bot: sage, prompt: Hi, wake: { command: [any, news], timeout: 5s }"))
        #expect(spec.wake?.command == ["any", "news"] && spec.wake?.timeout == .seconds(5))
        #expect(try read("bot: sage, prompt: Hi")?.wake == nil)
    }

    @Test(arguments: [
        ("shell: x, wake: { command: [a] }", "jobs.a.wake.command: applies only to a job with a prompt"),
        ("bot: sage, prompt: Hi, wake: { timeout: 5s }", "jobs.a.wake.timeout: applies only to a command"),
        ("bot: sage, prompt: Hi, wake: a", "jobs.a.wake: a map is expected; write wake: { command: ["),
    ])
    func `is refused at the place of its fault`(lines: String, message: String) {
        let refused = #expect(throws: SettingsError.self) { try read(lines) }
        #expect(refused?.description.contains(message) == true, "\(refused?.description ?? "")")
    }
}
