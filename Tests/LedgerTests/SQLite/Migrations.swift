import Cron
import Delivery
import Foundation
import FoundationEssentials
import GRDB
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@testable import LedgerSQLite

@Suite struct `a ledger of an older schema` {
    private func old(in folder: TemporaryFolder) async throws -> String {
        let path = folder.file("ledger.sqlite")
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            try Schema.migrate(database, path: path, migrations: [.first])
            try database.execute(
                sql: """
                    INSERT INTO fact VALUES ('zone', 'UTC');
                    INSERT INTO event (type, at, detail) VALUES ('test', 1, '');
                    """)
        }
        try pool.close()
        return path
    }

    @Test func `of the first migration only is opened, with all that it holds`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let ledger = try SQLiteLedger(path: path)
        #expect(try await ledger.fact(named: "zone") == "UTC")
        #expect(try await ledger.lastEvent() == 1)
        try await ledger.commit([.event()])
        await ledger.close()
        if Migration.newest > 1 {
            let copy = LedgerFile(path: folder.file("ledger-before-\(Migration.newest).sqlite"))
            #expect(try copy.check().schema == 1)
            #expect(try copy.check().lastEvent == 1)
        }
    }

    @Test func `has entries that wait for their channel where they were held for it`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    INSERT INTO outbox (id, channel, cause, type, reason, state, attempts, created_at, body)
                    VALUES ('o1', 'hook', 'c', 'test', 'r', 'held', 1, 1, x'7B7D');
                    INSERT INTO channel VALUES ('hook', x'7B7D', 1);
                    """)
        }
        try pool.close()
        let ledger = try SQLiteLedger(path: path)
        #expect(try await ledger.outbox(id: "o1")?.state == .waiting)
        #expect(try await ledger.channel(named: "hook")?.identity == nil)
        await ledger.close()
    }

    @Test func `has events whose texts became the payloads of their types`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let rows: [(type: String, columns: String, detail: String, fact: Fact)] = [
            (
                "run.failed", "'exitCode', 'backup', 'r1', 'ops', NULL, NULL", #"it said "no""#,
                .runFailed(
                    Fact.End(
                        Fact.Run(job: "backup", id: "r1", bot: "ops"), reason: .exitCode,
                        message: #"it said "no""#))
            ),
            (
                "run.recovered", "'recovered', 'backup', 'r1', 'ops', NULL, NULL", #"{"outageSeconds":60}"#,
                .runRecovered(
                    Fact.Recovery(Fact.Run(job: "backup", id: "r1", bot: "ops"), outage: .seconds(60)))
            ),
            (
                "run.missed", "'paused', 'backup', NULL, 'ops', NULL, NULL",
                #"{"slot":"1970-01-01T00:01:00Z","lastSlot":"1970-01-01T00:02:00Z","count":2}"#,
                .runMissed(
                    Fact.Slots(
                        job: "backup", bot: "ops", reason: .paused,
                        Fact.Slots.Span(
                            first: Moment(seconds: 60), last: Moment(seconds: 120), count: 2)))
            ),
            (
                "message.read", "NULL, NULL, NULL, 'ops', 'thread:ops/main', NULL", "1774746000000250",
                .messageRead(
                    Fact.Reading(
                        "thread:ops/main", bot: "ops",
                        through: Moment(microseconds: 1_774_746_000_000_250)))
            ),
            (
                "item.dismissed", "NULL, NULL, NULL, NULL, 'job:backup', 'desk'", "7",
                .itemDismissed(Fact.Dismissal("job:backup", on: "desk", revision: 7))
            ),
            (
                "channel.failing", "'serverError', NULL, NULL, NULL, NULL, 'hook'", "answered 503",
                .channelFailing(Fact.Channel("hook", reason: .serverError, error: "answered 503"))
            ),
            (
                "job.leftOut", "'nameTaken', 'backup', NULL, 'ops', NULL, NULL", "job \"backup\" is left out",
                .jobLeftOut(
                    Fact.LeftOut(
                        job: "backup", bot: "ops", reason: "nameTaken", message: "job \"backup\" is left out")
                )
            ),
            (
                "clock.back", "'newEra', NULL, NULL, NULL, NULL, NULL", "1w2d4h59m30s",
                .clockBack(Fact.ClockBack(by: .seconds(795_570)))
            ),
            (
                "config.reloaded", "NULL, NULL, NULL, NULL, NULL, NULL",
                #"{"added":["a"],"changed":[],"removed":[]}"#,
                .configReloaded(Fact.Reload(Fact.Reload.Difference(added: ["a"])))
            ),
            (
                "run.started", "NULL, 'backup', 'r1', 'ops', NULL, NULL", "",
                .runStarted(Fact.Run(job: "backup", id: "r1", bot: "ops"))
            ),
        ]
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            for row in rows {
                try database.execute(
                    sql: """
                        INSERT INTO event (type, at, reason, job, run, bot, subject, channel, detail)
                        VALUES (?, 1, \(row.columns), ?)
                        """, arguments: [row.type, row.detail])
            }
        }
        try pool.close()
        let ledger = try SQLiteLedger(path: path)
        let events = try await ledger.events(after: 1, limit: 99)
        #expect(events.map(\.event.fact) == rows.map(\.fact))
        #expect(events.compactMap(\.fault).isEmpty)
        await ledger.close()
    }

    @Test func `is copied before a migration, and left as it was by one that fails`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let copy = folder.file("ledger-before-1000.sqlite")
        let good = Migration(version: 1000, sql: "DROP TABLE fact; CREATE TABLE tower (bell TEXT) STRICT;")
        let bad = Migration(version: 1000, sql: "DROP TABLE fact; CREATE TABLE tower (;")
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            #expect(throws: LedgerError.self) {
                try Schema.migrate(database, path: path, migrations: [.first, bad])
            }
            #expect(try String.fetchOne(database, sql: "SELECT value FROM fact") == "UTC")
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 1)
            try Schema.migrate(database, path: path, migrations: [.first, good])
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 1000)
        }
        try pool.close()
        let summary = try LedgerFile(path: copy).check()
        #expect(summary.schema == 1)
        #expect(summary.lastEvent == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(!FileManager.default.fileExists(atPath: copy + ".new"))
    }

    @Test func `is named after its schema beside it`() {
        #expect(Schema.copyPath(of: "/a.b/ledger.sqlite", before: 2) == "/a.b/ledger-before-2.sqlite")
        #expect(Schema.copyPath(of: "/a.b/ledger", before: 2) == "/a.b/ledger-before-2")
    }
}

@Suite struct `an event whose row can't be read` {
    @Test func `has what its columns hold, and shows what is wrong`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.sqlite")
        await (try SQLiteLedger(path: path)).close()
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    INSERT INTO event (type, at, reason, job, run, payload)
                    VALUES ('run.failed', 1, 'exitCode', 'backup', 'r1', '{"message":'),
                        ('run.exploded', 2, 'x', 'backup', 'r1', '');
                    """)
        }
        try pool.close()
        let ledger = try SQLiteLedger(path: path)
        let events = try await ledger.events(after: 0, limit: 9)
        let run = Fact.Run(job: "backup", id: "r1", bot: "belfry")
        #expect(
            events.map(\.event.fact) == [
                .runFailed(Fact.End(run, reason: .exitCode)),
                .unknown(FactColumns(reason: "x", job: "backup", run: "r1")),
            ])
        #expect(events[0].fault != nil)
        #expect(events[1].fault == "\"run.exploded\" is not a known type")
        await ledger.close()
    }

    @Test(arguments: [3, 19, 1701] as [UInt64])
    func `is read all the same, whatever its bytes are`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.sqlite")
        await (try SQLiteLedger(path: path)).close()
        // Random bytes, and the payloads of other types with a few bytes changed.
        let good = try Fact.samples.compactMap(\.payload).map { [UInt8](try JSONEncoder().encode($0)) }
        let payloads = (0..<600).map { number -> [UInt8] in
            if number % 2 == 0 {
                return (0..<Int.random(in: 1...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            var bytes = good.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            return bytes
        }
        let types = payloads.map { _ in EventType.allCases.randomElement(using: &random) ?? .test }
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            for (type, payload) in zip(types, payloads) {
                try database.execute(
                    sql: "INSERT INTO event (type, at, job, payload) VALUES (?, 1, 'j', CAST(? AS TEXT))",
                    arguments: [type.rawValue, Data(payload)])
            }
        }
        try pool.close()
        let ledger = try SQLiteLedger(path: path)
        let events = try await ledger.events(after: 0, limit: 1000)
        #expect(events.map(\.event.type) == types)
        await ledger.close()
    }
}

