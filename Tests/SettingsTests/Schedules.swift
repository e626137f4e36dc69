import Settings
import Testing

@Suite struct `the schedule of a job` {
    private func job(_ schedule: String) -> String {
        "jobs:\n  a:\n    schedule: \(schedule)\n    shell: date"
    }

    @Test func `is pointed at inside its quotes`() {
        #expect(
            refusal(job("\"0 25 * * *\"")) == """
                belfry.yaml:3:18: jobs.a.schedule: hour: 25 is outside 0-23
                      schedule: "0 25 * * *"
                                   ^^
                """)
    }

    @Test func `is pointed at inside a map`() {
        let shown = refusal(job("{ zone: UTC, cron: '0 0 * * 1-Funday' }"))
        #expect(shown.contains("belfry.yaml:3:"))
        #expect(shown.contains("jobs.a.schedule.cron: "))
        #expect(marked(shown) == "Funday")
    }

    @Test func `shows every fault of an expression`() {
        let shown = refusal(job("\"61 25 * * *\"")).split(separator: "\n").filter {
            $0.hasPrefix("belfry.yaml")
        }
        #expect(shown.count == 2)
        #expect(shown.first?.hasPrefix("belfry.yaml:3:16: ") == true)
        #expect(shown.last?.hasPrefix("belfry.yaml:3:19: ") == true)
    }

    @Test func `is refused in a zone that does not exist`() {
        let shown = refusal(job("{ cron: '0 0 * * *', zone: Europe/Berlim }"))
        #expect(shown.contains("jobs.a.schedule.zone: there is no time zone \"Europe/Berlim\""))
        #expect(marked(shown) == "Europe/Berlim")
        #expect(marked(refusal("zone: ../etc/passwd")) == "../etc/passwd")
        #expect(marked(refusal(job("\"CRON_TZ=Mars/Base 0 0 * * *\""))) == "Mars/Base")
    }

    @Test func `is refused when it is missing`() {
        #expect(
            refusal("jobs:\n  a: { shell: date }").contains(
                "belfry.yaml:2:3: jobs: this job has no schedule; "
                    + "write schedule: { cron: \"30 2 * * *\" } or schedule: manual"))
        #expect(refusal(job("{ zone: UTC }")).contains("jobs.a.schedule: no cron expression"))
        #expect(refusal(job("")).contains("belfry.yaml:3:"))
    }

    @Test func `has gap and fold words of its own`() {
        #expect(refusal(job("{ cron: '0 0 * * *', gap: run }")).contains("known here: run-after, skip"))
        #expect(
            refusal(job("{ cron: '0 0 * * *', fold: frist }")).contains("did you mean \"first\"?"))
    }
}

/// The part of the shown line that stands over the first carets.
func marked(_ shown: String) -> String {
    let lines = shown.split(separator: "\n", omittingEmptySubsequences: false)
    guard let carets = lines.firstIndex(where: { $0.contains("^") && $0.allSatisfy { " \t^".contains($0) } }),
        carets > 0
    else { return "" }
    return String(zip(lines[carets], lines[carets - 1]).filter { $0.0 == "^" }.map(\.1))
}
