import FoundationEssentials
import TestSupport
import Testing

/// Silences and limits as a user meets them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `notifications that are held back` {
    private func home(_ text: String, bus: PrivateBus) async throws -> Belfry {
        let belfry = try Belfry(bus: bus)
        try belfry.write(text, to: "belfry.yaml")
        try await belfry.start()
        return belfry
    }

    @Test func `are silenced by matchers, explained, and shown when the silence is ended`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await home(
            """
            zone: UTC
            jobs:
              bad: { schedule: manual, labels: { host: db1 }, shell: exit 3 }
              worse: { schedule: manual, labels: { host: db2 }, shell: exit 4 }
            channels: { desk: { kind: desktop } }
            routes:
              - { when: [failed, recovered, message], to: [desk] }
            """, bus: bus)
        let added = try await belfry.run(
            "silence", "add", "host=db1", "--for", "2h", "--note", "upgrade", "--json")
        #expect(added.code == 0)
        let silence = try added.json()
        let id = try #require(silence["id"].text)
        #expect(silence["state"].text == "active" && silence["note"].text == "upgrade")
        _ = try await belfry.run("run", "bad", "--follow")
        _ = try await belfry.run("run", "worse", "--follow")
        let first = try #require(try await server.next())
        #expect(first.summary.contains("worse"))
        let why = try await belfry.run("why", "bad#1", "--not")
        #expect(why.text.contains("it is silenced (silence \(id.suffix(8)))"), "\(why.text)")
        #expect(try await belfry.run("silence").text.contains("host=db1"))
        try await belfry.restart()
        #expect(try await belfry.run("silence", "end", String(id.suffix(8))).code == 0)
        // The restart shows again what was on the screen.
        var second = try #require(try await server.next())
        while !second.summary.contains("bad") { second = try #require(try await server.next()) }
        #expect(second.hints["suppress-sound"] == nil)
        #expect(try await belfry.run("silence", "list").text.contains("Nothing is silenced."))
        let again = try await belfry.run("silence", "end", id)
        #expect(again.code == 5 && again.errors.contains("the silence ended at"))
    }

    @Test func `refuse a silence without a matcher, without an end, or of everything`() async throws {
        let bus = try await PrivateBus.start()
        let belfry = try await home("zone: UTC\n", bus: bus)
        for (words, sentence) in [
            (["--for", "2h"], "name what to silence"),
            (["job=a"], "a silence needs one end"),
            (["job=~.*", "--for", "2h"], "match everything"),
            (["job", "--for", "2h"], "is no matcher"),
            (["job=a", "--for", "800d"], "up to 366d"),
            (["job=a", "--until", "2020-01-01T00:00"], "not in the past"),
        ] {
            let answer = try await belfry.run("belfry", ["silence", "add"] + words)
            #expect(answer.code == 2 && answer.errors.contains(sentence), "\(words): \(answer.errors)")
        }
        let unknown = try await belfry.run("silence", "end", "abcd1234")
        #expect(unknown.code == 4 && unknown.errors.contains("no silence \"abcd1234\""))
        #expect(try await belfry.run("digest").text.contains("Nothing is kept back."))
    }

    @Test func `are compared with what changed rules would have done, and nothing is written`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let text = """
            zone: UTC
            jobs: { bad: { schedule: manual, shell: exit 3 } }
            channels: { desk: { kind: desktop } }
            routes: [{ when: [failed, message], to: [desk] }]
            """
        let belfry = try await home(text, bus: bus)
        _ = try await belfry.run("run", "bad", "--follow")
        _ = try #require(try await server.next())
        try await belfry.run("notify", "hello", "--bot", "ops")
        _ = try #require(try await server.next())
        try belfry.write(
            text
                + "\nbots: { belfry: { notifications: { alertAfter: 2 } }, ops: { notifications: { shown: no } } }",
            to: "new.yaml")
        let file = belfry.folder.file("new.yaml")
        for runs in [true, false] {
            if !runs {
                _ = try await belfry.stop()
                belfry.set("BELFRY_CONFIG", belfry.configPath)
            }
            let answer = try await belfry.run("replay", "--since", "1h", "--config", file)
            #expect(answer.code == 0 && answer.text.contains("2 differences"), "\(answer.text)")
            #expect(answer.text.contains("desk: rang 2 -> 0, suppressed 0 -> 2"), "\(answer.text)")
            #expect(
                answer.text.contains(
                    "bad#1 (run.failed)  desk: rang -> suppressed (the job has not failed often"),
                "\(answer.text)")
            let json = try await belfry.json("replay", "--config", file)
            #expect(
                json["differences"].list.map { $0["after"]["reason"].text } == ["fewFailures", "switchedOff"])
        }
        let same = try await belfry.run("replay", "--config", belfry.configPath)
        #expect(same.text.contains("0 differences"), "\(same.text)")
        let none = try await belfry.run("replay", "--config", file + ".none")
        #expect(none.code == 2)
        #expect(try await belfry.run("replay").code == 2)
    }

    @Test func `are silenced with their job, also what its runs say by a command`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let program = try BuiltProgram.path("belfry")
        let belfry = try await home(
            """
            zone: UTC
            bots: { ops: }
            jobs: { talker: { schedule: manual, shell: "'\(program)' notify 'from the job' --bot ops --urgency critical" } }
            channels: { desk: { kind: desktop } }
            routes: [{ when: [failed, message], to: [desk] }]
            """, bus: bus)
        _ = try await belfry.run("silence", "add", "job=talker", "--for", "2h")
        let run = try await belfry.run("run", "talker", "--follow")
        #expect(run.code == 0, "\(run.text)")
        try await belfry.run(
            "notify", "by hand", "--bot", "ops", "--thread", "other", "--urgency", "critical")
        #expect(try await server.next()?.body == "by hand")
        let messages = try await belfry.json("messages", "ops").list
        #expect(messages.last?["text"].text == "from the job" && messages.last?["run"].text != nil)
    }

}
