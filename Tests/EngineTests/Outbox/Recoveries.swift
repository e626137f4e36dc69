import Curl
import Delivery
import Engine
import Host
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

extension Tower {
    /// An entry about a run.
    fileprivate func entry(_ id: String, _ type: EventType, _ run: String) -> OutboxRecord {
        OutboxRecord(
            id: id, channel: "one", cause: "event:\(id)", type: type.rawValue, reason: "",
            createdAt: clock.now,
            nextAt: clock.now, run: run, body: Array("{}".utf8))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a recovery` {
    private func run(_ plan: String, _ body: (Tower, HookServer) async throws -> Void) async throws {
        let server = try await HookServer(["--status-plan", plan])
        let hook = try makeHook("one", to: server.url(), curl: try CurlMulti())
        try await Tower.run(
            at: .now, keepers: [.items, .outbox], channels: [hook],
            routes: [Route(when: [.failed, .recovered], to: ["one"])]
        ) { tower in
            try await tower.end("backup", .failed, exitCode: 2)
            try await tower.until { try await tower.entries(of: "one").first?.attempts == 1 }
            try await tower.end("backup", .completed)
            try await body(tower, server)
        }
    }

    @Test func `waits for its failure to arrive, and is not sent where that dies meanwhile`() async throws {
        try await run("503,400,204") { tower, server in
            try await tower.until { try await tower.entries(of: "one").count == 2 }
            #expect(try await tower.entries(of: "one").last?.attempts == 0)
            tower.clock.advance(by: .seconds(80))
            try await tower.until { try await tower.entries(of: "one").last?.state == .suppressed }
            #expect(try await tower.entries(of: "one").first?.state == .dead)
            #expect(try await server.records(2).allSatisfy { $0.body?.contains("run.failed") == true })
            let seq = try #require(
                try await tower.ledger.events(after: 0, limit: .max).first {
                    $0.event.type == .runRecovered
                }?.seq)
            let verdict = try await tower.ledger.verdicts(on: [seq]).first
            #expect(verdict?.reason == "failureNotSent" && verdict?.action == .suppress)
        }
    }

    @Test func `is sent after its failure arrived`() async throws {
        try await run("503,204,204") { tower, server in
            try await tower.until { try await tower.entries(of: "one").count == 2 }
            tower.clock.advance(by: .seconds(80))
            try await tower.until { try await tower.entries(of: "one").last?.state == .delivered }
            let bodies = try await server.records(3).map(\.body)
            #expect(bodies.last??.contains("run.recovered") == true, "\(bodies)")
        }
    }

    @Test func `hides nothing that stands behind it, however many wait for their failures`() async throws {
        let (server, folder) = (try await HookServer(), try TemporaryFolder())
        let hook = try makeHook("one", to: server.url(), curl: try CurlMulti())
        let routes = [Route(when: [.failed, .recovered], to: ["one"])]
        let begin = Moment.now
        try await Tower.run(in: folder, at: begin, keepers: [], channels: [hook], routes: routes) { tower in
            // Each failure was tried and is tried again in an hour; more recoveries than a line is looked along.
            for number in 0..<70 {
                let failed = try await tower.end("job\(number)", .failed, exitCode: 1)
                let recovered = try await tower.end("job\(number)", .completed)
                var failure = tower.entry("f\(number)", .runFailed, failed.id)
                (failure.attempts, failure.nextAt) = (1, begin + .seconds(3600))
                let recovery = tower.entry("r\(number)", .runRecovered, recovered.id)
                try await tower.ledger.commit([.insertOutbox(failure), .insertOutbox(recovery)])
            }
            try await tower.ledger.commit([.insertOutbox(tower.entry("z", .runFailed, "z"))])
        }
        try await Tower.run(in: folder, at: begin, keepers: [.outbox], channels: [hook], routes: routes) {
            tower in
            try await tower.until { try await tower.ledger.outbox(id: "z")?.state == .delivered }
            #expect(try await tower.ledger.outbox(states: [.delivered], limit: .max).map(\.id) == ["z"])
            #expect(try await server.record().id == "z")
        }
    }
}
