import Cron
import Delivery
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@testable import Engine

/// An expectation and its judge, from 10:00 on.
private struct Expected {
    let judge: ExpectationJudge
    var value: ExpectationRecord
    var news: [String] = []

    init(_ schedule: ScheduleSpec = every("1d"), grace: Duration = .seconds(3600)) throws {
        value = ExpectationRecord(
            name: "nightly", seed: "s", digest: "d", schedule: schedule, grace: grace, madeAt: at("10:00:00"))
        judge = try value.judge(machineZones)
    }

    static func every(_ text: String) -> ScheduleSpec { ScheduleSpec(kind: .every, text: text, zone: "UTC") }

    mutating func ping(_ ping: ExpectationPing, _ line: String? = nil, at now: Moment) {
        note(judge.receive(ping, line, for: &value, at: now))
    }

    mutating func review(_ now: Moment) { note(judge.review(&value, at: now)) }

    private mutating func note(_ fact: Fact?) {
        switch fact {
        case .expectLate(let news)?: self.news.append(news.reason?.rawValue ?? "?")
        case .expectRecovered(let news)?:
            self.news.append("recovered \(news.payload?.outageSeconds ?? -1)")
        default: break
        }
    }
}

@Suite struct `what must report in time` {
    private let hour = Duration.seconds(3600)
    private let day = Duration.seconds(86_400)
    private let start = at("10:00:00")

    @Test func `is late once when nothing came by the end of the grace, and recovers once`() throws {
        var expected = try Expected()
        expected.review(start)
        #expect(expected.value.reports.alertAt == start + day + hour)
        expected.review(start + day + hour - .microseconds(1))
        #expect(expected.news == [])
        expected.review(start + day + hour)
        expected.review(start + day + hour * 2)
        #expect(expected.news == ["overdue"] && expected.value.reports.alertAt == nil)
        expected.ping(.success, at: start + day + hour * 3)
        expected.ping(.success, at: start + day + hour * 4)
        #expect(expected.news == ["overdue", "recovered 7200"])
        #expect(expected.value.reports.alertAt == start + day * 2 + hour * 5)
    }

    @Test func `follows the times of an expression`() throws {
        var expected = try Expected(ScheduleSpec(kind: .cron, text: "0 3 * * *", zone: "UTC"))
        expected.review(start)
        #expect(expected.value.reports.alertAt == at("04:00:00") + day)
        expected.ping(.success, at: at("03:10:00") + day)
        #expect(expected.value.reports.alertAt == at("04:00:00") + day * 2)
    }

    @Test func `reports a failure at once and keeps its last line`() throws {
        var expected = try Expected()
        expected.ping(.failure(code: 3), at: start + hour)
        #expect(expected.value.reports.message == "exit code 3")
        expected.ping(.failure(code: nil), "disk full", at: start + hour * 2)
        #expect(expected.news == ["failed"] && expected.value.reports.message == "disk full")
        #expect(expected.value.reports.lateSince == start + hour)
        expected.ping(.success, "done", at: start + hour * 3)
        #expect(expected.news == ["failed", "recovered 7200"])
    }

    @Test func `that has started must finish within its grace`() throws {
        var expected = try Expected()
        expected.ping(.start, at: start + hour)
        #expect(expected.value.reports.alertAt == start + hour * 2)
        expected.ping(.log, "at half", at: start + hour)
        expected.review(start + hour * 2)
        #expect(expected.news == ["unfinished"])
        // A start is no success.
        expected.ping(.start, at: start + hour * 3)
        #expect(expected.news == ["unfinished"])
        expected.ping(.success, at: start + hour * 4)
        #expect(expected.news == ["unfinished", "recovered 7200"])
    }

    @Test func `gets one grace more when nobody could hear it, and only one`() throws {
        var expected = try Expected()
        expected.judge.forgive(&expected.value, at: start)
        #expect(expected.value.reports.notBefore == nil)
        let back = start + day * 3
        expected.judge.forgive(&expected.value, at: back)
        expected.review(back)
        #expect(expected.news == [] && expected.value.reports.alertAt == back + hour)
        expected.judge.forgive(&expected.value, at: back + hour)
        expected.review(back + hour)
        #expect(expected.news == ["overdue"])
    }

