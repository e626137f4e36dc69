import Curl
import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

extension Tower {
    /// A run begins now, as the keeper of runs records it.
    fileprivate func start(_ job: String, _ kind: RunKind) async throws -> RunRecord {
        let id = freshID()
        let run = RunRecord(
            id: id, job: job, bot: "ops", kind: kind, cause: RunCause.request(id), queuedAt: clock.now,
            revision: 1)
        var move = RunMove(run: id, from: [.queued], attempt: 1, to: .starting)
        move.startedAt = clock.now
        try await ledger.commit([
            .insertRun(run, orIgnore: false), .moveRun(move),
            .append(NewEvent(.runStarted(Fact.Run(run)), at: clock.now)),
            .moveRun(RunMove(run: id, from: [.starting], attempt: 1, to: .running)),
        ])
        try await settled()
        return try #require(try await ledger.run(id: id))
    }

    /// Of that run: `event channel:action reason`, of the desk.
    fileprivate func why(_ run: RunRecord, on channel: String = "desk") async throws -> [String] {
        try await control.why(run.id, limit: 100).filter { $0.verdict.channel == channel }.map {
            "\($0.type?.rawValue ?? "-") \($0.verdict.action.rawValue) \($0.verdict.reason)"
        }
    }

    fileprivate func surface(_ job: String) async throws -> SurfaceRecord? {
        try await ledger.surface(channel: "desk", item: "job:\(job)")
    }
}

