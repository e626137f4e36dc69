import OpenClaw
import Testing
import Timeline
import Tracking

/// A job of a gateway: a daily turn that was made well, but for what `change` makes of it.
private func job(_ id: String = "j", state: String = "", _ more: String = "", enabled: Bool = true) throws
    -> GatewayJob
{
    let text = """
        {"id":"\(id)","name":"Morning brief","enabled":\(enabled),
        "schedule":{"kind":"cron","expr":"30 7 * * *","tz":"America/Los_Angeles"},
        "sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"Summarize"},
        "delivery":{"mode":"announce"},"state":{\(state)}\(more)}
        """
    return try #require(GatewayJob(json(text)))
}

private func ms(_ seconds: Int64) -> String { "\((1_793_000_000 + seconds) * 1000)" }
private func at(_ seconds: Int64) -> Moment { Moment(seconds: 1_793_000_000 + seconds) }

private func run(_ status: String, at seconds: Int64, _ more: String = "") throws -> GatewayRun {
    try #require(
        GatewayRun(
            json(
                #"{"ts":\#(ms(seconds + 5)),"jobId":"j","action":"finished","status":"\#(status)","runAtMs":\#(ms(seconds))\#(more)}"#
            )))
}

private func look(
    _ jobs: [GatewayJob], runs: [GatewayRun] = [], removed: Set<String> = [], at seconds: Int64 = 0
) -> GatewayLook {
    GatewayLook(at: at(seconds), jobs: jobs, runs: runs, removed: removed)
}

extension GatewayWatch {
    /// The words of what a look shows.
    fileprivate mutating func words(_ look: GatewayLook) -> [String] {
        review(look, at: look.at).map(\.matter.word)
    }
}

@Suite struct `a watch of a gateway's jobs` {
    @Test func `reports a job that is overdue once, and that it is all right again`() throws {
        var watch = GatewayWatch()
        let waiting = try job(state: #""nextRunAtMs":\#(ms(100))"#)
        #expect(watch.words(look([waiting])) == [])
        #expect(watch.nextDeadline(after: at(0)) == at(220))
        #expect(watch.words(look([waiting], at: 220)) == [])
        let news = watch.review(look([waiting], at: 221), at: at(221))
        #expect(news.map(\.matter) == [.overdue(at(100))])
        #expect(
            news.first?.words(at: at(221), in: .utc)
                == "was due at \(at(100).iso8601(in: .utc)) and has not run")
        #expect(watch.words(look([waiting], at: 300)) == [] && watch.alarms(of: "j") == [.overdue])
        let late = try job(
            state: #""nextRunAtMs":\#(ms(90_000)),"lastRunAtMs":\#(ms(290)),"lastRunStatus":"ok""#)
        #expect(watch.words(look([late], at: 301)) == ["recovered"])
        #expect(watch.troubled == 0)
    }

    @Test func `waits longer where the gateway delays its jobs by itself`() throws {
        let delayed = try #require(
            GatewayJob(
                json(
                    #"{"id":"j","schedule":{"kind":"cron","expr":"0 * * * *"},"payload":{"kind":"agentTurn","message":"x"},"state":{"nextRunAtMs":\#(ms(100))}}"#
                )))
        #expect(delayed.stagger == .seconds(300))
        var watch = GatewayWatch()
        #expect(watch.words(look([delayed], at: 520)) == [])
        #expect(watch.words(look([delayed], at: 521)) == ["overdue"])
    }

