import FoundationEssentials
import TestSupport
import Testing

/// What rings where nobody wrote routes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a home without routes` {
    private func home(_ jobs: String, bus: PrivateBus) async throws -> Belfry {
        let belfry = try Belfry(bus: bus)
        try belfry.write(
            "zone: UTC\njobs:\n\(jobs)\nchannels: { desk: { kind: desktop } }\n", to: "belfry.yaml")
        try await belfry.start()
        return belfry
    }

    @Test func `is silent about successes, and rings for a failure`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await home(
            """
              tick: { schedule: "* * * * * *", command: ["true"] }
              bad: { schedule: manual, shell: exit 3 }
            """, bus: bus)
        let events = try belfry.events()
        _ = try await events.next { $0["type"].text == "run.completed" }
        #expect(try await belfry.run("exec", "--name", "short", "--", "true").code == 0)
        #expect(try await belfry.run("run", "bad", "--follow").code == 3)
        // The first that anybody sees; on a busy machine a run may last so long that it is shown at work.
        var shown = try #require(try await server.next())
        while !shown.summary.contains("bad") {
            #expect(shown.hints["category"] != "s:x-belfry.job.completed")
            shown = try #require(try await server.next())
        }
        #expect(shown.hints["category"] == "s:x-belfry.job.failed")
        let why = try await belfry.run("why", "tick#1")
        #expect(why.text.contains("not sent: a scheduled run completed, and no route asks for that"))
        try await belfry.until {
            try await belfry.run("why", "short#1", "--not").text.contains("the run was short")
        }
        #expect(try await belfry.run("config", "show").text.contains("default: what matters -> desk"))
    }

    @Test func `shows a run that lasts, through kill -9, and its result in the same place`() async throws {
        let folder = try TemporaryFolder()
        let end = folder.file("end")
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await home(
            """
              climb:
                schedule: manual
                notify: { after: 1h }
                shell: 'while ! [ -e \(end) ]; do systemd-notify X_PROGRESS=2/5; sleep 0.2; done'
            """, bus: bus)
        try await belfry.run("run", "climb")
        try await belfry.restart()
        var call = try #require(try await server.next())
        let first = call
        while call.hints["value"] != "i:40" { call = try #require(try await server.next()) }
        try Data().write(to: URL(fileURLWithPath: end))
        while call.hints["value"] != nil { call = try #require(try await server.next()) }
        #expect(call.replacesID == first.id)
        #expect(call.hints["category"] == "s:x-belfry.job.completed" && call.hints["suppress-sound"] != nil)
    }

    @Test func `shows how long a run usually takes, and no result once that has expired`() async throws {
        let folder = try TemporaryFolder()
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await home(
            """
              climb:
                schedule: manual
                usually: 10m
                notify: { after: 1h }
                shell: 'while ! [ -e \(folder.file("end")) ]; do sleep 0.2; done'
              words:
                schedule: manual
                notify: { after: 1h }
                shell: |
                  systemd-notify --status="indexing the mail"
                  while ! [ -e \(folder.file("end")) ]; do sleep 0.2; done
              bad: { schedule: manual, shell: exit 3 }
              worse: { schedule: manual, shell: exit 4 }
            """, bus: bus)
        let events = try belfry.events()
        try await belfry.run("run", "climb")
        try await belfry.run("run", "words")
        var shown: [String: ServerCall] = [:]
        while shown.count < 2 || shown["words"]?.body != "indexing the mail" {
            let call = try #require(try await server.next())
            shown[call.summary] = call
        }
        #expect(try #require(shown["climb"]).body.hasSuffix(" s · usually 10 min"))
        for call in shown.values {
            try server.close(call.id, reason: 1)
            _ = await server.process.line { $0 == "ok" }
        }
        // Answered after both were closed, so that the daemon knows of that.
        #expect(try await belfry.run("run", "bad", "--follow").code == 3)
        var next = try #require(try await server.next())
        // An update may have been on its way when they were closed.
        while shown[next.summary] != nil { next = try #require(try await server.next()) }
        #expect(next.summary == "bad failed")
        try Data().write(to: URL(fileURLWithPath: folder.file("end")))
        _ = try await events.next(2) { $0["type"].text == "run.completed" }
        #expect(try await belfry.run("run", "worse", "--follow").code == 4)
        #expect(try #require(try await server.next()).summary == "worse failed")
    }

    @Test func `reports a command after the time that it names`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await home("  none: { schedule: manual, command: [\"true\"] }", bus: bus)
        let words = ["exec", "--notify-after", "0s", "--name"]
        #expect(try await belfry.run("belfry", words + ["soon", "--", "true"]).code == 0)
        let shown = try #require(try await server.next())
        #expect(shown.summary.contains("soon") && shown.hints["category"] == "s:x-belfry.job.completed")
        let refused = try await belfry.run("exec", "--notify", "never", "--notify-after", "1s", "--", "true")
        #expect(refused.code == 2 && refused.errors.contains("exclude each other"))
        let labels = ["--label", "host=db1", "--label", "team=web"]
        #expect(try await belfry.run("belfry", ["job", "add", "db"] + labels + ["--", "true"]).code == 0)
        #expect(try await belfry.run("job", "show", "db").text.contains("labels: host=db1 team=web"))
    }

    @Test func `notifies of the outcomes that a job names, and of no others`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await home("  none: { schedule: manual, command: [\"true\"] }", bus: bus)
        let jobs = [
            ["mute", "--notify", "none", "--", "false"], ["loud", "--notify", "completed", "--", "true"],
            ["wrong", "--notify", "started", "--", "true"],
        ]
        for (job, code) in zip(jobs, [0, 0, 2]) {
            #expect(try await belfry.run("belfry", ["job", "add"] + job).code == code)
        }
        #expect(try await belfry.run("job", "show", "mute").text.contains("notifies: never"))
        #expect(try await belfry.run("job", "show", "loud").text.contains("notifies: only when completed"))
        #expect(try await belfry.run("job", "export", "mute").text.contains("notify: { when: none }"))
        #expect(try await belfry.run("run", "mute", "--follow").code == 1)
        #expect(try await belfry.run("run", "loud", "--follow").code == 0)
        // The first that anybody sees, of a run that took no ten seconds.
        let shown = try #require(try await server.next())
        #expect(shown.summary.contains("loud") && shown.hints["category"] == "s:x-belfry.job.completed")
        let why = try await belfry.run("why", "mute#1")
        #expect(why.text.contains("not sent: the notify setting of its job excludes it"))
        // Back to the routes.
        #expect(try await belfry.run("job", "edit", "mute", "--notify", "").code == 0)
        #expect(try await belfry.run("run", "mute", "--follow").code == 1)
        #expect(try #require(try await server.next()).summary.contains("mute"))
    }
}
