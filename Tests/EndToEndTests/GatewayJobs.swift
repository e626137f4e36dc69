import Foundation
import TestSupport
import Testing
import Tracking

/// The jobs that a gateway runs by itself: shown, watched, taken over and given back.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the jobs of a gateway` {
    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    private static func job(
        _ id: String = "j-1", name: String = "Morning brief", next: Int64, more: String = "",
        state: String = ""
    ) -> String {
        """
        {"id":"\(id)","name":"\(name)","enabled":true,"createdAtMs":1,"updatedAtMs":1,"configRevision":"r1",
        "schedule":{"kind":"cron","expr":"30 7 * * *","tz":"America/Los_Angeles","staggerMs":0},
        "sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"Summarize.",
        "timeoutSeconds":600},"delivery":{"mode":"announce"},"state":{"nextRunAtMs":\(next)\(state)}\(more)}
        """
    }

    /// Half past seven in Los Angeles, which comes next.
    private static func nextBrief() throws -> Int64 {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "America/Los_Angeles"))
        let next = try #require(
            calendar.nextDate(
                after: Date(), matching: DateComponents(hour: 7, minute: 30, second: 0),
                matchingPolicy: .nextTime))
        return Int64(next.timeIntervalSince1970) * 1000
    }

    private func home(_ gateway: GatewayEmulator) async throws -> Belfry {
        let belfry = try Belfry()
        try belfry.write("shared-token\n", to: "token")
        try belfry.configure(
            """
            bots:
              opta:
                backend: { kind: openclaw, url: "\(gateway.url)", token: { file: \(belfry.folder.file("token")) } }
            """)
        try await belfry.start()
        return belfry
    }

    @Test func `are shown with equal next times, unknown kinds among them`() async throws {
        let gateway = try await GatewayEmulator()
        gateway.put(job: Self.job(next: try Self.nextBrief()))
        gateway.put(
            job:
                #"{"id":"s","name":"Stream","enabled":true,"schedule":{"kind":"stream","command":["x"]},"payload":{"kind":"script","script":"y"},"state":{}}"#
        )
        let belfry = try await home(gateway)
        let shown = try await belfry.json("import", "openclaw")
        let jobs = shown["jobs"].list
        #expect(jobs.count == 2 && shown["watchedSince"].text == nil)
        #expect(jobs[0]["equal"] == .bool(true), "\(jobs[0])")
        #expect(jobs[0]["job"]["next"].list.allSatisfy { $0["differs"] == .bool(false) })
        #expect(jobs[1]["known"] == .bool(false))
        #expect(jobs[1]["job"]["refused"].text == "this version does not know what it is")
        let table = try await belfry.run("import", "openclaw").text
        #expect(
            table.contains("Morning brief") && table.contains("schedule stream, payload script"), "\(table)")
        let refused = try await belfry.run("import", "openclaw", "--take-over", "Stream")
        #expect(refused.code == 1 && refused.text.contains("not taken over"), "\(refused)")
        #expect(!gateway.requests.contains { $0.method == "cron.update" })
    }

    @Test func `are watched, and what the gateway keeps silent about is an event`() async throws {
        let gateway = try await GatewayEmulator()
        let next = try Self.nextBrief()
        gateway.put(job: Self.job(next: next))
        gateway.put(job: Self.job("j-2", name: "Lost", next: next))
        let belfry = try await home(gateway)
        let watched = try await belfry.run("import", "openclaw", "--apply")
        #expect(watched.code == 0 && watched.text.contains("Watched since"), "\(watched)")
        // It is due for an hour, and failed before.
        let failing = #","consecutiveErrors":3,"lastRunStatus":"error","lastError":"no model""#
        gateway.put(
            job: Self.job(next: Int64(Date().timeIntervalSince1970 * 1000) - 3_600_000, state: failing))
        gateway.report("finished", of: "j-1")
        let events = try belfry.events()
        var reasons: Set<String> = []
        while !reasons.isSuperset(of: ["failing", "overdue"]) {
            reasons.insert(try await events.event("gateway.job")["reason"].text ?? "")
        }
        try await belfry.kill()
        // It vanishes while nobody looks.
        gateway.lose(job: "j-2")
        try await belfry.start()
        let later = try belfry.events()
        while try await later.event("gateway.job")["reason"].text != "vanished" {}
        let doctor = try await belfry.run("doctor").text
        #expect(doctor.contains("gateway") && doctor.contains("belfry import openclaw"), "\(doctor)")
    }

    @Test func `are taken over once a person has allowed it, and given back`() async throws {
        var manner = GatewayEmulator.Manner()
        manner.guardsUpgrades = true
        let gateway = try await GatewayEmulator(manner)
        gateway.put(job: Self.job(next: try Self.nextBrief()))
        let belfry = try await home(gateway)
        let refused = try await belfry.run("import", "openclaw", "--take-over", "Morning brief")
        #expect(refused.code == 1, "\(refused)")
        #expect(refused.text.contains("openclaw devices approve r-2"), "\(refused)")
        #expect(gateway.job("j-1")?["enabled"] == .bool(true))
        #expect(try await belfry.run("job", "show", "morning-brief").code == 4)
        gateway.approve()
        let taken = try await belfry.run("import", "openclaw", "--take-over", "Morning brief")
        #expect(taken.code == 0 && taken.text.contains("run here as morning-brief"), "\(taken)")
        #expect(gateway.job("j-1")?["enabled"] == .bool(false))
        let update = gateway.requests.last { $0.method == "cron.update" }
        #expect(update?.params["expectedConfigRevision"]?.text == "r1" && update?.fault == nil)
        let job = try await belfry.json("job", "show", "morning-brief")
        #expect(
            job["origin"].text == "import" && job["bot"].text == "opta" && job["prompt"].text == "Summarize.")
        #expect(job["schedule"]["zone"].text == "America/Los_Angeles")
        let again = try await belfry.run("import", "openclaw", "--take-over", "j-1")
        #expect(again.code == 1)
        let run = try await belfry.run("run", "morning-brief", "--follow")
        #expect(run.code == 0, "\(run)")
        #expect(try await belfry.run("run", "logs", "morning-brief").text.contains("Hello there"))
        let back = try await belfry.run("import", "openclaw", "--give-back", "morning-brief")
        #expect(back.code == 0, "\(back)")
        #expect(gateway.job("j-1")?["enabled"] == .bool(true))
        #expect(try await belfry.run("job", "show", "morning-brief").code == 4)
    }

    @Test func `are neither lost nor doubled when the connection breaks during a take-over`() async throws {
        let gateway = try await GatewayEmulator()
        gateway.put(job: Self.job(next: try Self.nextBrief()))
        let belfry = try await home(gateway)
        // The gateway does it, and closes the connection before it has answered.
        gateway.change { $0.swallows = ["cron.update"] }
        async let refused = belfry.run("import", "openclaw", "--take-over", "j-1")
        _ = await gateway.request("cron.update")
        gateway.cut()
        #expect(try await refused.code == 1)
        gateway.change { $0.swallows = [] }
        try await belfry.kill()
        try await belfry.start()
        // Whoever looks next finds it disabled there, and so it runs here.
        try await until {
            _ = try await belfry.run("import", "openclaw")
            return try await belfry.run("job", "show", "morning-brief").code == 0
        }
        #expect(gateway.job("j-1")?["enabled"] == .bool(false))
    }
}