@Suite(.timeLimit(.minutes(5))) struct `without routes` {
    let curl: CurlMulti
    let channels: [any Channel]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    private func tower(_ body: (Tower) async throws -> Void) async throws {
        try await Tower.run(channels: channels, hasRoutes: false, body)
    }

    @Test func `a scheduled success rings nowhere, and why says so`() async throws {
        try await tower { tower in
            let run = try await tower.start("backup", .scheduled)
            #expect(try await tower.why(run) == ["run.started hold justStarted"])
            tower.clock.advance(by: .seconds(2))
            try await tower.end(run, .completed)
            try await tower.settled()
            #expect(try await tower.surface("backup") == nil)
            #expect(try await tower.entries(of: "hook").isEmpty)
            #expect(
                try await tower.why(run) == [
                    "run.started suppress shortRun", "run.completed suppress scheduledSuccess",
                ])
            #expect(
                try await tower.why(run, on: "hook") == [
                    "run.started suppress routine", "run.completed suppress scheduledSuccess",
                ])
        }
    }

    @Test func `what a person asked for is reported after ten seconds, or its own limit`() async throws {
        try await tower { tower in
            var spec = JobSpec.manual("patient")
            spec.notifyAfter = .seconds(60)
            try await tower.ledger.commit([
                .putJob(
                    JobRecord(spec: spec, origin: .cli, revision: 1, since: tower.clock.now), replacing: nil)
            ])
            func reported(_ job: String, after seconds: Int) async throws -> Bool {
                let run = try await tower.start(job, .manual)
                tower.clock.advance(by: .seconds(seconds))
                try await tower.end(run, .completed)
                try await tower.settled()
                return try await tower.entries(of: "hook").contains { $0.run == run.id }
            }
            #expect(try await reported("quick", after: 9) == false)
            #expect(try await reported("slow", after: 10))
            #expect(try await reported("patient", after: 59) == false)
            #expect(try await reported("patient", after: 60))
        }
    }

    @Test func `a job that names its outcomes is reported by those alone, scheduled or not`() async throws {
        try await tower { tower in
            let loud = JobSpec.manual("loud").with { $0.notify = .only([.completed]) }
            let mute = JobSpec.manual("mute").with { $0.notify = .never }
            for spec in [loud, mute] {
                let job = JobRecord(spec: spec, origin: .cli, revision: 1, since: tower.clock.now)
                try await tower.ledger.commit([.putJob(job, replacing: nil)])
            }
            let good = try await tower.start("loud", .scheduled)
            try await tower.end(good, .completed)
            try await tower.settled()
            #expect(try await tower.surface("loud")?.ring == true)
            let bad = try await tower.start("loud", .scheduled)
            try await tower.end(bad, .failed, exitCode: 1)
            let silent = try await tower.start("mute", .scheduled)
            try await tower.end(silent, .failed, exitCode: 1)
            let span = Fact.Slots.Span(first: tower.clock.now, last: tower.clock.now, count: 1)
            let missed = Fact.Slots(job: "mute", bot: "ops", reason: .catchUpNone, span)
            try await tower.ledger.commit([.append(NewEvent(.runMissed(missed), at: tower.clock.now))])
            try await tower.settled()
            #expect(try await tower.surface("mute") == nil)
            #expect(try await tower.entries(of: "hook").map(\.run) == [good.id])
            for run in [bad, silent] {
                #expect(try await tower.why(run, on: "hook").last == "run.failed suppress notWished")
            }
            // A run at work is shown after five seconds, but not of a job that never notifies.
            let long = try await tower.start("mute", .scheduled)
            tower.clock.advance(by: .seconds(60))
            try await tower.end(long, .completed)
            try await tower.settled()
            #expect(try await tower.surface("mute") == nil)
        }
    }

    @Test func `a run at work is shown after five seconds, also by the next daemon, and its result in place`()
        async throws
    {
        let folder = try TemporaryFolder()
        var started: RunRecord?
        try await Tower.run(in: folder, channels: channels, hasRoutes: false) { tower in
            started = try await tower.start("backup", .scheduled)
            tower.clock.advance(by: .seconds(4))
            #expect(try await tower.surface("backup") == nil)
        }
        let run = try #require(started)
        try await Tower.run(in: folder, at: at("10:00:04"), channels: channels, hasRoutes: false) { tower in
            try await tower.settled()
            #expect(try await tower.surface("backup") == nil)
            tower.clock.advance(by: .seconds(1))
            try await tower.until { try await tower.surface("backup") != nil }
            #expect(try await tower.why(run) == ["run.started send progressed"])
            tower.clock.advance(by: .seconds(60))
            try await tower.end(run, .completed)
            try await tower.settled()
            let surface = try #require(try await tower.surface("backup"))
            let shown = try #require(try await tower.shown(.job("backup")))
            #expect(surface.wanted == Int64(shown.revision) && !surface.ring)
            #expect(shown.reason == .settled)
            guard case .job(let report) = shown.content else { return }
            #expect(report.news == .completed)
            #expect(try await tower.why(run).last == "run.completed send settled")
        }
    }

    @Test func `failures, recoveries and lost runs are always reported`() async throws {
        try await tower { tower in
            for (number, state) in [RunState.failed, .completed, .lost, .completed].enumerated() {
                let run = try await tower.start("backup", .scheduled)
                try await tower.end(run, state, exitCode: state == .failed ? 1 : nil)
                try await tower.settled()
                #expect(try await tower.surface("backup")?.wanted == Int64(number + 1))
                tower.clock.advance(by: .seconds(600))
            }
            let types = try await tower.entries(of: "hook").map(\.type)
            #expect(types == ["run.failed", "run.recovered", "run.lost", "run.recovered"])
        }
    }

    @Test func `an exec that names a time is reported after it, also where other routes lead`() async throws {
        let routes = [Route(when: [.failed], to: ["desk", "hook"])]
        for hasRoutes in [true, false] {
            try await Tower.run(channels: channels, routes: routes, hasRoutes: hasRoutes) { tower in
                for (seconds, wish) in [(29, nil), (30, nil), (29, .always), (31, .always)]
                    as [(Int, NotifyWish?)]
                {
                    let id = freshID()
                    var run = RunRecord(
                        id: id, job: "make", bot: "belfry", kind: .exec, cause: RunCause.exec(id),
                        state: .completed, queuedAt: tower.clock.now, revision: 0)
                    run.startedAt = tower.clock.now - .seconds(seconds)
                    run.endedAt = tower.clock.now
                    run.spec = .manual("make")
                    run.spec?.notify = wish
                    run.spec?.notifyAfter = .seconds(30)
                    #expect(try await tower.control.takeIn(run))
                    try await tower.settled()
                    let isSent = try await tower.entries(of: "hook").contains { $0.run == id }
                    #expect(isSent == (seconds >= 30), "\(seconds) \(hasRoutes)")
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a recovery where a channel was added during the failure` {
    @Test func `is reported where the failure was, and nothing is left half shown`() async throws {
        let curl = try CurlMulti()
        let folder = try TemporaryFolder()
        let old = try makeDeskAndHook(curl)
        let new =
            old + [
                makeDesk("tv", clock: ManualClock(now: at("10:00:00"))), try makeHook("late", curl: curl),
            ]
        try await Tower.run(in: folder, channels: old, hasRoutes: false) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
        }
        try await Tower.run(in: folder, at: at("11:00:00"), channels: new, hasRoutes: false) { tower in
            let run = try await tower.start("backup", .scheduled)
            tower.clock.advance(by: .seconds(6))
            func surface(_ channel: String) async throws -> Int64? {
                try await tower.ledger.surface(channel: channel, item: "job:backup")?.wanted
            }
            try await tower.until { try await surface("tv") != nil }
            let before = try #require(try await surface("tv"))
            tower.clock.advance(by: .seconds(2))
            try await tower.end(run, .completed)
            try await tower.settled()
            let record = try #require(try await tower.ledger.item(.job("backup")))
            func news(_ channel: String) -> JobNews? {
                guard case .job(let report)? = shownItem(record, on: channel)?.content else { return nil }
                return report.news
            }
            #expect(news("desk") == .recovered && news("tv") == .completed)
            #expect(shownItem(record, on: "tv")?.reason == .settled)
            #expect(try #require(try await surface("tv")) > before)
            let sent = try await tower.ledger.outbox(states: [], limit: .max).reversed()
            #expect(sent.map { "\($0.channel) \($0.type)" } == ["hook run.failed", "hook run.recovered"])
            #expect(
                try await tower.why(run, on: "late").last == "run.recovered suppress failureNotSent")
            // The next failure is everybody's.
            tower.clock.advance(by: .seconds(600))
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.entries(of: "late").map(\.type) == ["run.failed"])
        }
    }
}