    @Test func `is not put off by a clock that was set back`() throws {
        var expected = try Expected()
        expected.ping(.success, at: start + day * 400)
        expected.review(start)
        #expect(expected.value.reports.alertAt == start + day + hour)
        expected.judge.forgive(&expected.value, at: start + day * 500)
        expected.review(start + day * 2)
        #expect(expected.value.reports.alertAt ?? start <= start + day * 3 + hour)
    }

    @Test func `is written once by the keeper when the clock was set back, and late in time`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try folder.ledger()
        let clock = ManualClock(now: start)
        var expected = try Expected()
        expected.ping(.success, at: start + hour * 2)
        try await ledger.commit([.putExpectation(expected.value, replacing: nil)])
        let keeper = ExpectationKeeper(ledger: ledger, clock: clock, zones: machineZones, logger: quiet)
        #expect(try await keeper.serve() == .at(start + day + hour))
        let revision = try #require(try await ledger.expectations().first?.revision)
        clock.advance(by: .seconds(1))
        clock.set(to: start + .seconds(60))
        #expect(try await keeper.serve() == .at(start + day + hour))
        // Reports ring more often than all are looked at.
        #expect(try await keeper.serve() == .at(start + .seconds(61)))
        #expect(try await ledger.expectations().first?.revision == revision)
        clock.set(to: start + day + hour)
        _ = try await keeper.serve()
        #expect(try await ledger.expectations().first?.reports.reason == .overdue)
    }

    @Test func `is judged by the keeper at its moment, also after a restart`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try folder.ledger()
        let clock = ManualClock(now: start)
        func keeper() -> ExpectationKeeper {
            ExpectationKeeper(ledger: ledger, clock: clock, zones: machineZones, logger: quiet)
        }
        func news() async throws -> [String] {
            try await ledger.events(after: 0, limit: 99).map { "\($0.event.type.rawValue)" }
        }
        try await ledger.commit([.putExpectation(try Expected().value, replacing: nil)])
        let first = keeper()
        #expect(try await first.serve() == .at(start + day + hour))
        clock.set(to: start + day + hour)
        #expect(try await first.serve() == .whenRung)
        #expect(try await news() == ["expect.late"])
        #expect(try await keeper().serve() == .whenRung)
        #expect(try await news() == ["expect.late"])
        #expect(try await ledger.expectations().first?.reports.reason == .overdue)
    }

    @Test func `is made, changed with its address, reported and removed by name`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, keepers: []) { tower in
            func digest(_ seed: String) -> String { "digest of \(seed)" }
            let daily = Expected.every("1d")
            let made = try await tower.control.expect(
                "nightly", daily, grace: hour, makeDigest: digest)
            #expect(made.0.digest == digest(made.0.seed) && made.dueAt == tower.clock.now + day)
            #expect(try await tower.control.report(.failure(code: 1), nil, digest: made.0.digest))
            #expect(try await tower.control.report(.success, "done", digest: made.0.digest))
            #expect(try await !tower.control.report(.success, nil, digest: "other"))
            let facts = try await tower.ledger.events(after: 0, limit: 99).map(\.event.type)
            #expect(facts == [.expectLate, .expectRecovered])
            let edited = try await tower.control.expect(
                "nightly", Expected.every("2d"), grace: hour, makeDigest: digest)
            #expect(edited.0.seed == made.0.seed && edited.dueAt == tower.clock.now + day * 2)
            await #expect(throws: EngineError.self) {
                _ = try await tower.control.expect(
                    "bad", ScheduleSpec(kind: .cron, text: "0 25 * * *", zone: "UTC"), grace: hour,
                    makeDigest: digest)
            }
            try await tower.control.removeExpectation("nightly")
            await #expect(throws: EngineError.noSuchExpectation("nightly")) {
                try await tower.control.removeExpectation("nightly")
            }
        }
    }
}