    @Test func `reports a time that the gateway passed over`() throws {
        var watch = GatewayWatch()
        _ = watch.words(look([try job(state: #""nextRunAtMs":\#(ms(100))"#)]))
        let next = try job(state: #""nextRunAtMs":\#(ms(86_500)),"lastRunAtMs":\#(ms(-80_000))"#)
        let news = watch.review(look([next], at: 110), at: at(110))
        #expect(news.map(\.matter) == [.missed(at(100))])
        // The same plan without a run, because somebody changed it, is no news.
        var edited = GatewayWatch()
        _ = edited.words(look([try job(state: #""nextRunAtMs":\#(ms(100))"#)]))
        let moved = try #require(
            GatewayJob(
                json(
                    #"{"id":"j","schedule":{"kind":"every","everyMs":60000},"payload":{"kind":"agentTurn","message":"x"},"state":{"nextRunAtMs":\#(ms(160))}}"#
                )))
        #expect(edited.words(look([moved], at: 110)) == [])
        // A run that the log shows counts although the list does not show it yet.
        var ran = GatewayWatch()
        _ = ran.words(look([try job(state: #""nextRunAtMs":\#(ms(100))"#)]))
        #expect(ran.words(look([next], runs: [try run("ok", at: 100)], at: 110)) == [])
    }

    @Test func `reports a run that takes too long`() throws {
        var watch = GatewayWatch()
        let busy = try job(
            state: #""nextRunAtMs":\#(ms(0)),"runningAtMs":\#(ms(0))"#)
        #expect(watch.words(look([busy], at: 3720)) == [])
        let news = watch.review(look([busy], at: 3721), at: at(3721))
        #expect(news.map(\.matter) == [.stuck(at(0), limit: .seconds(3600))])
        // Also while nobody can look.
        var away = GatewayWatch()
        _ = away.words(look([busy], at: 10))
        #expect(away.review(at: at(3721)).map(\.matter.word) == ["stuck"])
        #expect(away.review(at: at(9999)) == [])
    }

    @Test func `reports failures once, again when they are five times as many, and their end`() throws {
        var watch = GatewayWatch()
        func failing(_ count: Int) throws -> GatewayLook {
            look([
                try job(
                    state:
                        #""lastRunStatus":"error","lastError":"no \u001b[31mmodel","consecutiveErrors":\#(count)"#
                )
            ])
        }
        let first = watch.review(try failing(1), at: at(1))
        #expect(first.map(\.matter.word) == ["failing"])
        #expect(first.first?.words(at: at(1), in: .utc).contains("\u{1b}") == false)
        for count in [2, 4] { #expect(try watch.words(failing(count)) == []) }
        let more = try watch.review(failing(5), at: at(2)).first?.words(at: at(2), in: .utc)
        #expect(more?.hasPrefix("has failed 5 times") == true)
        // As many as any gateway may claim.
        #expect(try watch.words(failing(.max)) == ["failing"] && watch.words(failing(.max)) == [])
        let well = try job(state: #""lastRunStatus":"ok","consecutiveErrors":0"#)
        #expect(watch.words(look([well])) == ["recovered"])
    }

    @Test func `notices a failure between two looks in the log, and counts each entry once`() throws {
        var watch = GatewayWatch()
        let well = try job(state: #""lastRunStatus":"ok","consecutiveErrors":0"#)
        _ = watch.words(look([well], runs: [try run("error", at: -50)]))
        let runs = [
            try run("ok", at: 20), try run("error", at: 10, #","error":"timeout""#),
            try run("error", at: -50),
        ]
        let news = watch.review(look([well], runs: runs, at: 30), at: at(30))
        #expect(news.map(\.matter) == [.failing(1, "timeout")])
        #expect(watch.words(look([well], runs: runs, at: 40)) == [])
    }

    @Test func `reports what is left of a job that somebody disabled once, not at every look`() throws {
        var watch = GatewayWatch()
        #expect(watch.words(look([try job(state: "")])) == [])
        let left = try job(
            state: #""runningAtMs":\#(ms(0)),"lastRunStatus":"ok","lastDeliveryStatus":"not-delivered""#,
            enabled: false)
        #expect(watch.words(look([left], at: 100_000)) == ["notDelivered"])
        #expect(watch.words(look([left], at: 100_060)) == [] && watch.alarms(of: "j").isEmpty)
        let failed = try job(
            state: #""lastRunAtMs":\#(ms(3)),"lastRunStatus":"error","consecutiveErrors":2"#, enabled: false)
        let runs = [try run("error", at: 1), try run("error", at: 3)]
        #expect(watch.words(look([failed], runs: runs, at: 100_120)) == ["failing"])
        #expect(watch.words(look([failed], runs: runs, at: 100_180)) == [])
        var late = GatewayWatch()
        for seconds in [1, 2] as [Int64] { #expect(late.words(look([failed], at: 100_000 + seconds)) == []) }
    }

    @Test func `reports a result that was not delivered, and a job that the gateway disabled`() throws {
        var watch = GatewayWatch()
        let lost = try job(
            state: #""lastRunStatus":"ok","lastDeliveryStatus":"not-delivered","lastDeliveryError":"no chat""#
        )
        #expect(watch.review(look([lost]), at: at(0)).map(\.matter) == [.notDelivered("no chat")])
        let old = try job(state: #""lastRunStatus":"ok","lastDelivered":false"#)
        #expect(old.state.isUndelivered)
        let off = try job(
            state:
                #""consecutiveErrors":10,"lastRunStatus":"error","autoDisabled":{"reason":"consecutive-failures"}"#,
            enabled: false)
        #expect(watch.words(look([off])).contains("disabled"))
        #expect(watch.alarms(of: "j") == [.disabled])
    }

    @Test func `reports a job that vanished, but none that somebody removed or that has run its only time`()
        throws
    {
        var watch = GatewayWatch()
        let once = try #require(
            GatewayJob(
                json(
                    #"{"id":"once","name":"Once","schedule":{"kind":"at","at":"\#(at(50).iso8601)"},"payload":{"kind":"systemEvent","text":"x"},"state":{"nextRunAtMs":\#(ms(50))}}"#
                )))
        let unrun = try #require(
            GatewayJob(
                json(
                    #"{"id":"unrun","name":"Lost","schedule":{"kind":"at","at":"\#(at(50).iso8601)"},"payload":{"kind":"systemEvent","text":"x"},"state":{"nextRunAtMs":\#(ms(50))}}"#
                )))
        _ = watch.words(look([try job("a"), try job("b"), once, unrun]))
        let ran = try #require(
            GatewayRun(json(#"{"ts":\#(ms(52)),"jobId":"once","runAtMs":\#(ms(50)),"status":"ok"}"#)))
        let news = watch.review(look([], runs: [ran], removed: ["b"], at: 60), at: at(60))
        #expect(news.map(\.job) == ["a", "unrun"])
        #expect(news.map(\.matter) == [.vanished(hasRun: true), .vanished(hasRun: false)])
        #expect(watch.count == 0)
    }

    @Test func `reports a job that runs in both places`() throws {
        var watch = GatewayWatch()
        #expect(watch.review(look([try job(enabled: false)]), taken: ["j"], at: at(0)) == [])
        #expect(watch.review(look([try job()]), taken: ["j"], at: at(1)).map(\.matter.word) == ["doubled"])
        #expect(watch.review(look([try job()]), taken: [], at: at(2)).map(\.matter.word) == ["recovered"])
    }

    @Test func `knows after a restart what it knew before`() throws {
        var watch = GatewayWatch()
        _ = watch.words(
            look(
                [try job(state: #""nextRunAtMs":\#(ms(-500)),"consecutiveErrors":3"#)],
                runs: [try run("ok", at: -9)]))
        let text = String(decoding: watch.json.bytes, as: UTF8.self)
        #expect(GatewayWatch(json(text)) == watch)
        #expect(GatewayWatch(json("{}")) == nil)
    }

    @Test func `is silent about jobs of unknown kinds unless they have trouble`() throws {
        let stream = try #require(
            GatewayJob(
                json(
                    #"{"id":"s","name":"S","schedule":{"kind":"stream","command":["x"]},"payload":{"kind":"script"},"new":1}"#
                )))
        #expect(!stream.isKnown && stream.times == .other("stream") && stream.work == .other("script"))
        var watch = GatewayWatch()
        #expect(watch.words(look([stream])) == [])
    }

    @Test(arguments: [
        ("604800000", true), ("31536000000", false), ("1e308", false), ("0", false), (#""1h""#, false),
    ])
    func `takes no interval for another one that it can read`(interval: String, isKnown: Bool) throws {
        let text = #"{"id":"e","schedule":{"kind":"every","everyMs":\#(interval)}}"#
        let job = try #require(GatewayJob(json(text)))
        #expect(job.times == (isKnown ? .every(.seconds(604_800), anchor: nil) : .other("every")))
    }
}
