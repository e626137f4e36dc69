import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a replay of what has happened` {
    private let start = at("10:00:00")

    private func rules(
        _ routes: [Route], _ restraint: Restraint = Restraint(), jobs: [String: JobSpec] = [:],
        _ change: (inout DispatchRules) -> Void = { _ in }
    ) -> ReplayRules {
        var dispatch = DispatchRules(
            routing: Routing(routes: routes),
            channels: [.init("desk", isLevel: true), .init("hook", isLevel: false)])
        dispatch.restraints["ops"] = restraint
        change(&dispatch)
        return ReplayRules(dispatch: dispatch, jobs: jobs)
    }

    private func replay(
        _ tower: Tower, _ before: ReplayRules, _ after: ReplayRules, since: Moment? = nil
    ) async throws -> ReplayReport {
        var replay = Replay(of: tower.ledger, since: since ?? start, before: before, after: after)
        return try await replay.run()
    }

    private let both = [Route(when: [.failed, .recovered, .message], to: ["desk", "hook"])]

    @Test func `shows no difference between the same rules`() async throws {
        try await Tower.run(keepers: [.items]) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.say("hello")
            try await tower.settled()
            let report = try await replay(tower, rules(both), rules(both))
            #expect(report.differences.isEmpty && report.events == 2)
            #expect(report.before == ["desk": [.rang: 2], "hook": [.rang: 2]])
            #expect(report.after == report.before)
        }
    }

    @Test func `shows what another route, a threshold and quiet hours change`() async throws {
        try await Tower.run(keepers: [.items]) { tower in
            for code in [1, 2] { try await tower.end("backup", .failed, exitCode: code) }
            try await tower.say("hello")
            try await tower.settled()
            var restraint = Restraint()
            restraint.alertAfter = 2
            restraint.quiet = try DailyHours(["09:00-11:00"], in: .utc)
            let routes = [Route(when: [.failed, .message], to: ["desk"])]
            let report = try await replay(tower, rules(both), rules(routes, restraint))
            let rows = report.differences.map { row in
                "\(row.type) \(row.channel) \(row.before?.action.rawValue ?? "-") \(row.after?.action.rawValue ?? "-")"
            }
            #expect(
                rows == [
                    // A failure is critical: quiet hours let it through.
                    "run.failed desk rang suppressed", "run.failed hook rang -", "run.failed hook rang -",
                    "message.posted desk rang held", "message.posted hook rang -",
                ])
            #expect(report.differences.first?.after?.reason == "fewFailures")
            #expect(report.differences[3].after?.until == at("11:00:00"))
            #expect(report.after == ["desk": [.suppressed: 1, .rang: 1, .held: 1]])
        }
    }

    @Test func `counts failures from before its beginning, and spends budgets`() async throws {
        try await Tower.run(keepers: [.items]) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(by: .seconds(600))
            try await tower.end("backup", .failed, exitCode: 1)
            for thread in ["a", "b", "c"] { try await tower.say("hello", thread: thread) }
            try await tower.settled()
            var restraint = Restraint()
            (restraint.alertAfter, restraint.budget) = (2, 2)
            let report = try await replay(
                tower, rules(both), rules(both, restraint), since: at("10:05:00"))
            #expect(report.events == 4)
            // The second failure is the same as the first one: the count of its item rises.
            #expect(report.before["desk"] == [.silent: 1, .rang: 3])
            #expect(report.after["desk"]?[.held] == 1, "two of three threads rang")
            #expect(report.differences.allSatisfy { $0.after?.reason == "overBudget" })
        }
    }

    @Test func `lets a recovery through only where its failure went`() async throws {
        try await Tower.run(keepers: [.items]) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.end("backup", .completed)
            try await tower.settled()
            // The recovery follows in a turn of its own.
            try await tower.until { try await tower.eventTypes().contains(.runRecovered) }
            var restraint = Restraint()
            restraint.alertAfter = 2
            let report = try await replay(tower, rules(both), rules(both, restraint))
            let recoveries = report.differences.filter { $0.type == "run.recovered" }
            #expect(recoveries.map(\.before?.action) == [.rang, .rang])
            #expect(recoveries.map(\.after?.reason) == ["failureNotSent", "failureNotSent"])
        }
    }

    @Test func `obeys the jobs of the changed file, and silences as they were`() async throws {
        try await Tower.run(keepers: [.items]) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.end("mail", .failed, exitCode: 1)
            try await tower.settled()
            let never = JobSpec.manual("backup").with { $0.notify = .never }
            let silence = try Silence(
                id: freshID(), matchers: [Matcher("job=mail")], from: start, until: start + .seconds(60),
                by: "me")
            let report = try await replay(
                tower, rules(both), rules(both, jobs: ["backup": never]) { $0.silences = [silence] })
            let rows = report.differences.map { "\($0.about) \($0.channel) \($0.after?.reason ?? "-")" }
            #expect(
                rows == [
                    "backup#1 desk notWished", "backup#1 hook notWished", "mail#1 desk silenced",
                    "mail#1 hook silenced",
                ])
        }
    }
}