@Suite struct `a job that an older version stored` {
    @Test func `has by default what that version did not know`() throws {
        let text = """
            {"action":{"shell":{"_0":"true"}},"bot":"ops","name":"old",
            "schedule":{"kind":"manual","text":"","zone":"UTC"}}
            """
        let spec = try JSONDecoder().decode(JobSpec.self, from: Data(text.utf8))
        #expect(
            spec
                == JobSpec(
                    name: "old", bot: "ops", action: .shell("true"),
                    schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC")))
    }

    @Test func `of every 14 days stays one of elapsed time`() throws {
        let text = """
            {"kind":"every","text":"14d","zone":"UTC","made":1795795200000000}
            """
        let spec = try JSONDecoder().decode(ScheduleSpec.self, from: Data(text.utf8))
        let made = Moment(microseconds: 1_795_795_200_000_000)
        #expect(try spec.schedule(seed: "old") == .every(.seconds(14 * 86_400), anchor: made))
    }

    @Test func `reads back whole`() throws {
        var spec = JobSpec.sample("new")
        (spec.overlap, spec.attempts, spec.retriesLost, spec.priority) = (.queueOne, 3, true, -7)
        (spec.backoff, spec.concurrency) = (.seconds(60), ConcurrencyKey(key: "disk", max: 2))
        (spec.directory, spec.timeout, spec.environment) = ("/", .seconds(9), ["A": "b"])
        #expect(try JSONDecoder().decode(JobSpec.self, from: try JSONEncoder().encode(spec)) == spec)
    }
}
