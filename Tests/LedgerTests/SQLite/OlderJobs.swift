import Cron
import Foundation
import Ledger
import Testing
import Timeline

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
