import API
import Curl
import Delivery
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

private let start = Moment(microseconds: 1_774_746_000_250_000)

@Suite struct `a webhook's body` {
    @Test func `has type, timestamp and data with the reason first`() {
        let body = WebhookBody(
            type: "channel.failing", timestamp: start, reason: "timeout",
            objects: [JSON.Member("channel", .object(["name": .string("hook")]))])
        #expect(
            String(decoding: body.bytes, as: UTF8.self)
                == #"{"type":"channel.failing","timestamp":"2026-03-29T01:00:00.250Z","#
                + #""data":{"reason":"timeout","channel":{"name":"hook"}}}"#)
    }

    @Test func `of a message group holds the item with its last three`() throws {
        let last = ["c", "d", "e"].map { text in
            Message(id: "m-\(text)", bot: "ops", thread: "main", text: text, at: start, run: "tell#4")
        }
        let item = ItemSnapshot(
            key: .thread(bot: "ops", thread: "main"), revision: 2, bot: "ops", urgency: .normal,
            reason: .first,
            at: start, content: .messages(count: 5, last: last))
        let text = String(decoding: try JSON.encode(WireItem(item, pinned: ["m-d"])), as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"key":"thread:ops/main","kind":"thread","bot":"ops","thread":"main","count":5,"#))
        #expect(
            text.contains(
                #"{"id":"m-e","bot":"ops","thread":"main","from":"bot","text":"e","#
                    + #""at":"2026-03-29T01:00:00.250Z","read":false,"pinned":false,"run":"tell#4"}],"#))
        #expect(text.hasSuffix(#""urgency":"normal","reason":"first","revision":2}"#))
    }

    @Test func `of a job holds its failures`() throws {
        let report = JobReport(
            job: "backup", news: .failed, fact: JobFact(run: 3, state: .failed, at: start), sameFailures: 2,
            failures: 2)
        let item = ItemSnapshot(
            key: .job("backup"), revision: 2, bot: "ops", urgency: .normal, reason: .sameFailure, at: start,
            content: .job(report))
        #expect(
            String(decoding: try JSON.encode(WireItem(item, pinned: ["m-d"])), as: UTF8.self)
                == #"{"key":"job:backup","kind":"job","bot":"ops","job":"backup","count":2,"last":[],"#
                + #""urgency":"normal","reason":"sameFailure","revision":2}"#)
    }

    @Test func `of a run holds it as the API shows it, with what it used, left behind and last reported`()
        async throws
    {
        let routes = [Route(when: [.failed], to: ["hook"])]
        try await Tower.run(channels: [try makeHook("hook", curl: try CurlMulti())], routes: routes) {
            tower in
            var run = RunRecord(
                id: "01a0c450", job: "backup", bot: "ops", kind: .manual, cause: "key:nightly",
                state: .failed,
                queuedAt: start, revision: 1)
            run.reason = .exitCode
            run.exitCode = 3
            run.startedAt = start
            run.endedAt = start + .seconds(9)
            run.cpu = .milliseconds(1500)
            run.maxRssKb = 2048
            run.survivors = [LeftProcess(pid: 4711, name: "tail")]
            let task = LiveTask(id: run.id, botID: "ops", run: "backup#1", name: "backup", botName: "ops")
            var live = LiveState(task: task, attempt: 1, seq: 7, state: .failed, updatedAt: start)
            live.progress = 0.25
            run.live = live
            try await tower.ledger.commit([
                .insertRun(run, orIgnore: false),
                .append(
                    NewEvent(.runFailed(Fact.End(Fact.Run(run), reason: .exitCode)), at: tower.clock.now)),
            ])
            try await tower.settled()
            let entry = try #require(try await tower.entries(of: "hook").first)
            let said = try #require(JSON(parsing: entry.body[...])?["data"]?["run"])
            let stored = try #require(try await tower.ledger.run(id: run.id))
            #expect(said == (try JSON(encoding: WireRun(stored, live: nil, at: tower.clock.now))))
            #expect(said["cpuMs"]?.int == 1500 && said["maxRssKb"]?.int == 2048)
            #expect(said["survivors"]?.elements.first?["name"]?.text == "tail")
            #expect(said["live"]?["progress"]?.double == 0.25 && said["name"]?.text == "backup#1")
        }
    }

    @Test(arguments: [2, 3])
    func `of a run's start holds when it will be done, once three runs show that`(runs: Int) async throws {
        let hook = try makeHook("hook", curl: try CurlMulti())
        try await Tower.run(channels: [hook], routes: [Route(when: [.started], to: ["hook"])]) { tower in
            func run(_ number: Int, _ move: (RunRecord) -> [Change]) async throws {
                let run = RunRecord(
                    id: "r\(number)", job: "backup", bot: "ops", kind: .manual, cause: "key:\(number)",
                    queuedAt: tower.clock.now, revision: 1)
                var start = RunMove(run: run.id, from: [.queued], attempt: 1, to: .starting)
                start.startedAt = tower.clock.now
                try await tower.ledger.commit(
                    [
                        .insertRun(run, orIgnore: false), .moveRun(start),
                        .moveRun(RunMove(run: run.id, from: [.starting], attempt: 1, to: .running)),
                    ] + move(run))
            }
            for number in 1...runs {
                try await run(number) { _ in [] }
                tower.clock.advance(by: .seconds(60))
                var end = RunMove(run: "r\(number)", from: [.running], attempt: 1, to: .completed)
                end.endedAt = tower.clock.now
                try await tower.ledger.commit([.moveRun(end)])
            }
            try await run(9) { [.append(NewEvent(.runStarted(Fact.Run($0)), at: tower.clock.now))] }
            try await tower.settled()
            let entry = try #require(try await tower.entries(of: "hook").first)
            let live = JSON(parsing: entry.body[...])?["data"]?["run"]?["live"]
            let end = runs < 3 ? nil : (tower.clock.now + .seconds(60)).iso8601
            #expect(live?["etaAt"]?.text == end)
            #expect(live?["timeRemaining"]?.int == (runs < 3 ? nil : 60))
        }
    }

    @Test func `of slots that never ran holds their span`() throws {
        let span = Fact.Slots.Span(first: start, last: start + .seconds(60), count: 2)
        let slots = Fact.Slots(job: "backup", bot: "ops", reason: .catchUpNone, span)
        #expect(
            String(decoding: try JSON.encode(WireRun(slots, span, state: .missed)), as: UTF8.self)
                == #"{"job":"backup","bot":"ops","kind":"scheduled","slot":"2026-03-29T01:00:00.250Z","#
                + #""lastSlot":"2026-03-29T01:01:00.250Z","count":2,"state":"missed","reason":"catchUpNone"}"#
        )
    }

    @Test func `of a run that has ended shows no live state that has not`() {
        var run = RunRecord(
            id: "r", job: "job", bot: "belfry", kind: .manual, cause: "key:1", state: .failed,
            queuedAt: at("10:00:00"), revision: 1)
        (run.reason, run.endedAt) = (.exitCode, at("10:00:05"))
        let task = LiveTask(id: "r", botID: "belfry", run: "job#1", name: "job", botName: "belfry")
        let live = LiveState(task: task, attempt: 1, seq: 3, state: .running, updatedAt: at("10:00:01"))
        #expect(WireRun(run, live: live, at: at("10:00:06")).live?.state == .failed)
    }
}
