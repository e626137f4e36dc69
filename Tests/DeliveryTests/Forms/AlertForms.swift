import Delivery
import Testing
import Timeline
import Tracking

@Suite struct `an event at a service of alerts` {
    @Test func `is a CloudEvent in the binary mode`() throws {
        let request = try Sample.cloudEvents().sent(Sample.failure(), ["token": "t"])
        #expect(request["ce-specversion"] == "1.0" && request["ce-id"] == "01900000-aaaa")
        #expect(request["ce-type"] == "belfry.run.failed" && request["ce-source"] == "belfry")
        #expect(request["ce-time"] == Sample.noon.iso8601 && request["Authorization"] == "Bearer t")
        #expect(request["Content-Type"] == "application/json")
        #expect(request.json?["notice"]?["title"]?.text == "backup failed")
        #expect(request.json?["run"]?["exitCode"]?.int == 3)
    }

    @Test func `is a CloudEvent in the structured mode`() throws {
        let request = try Sample.cloudEvents("structured").sent(Sample.failure())
        #expect(request["Content-Type"] == "application/cloudevents+json; charset=utf-8")
        #expect(!request.headers.contains { $0.name.hasPrefix("ce-") })
        let json = try #require(request.json)
        for (name, value) in [
            ("specversion", "1.0"), ("id", "01900000-aaaa"), ("source", "belfry"),
            ("type", "belfry.run.failed"),
            ("time", Sample.noon.iso8601), ("datacontenttype", "application/json"),
        ] { #expect(json[name]?.text == value) }
        #expect(json["data"]?["reason"]?.text == "exitCode" && json["data"]?["run"]?["job"]?.text == "backup")
    }

    @Test func `is an alert of Alertmanager, which the recovery ends`() throws {
        let form = try Sample.alertmanager()
        let request = form.sent(Sample.failure())
        #expect(request.url == "https://e.org/am/api/v2/alerts")
        let alert = try #require(request.json?[0])
        #expect(
            alert["labels"]?.shown
                == #"{"alertname":"BelfryJobFailing","job":"backup","bot":"ops","severity":"warning"}"#)
        #expect(alert["annotations"]?["summary"]?.text == "backup failed")
        #expect(alert["startsAt"]?.text == Sample.noon.iso8601)
        #expect(alert["endsAt"]?.text == (Sample.noon + .seconds(7 * 86_400)).iso8601)
        let over = try #require(form.json(Sample.recovery)?[0])
        #expect(over["labels"] == alert["labels"] && over["startsAt"] == nil)
        #expect(over["endsAt"]?.text == Sample.noon.iso8601)
        let word = try #require(form.json(Sample.messages(["hi"]))?[0])
        #expect(word["labels"]?["alertname"]?.text == "BelfryNotice")
        #expect(word["endsAt"]?.text == (Sample.noon + .seconds(3600)).iso8601)
    }

    @Test func `is an incident of PagerDuty, which the recovery resolves`() throws {
        let form = try Sample.pagerDuty()
        let request = form.sent(Sample.failure(), ["key": "R0"])
        #expect(request.url == "https://events.pagerduty.com/v2/enqueue")
        let json = try #require(request.json)
        #expect(json["routing_key"]?.text == "R0" && json["event_action"]?.text == "trigger")
        #expect(
            json["payload"]?["severity"]?.text == "critical"
                && json["payload"]?["component"]?.text == "backup")
        #expect(json["payload"]?["custom_details"]?["output"]?.text == "tar: x\nno tape")
        let over = try #require(form.sent(Sample.recovery, ["key": "R0"]).json)
        #expect(over["event_action"]?.text == "resolve" && over["routing_key"]?.text == "R0")
        #expect(over["dedup_key"] == json["dedup_key"] && over["dedup_key"]?.text == "job:backup")
        let queued = String(decoding: form.render(Sample.failure()), as: UTF8.self)
        #expect(!queued.contains("routing_key"))
    }

