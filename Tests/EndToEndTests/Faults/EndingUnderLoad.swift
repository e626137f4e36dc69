import Foundation
import Glibc
import Host
import TestSupport
import Testing

/// SIGTERM while others keep the daemon waiting.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the daemon's end under load` {
    @Test func `waits for no webhook that hangs and for no reader that reads nothing`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "hang")
        let belfry = try await Belfry.start(
            """
            jobs:
              tick: { schedule: "* * * * * *", command: ["true"] }
            """, hook: hook)
        let feed = try ChildProcess(
            BuiltProgram.path("belfry"), ["events", "--since", "0", "--json"], environment: belfry.environment
        )
        feed.signal(SIGSTOP)
        // Somebody who asks and never reads, and somebody who never asks.
        let silent = try LocalSocket.connect(belfry.socketPath)
        let deaf = try LocalSocket.connect(belfry.socketPath)
        let request = Array("GET /v1/events?since=0 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        _ = try LocalSocket.send(request[...], over: deaf)
        // The first webhook is on its way, and hangs.
        let hung = try await hook.record()
        // None of them ends by itself; the webhook's own limit would end it as a failed attempt.
        #expect(try await belfry.stop() == 0)
        withExtendedLifetime((silent, deaf)) {}
        await feed.end()
        // What hung is sent again by the next one.
        try await belfry.start()
        // On a slow machine many came after it.
        let entries = try await belfry.json("outbox", "--limit", "1000").list
        let first = try #require(entries.first { $0["id"].text == hung.id })
        #expect(first["attempts"].integer == 0 && first["lastError"].text == nil, "\(first)")
        #expect(try await belfry.stop() == 0)
    }
}

/// A disk that gets full under a daemon at work, and empty again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a full disk` {
    @Test(.enabled(if: SmallDisk.isAllowed, "this user may not mount"))
    func `is reported at once, stops what can't be recorded, and loses nothing`() async throws {
        let hook = try await Belfry.receiver()
        let folder = try TemporaryFolder()
        let executed = folder.file("executed")
        let belfry = try Belfry(
            """
            jobs:
              tick: { schedule: "* * * * * *", env: { LIST: \(executed) }, shell: 'echo "$BELFRY_SLOT" >> "$LIST"' }
            """, hook: hook, in: folder)
        let disk = try SmallDisk(at: belfry.statePath, kilobytes: 16 * 1024)
        try await belfry.start()
        let events = try belfry.events()
        for _ in 1...2 { _ = try await events.event("run.completed") }

        try disk.fill()
        // The alert is recorded, and sent, while the disk is full.
        #expect(try await type("ledger.full", at: hook).verified == true)
        let problems = try await belfry.json("status")["problems"].list
        #expect(problems.first?["kind"].text == "diskFull")
        let refused = try await belfry.run("run", "tick", "--force")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("full"))
        // Some slots pass.
        let begin = Date()
        while Date() < begin + 3 { #expect(try await belfry.run("status").code == 0) }

        try disk.free()
        #expect(try await type("ledger.restored", at: hook).verified == true)
        for _ in 1...3 { _ = try await events.event("run.completed") }
        #expect(try await belfry.json("status")["problems"].list.allSatisfy { $0["kind"].text != "diskFull" })
        try await belfry.run("job", "pause", "tick")
        try await belfry.until {
            let status = try await belfry.json("status")
            return status["running"].integer == 0 && status["queued"].integer == 0
        }

        // Every second has a row; what ran has one of its own, and ran once.
        let rows = try await belfry.json("runs", "tick", "--limit", "9999").list
        var seconds: [Int] = []
        for row in rows {
            let first = try second(row["slot"])
            let last = try row["lastSlot"].text == nil ? first : second(row["lastSlot"])
            seconds += Array(first...last)
        }
        seconds.sort()
        #expect(seconds == Array(try #require(seconds.first)...(try #require(seconds.last))))
        let completed = rows.filter { $0["state"].text == "completed" }.compactMap { $0["slot"].text }
        #expect(belfry.lines(of: "executed").sorted() == completed.sorted())
        #expect(rows.contains { $0["state"].text != "completed" })
        #expect(try await belfry.stop() == 0)
    }

    private func type(_ type: String, at hook: HookServer) async throws -> HookServer.Record {
        while true {
            let record = try await hook.record()
            if record.body?.contains("\"type\":\"\(type)\"") == true { return record }
        }
    }

    private func second(_ moment: JSON?) throws -> Int {
        let text = try #require(moment?.text)
        return Int(try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }
}
