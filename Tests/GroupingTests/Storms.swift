import Grouping
import Testing
import Timeline
import Tracking

/// Draws what becomes of jobs that fail alike, ten seconds a column.
///
/// In: a capital letter is the failure of that job, a small one its success, `^` puts the item away. Out: `3` are three
/// that fail, `2/3` two of three that still fail, `ok3` three that succeeded; `@db1` is the host that they share.
private func expect(
    labels: [Character: [String: String]] = [:], in input: String, out: String,
    at location: SourceLocation = #_sourceLocation
) throws {
    let marbles = Marbles<StormItem>(
        step: .seconds(10),
        feed: { item, character, now in
            if character == "^" { return item.dismissed(revision: item.revision, at: now) }
            let job = character.lowercased()
            guard character.isUppercase else { return item.end(job, isWell: true, at: now) }
            return item.fail(job, failure(now), labels: labels[character] ?? [:], at: now)
        },
        wake: { $0.wake(at: $1) }, flushAt: \.flushAt, draw: draw)
    #expect(try marbles.run(StormItem(number: 1), in: input) == out, sourceLocation: location)
}

private func failure(_ now: Moment, _ text: String? = "no route to host") -> JobFact {
    JobFact(run: 1, state: .failed, reason: .exitCode, exitCode: 1, text: text, at: now)
}

private func draw(_ item: ItemSnapshot) -> String {
    guard case .storm(let report) = item.content else { return "?" }
    let host = report.labelValue.map { "@\($0)" } ?? ""
    if report.failing == 0 { return "ok\(report.total)\(host)" }
    return report.failing == report.total
        ? "\(report.total)\(host)" : "\(report.failing)/\(report.total)\(host)"
}

@Suite struct `jobs that fail alike` {
    @Test func `are one item from the third on, in silence`() throws {
        try expect(in: "AB", out: "")
        try expect(in: "ABC", out: "--(3)")
        try expect(in: "ABCDE", out: "--(3)(4)(5)")
    }

    @Test func `are one when they fail within a minute, and not over an hour`() throws {
        try expect(in: "A--B--C", out: "")
        try expect(in: "A--B-C", out: "-----(3)")
        try expect(in: "AA-A-AA", out: "")
    }

    @Test func `ring once more when all of them have succeeded`() throws {
        try expect(in: "ABCabc", out: "--(3)(2/3)(1/3)[ok3]")
        try expect(in: "ABCaAabc", out: "--(3)(2/3)(3)(2/3)(1/3)[ok3]")
    }

    @Test func `are no storm when they succeed before there are three`() throws {
        try expect(in: "AaBbCcAB", out: "")
    }

    @Test func `stay away when a person put them away, and report the recovery`() throws {
        try expect(in: "ABC^AB", out: "--(3)x")
        try expect(in: "ABC^abc", out: "--(3)x--[ok3]")
    }

    @Test func `name the label that all of them share`() throws {
        let hosts: [Character: [String: String]] = [
            "A": ["host": "db1", "team": "web"], "B": ["host": "db1", "team": "web"],
            "C": ["host": "db1", "team": "ops"], "D": ["team": "ops"],
        ]
        try expect(labels: hosts, in: "ABCD", out: "--(3@db1)(4)")
    }

    @Test func `are one when their texts differ in numbers only, or they end alike without a text`() {
        let now = Moment(seconds: 0)
        func cause(_ text: String?, code: Int = 1, state: RunState = .failed) -> FailureCause {
            var fact = failure(now, text)
            (fact.exitCode, fact.state) = (code, state)
            return FailureCause(fact)
        }
        #expect(cause("timeout after 31 s") == cause("timeout after 7 s", code: 2))
        #expect(cause("no route to host") != cause("no space left"))
        #expect(cause(nil) == cause("") && cause(nil) != cause(nil, code: 2))
        #expect(cause(nil, state: .lost) != cause(nil))
    }

    @Test func `accept others for a minute after the last of them, until all is well or put away`() {
        var item = StormItem(number: 1)
        let start = Moment(seconds: 1_700_000_000)
        func isOpen(_ seconds: Int) -> Bool? { item.storm?.isOpen(at: start + .seconds(seconds)) }
        for (number, job) in ["a", "b", "c"].enumerated() {
            let now = start + .seconds(number)
            _ = item.fail(job, failure(now), labels: [:], at: now)
        }
        #expect(isOpen(62) == true && isOpen(63) == false)
        _ = item.read(at: start + .seconds(10))
        #expect(isOpen(11) == false)
        // Nobody waits for it for ever.
        #expect(item.flushAt == start + .seconds(2) + Storm.lifetime)
        _ = item.wake(at: start + .seconds(2) + Storm.lifetime)
        #expect(item.storm == nil && item.flushAt == nil)
    }
}