    @Test func `is a ping with the exit code and the last lines`() throws {
        let form = try Sample.ping()
        let id = "5f0e0a3c-0a53-4f3b-9a55-000000000001"
        #expect(
            form.sent(Sample.start, ["key": id]).url == "https://hc-ping.com/\(id)/start?rid=\(Sample.runID)")
        let failed = form.sent(Sample.failure(), ["key": id])
        #expect(failed.url == "https://hc-ping.com/\(id)/3?rid=\(Sample.runID)")
        #expect(
            failed.text == "backup failed: no tape in the drive · exit code 3 after 12 s\n\ntar: x\nno tape")
        #expect(form.sent(Sample.recovery, ["key": id]).url.contains("/\(id)/0?rid="))
        #expect(form.sent(Sample.messages(["a"]), ["key": id]).url == "https://hc-ping.com/\(id)/log")
        #expect(
            form.sent(Sample.failure(), ["key": "pk"]).url
                == "https://hc-ping.com/pk/backup/3?rid=\(Sample.runID)")
    }

    @Test func `is the push of a Live Activity`() throws {
        let form = try Sample.liveActivity()
        let start = form.sent(Sample.start, ["token": "t"])
        #expect(start["apns-push-type"] == "liveactivity" && start["apns-priority"] == "10")
        let aps = try #require(start.json?["aps"])
        #expect(aps["event"]?.text == "start" && aps["timestamp"]?.int == Int(Sample.noon.seconds))
        #expect(aps["attributes-type"]?.text == "BelfryTaskAttributes" && aps["input-push-token"]?.int == 1)
        #expect(
            aps["attributes"]?["taskId"]?.text == Sample.runID && aps["attributes"]?["botId"]?.text == "ops")
        let state = try #require(aps["content-state"])
        #expect(state["taskName"]?.text == "backup" && state["status"]?.text == "running")
        #expect(state["progress"]?.double == 0.25 && state["timeRemaining"]?.int == 90)
        let failed = form.sent(Sample.failure())
        #expect(failed["apns-collapse-id"] == start["apns-collapse-id"])
        #expect(failed.json?["aps"]?["event"]?.text == "end")
        #expect(failed.json?["aps"]?["content-state"]?["status"]?.text == "failed")
        #expect(failed.json?["aps"]?["dismissal-date"]?.int == Int(Sample.noon.seconds) + 900)
        let word = form.sent(Sample.messages(["hi"]))
        #expect(word["apns-push-type"] == "alert" && word.json?["aps"]?["alert"]?["body"]?.text == "hi")
    }

    /// What a Live Activity is pushed of a run that started at noon, so many seconds later.
    private func aps(_ fact: Fact, after seconds: Double) throws -> (priority: String?, aps: JSON) {
        let live = JSON.object([
            "progress": .double(0.5), "etaAt": .string((Sample.noon + .seconds(90_000)).iso8601),
            "staleAt": .string((Sample.noon + .seconds(90_000)).iso8601),
        ])
        let bulletin = Sample.event(
            fact, at: Sample.noon + .milliseconds(Int64(seconds * 1000)),
            run: ["startedAt": .string((Sample.noon + .milliseconds(100)).iso8601), "live": live])
        let request = try Sample.liveActivity().sent(bulletin)
        return (request["apns-priority"], try #require(request.json?["aps"]))
    }

    @Test
    func `is a Live Activity that ends before the phone ends it, and has whole seconds to count down to`()
        throws
    {
        let life = Double(7 * 3600 + 45 * 60)
        let before = try aps(.runProgress(Sample.run), after: life)
        #expect(before.priority == "5" && before.aps["event"]?.text == "update")
        #expect(before.aps["content-state"]?["status"]?.text == "running")
        #expect(before.aps["content-state"]?["startedEpoch"]?.int == Int(Sample.noon.seconds))
        #expect(before.aps["content-state"]?["etaEpoch"]?.int == Int(Sample.noon.seconds) + 90_000)
        #expect(before.aps["stale-date"] != nil && before.aps["dismissal-date"] == nil)
        for fact in [Fact.runProgress(Sample.run), .runBlocked(Fact.Blocked(Sample.run, kind: .question))] {
            let after = try aps(fact, after: life + 0.1)
            #expect(after.priority == "10" && after.aps["event"]?.text == "end")
            #expect(after.aps["dismissal-date"]?.int == Int(Sample.noon.seconds) + Int(life) + 900)
            #expect(after.aps["stale-date"] == nil && after.aps["content-state"]?["progress"]?.double == 0.5)
        }
        // What is pushed of a run that goes on does not use up the phone's budget.
        let later = try aps(.runProgress(Sample.run), after: life + 60)
        #expect(later.priority == "5" && later.aps["event"]?.text == "end")
    }

    @Test func `is a Live Activity whose every update is younger than the last, also of a short run`() throws
    {
        let times = try [
            (Fact.runStarted(Sample.run), 0.1), (.runProgress(Sample.run), 0.2),
            (.runBlocked(Fact.Blocked(Sample.run, kind: .question)), 0.3),
            (.runFailed(Fact.End(Sample.run, reason: .exitCode)), 0.4),
        ].map { try aps($0, after: $1).aps["timestamp"]?.int ?? 0 }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    }
}
