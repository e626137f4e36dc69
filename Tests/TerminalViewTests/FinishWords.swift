import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the words for a finish time` {
    private func words(
        _ finish: Double?, low: Double? = nil, high: Double? = nil, now: Double = 0, usual: Duration? = nil,
        state: RunState = .running
    ) -> String? {
        var run = live("a#1", state)
        run.finish = finish.map { FinishTime(at: at($0), low: low.map(at), high: high.map(at)) }
        return FinishWording.text(for: run, at: at(now), zone: .utc, usual: usual)
    }

    @Test(arguments: [
        (3.0, "5 s left"), (42, "40 s left"), (58, "1 min left"), (130, "2 min 15 s left"),
        (190, "3 min 15 s left"),
        (500, "8 min left"), (597, "10 min left"), (600, "done 00:10"), (52500, "14 h 35 min left"),
    ])
    func `are rounded to what they are worth`(seconds: Double, expected: String) {
        #expect(words(seconds, low: seconds * 0.9, high: seconds * 1.1) == expected)
    }

    @Test func `are a range when the band is wide, and none when it is wider`() {
        #expect(words(180, low: 150, high: 210) == "3 min left")
        #expect(words(180, low: 120, high: 300) == "2-5m left")
        #expect(words(60, low: 30, high: 90) == "30-90s left")
        #expect(words(10_000, low: 5000, high: 18_000) == "1-5h left")
        #expect(words(180, low: 60, high: 300) == nil)
    }

    @Test func `begin with a tilde while no past run is known`() {
        #expect(words(180) == "~3 min left")
        #expect(words(1200) == "~done 00:20")
    }

    @Test func `are the reader's time of day`() throws {
        var run = live("a#1")
        run.finish = FinishTime(at: at(1200))
        let zone = ZoneRules(name: "X", offsetSeconds: 3600)
        #expect(FinishWording.text(for: run, at: at(0), zone: zone) == "~done 01:20")
    }

    @Test func `are never zero: what did not come true is not shown`() {
        #expect(words(180, now: 180) == nil)
        #expect(words(180, now: 400) == nil)
    }

    @Test func `show by how much a run is late once it passed what is usual`() {
        #expect(words(nil, now: 360, usual: .seconds(240)) == "usually 4 min, now 6 min (+2 min)")
        #expect(words(nil, now: 240, usual: .seconds(240)) == nil)
    }

    @Test(arguments: RunState.allCases.filter { $0 != .running })
    func `are only shown for a run at work`(state: RunState) {
        #expect(words(180, usual: .seconds(1), state: state) == nil)
    }

    @Test(arguments: [
        (0.0, "0 s"), (59, "59 s"), (60, "1 min"), (192, "3 min 12 s"), (3599, "59 min 59 s"),
        (3900, "1 h 5 min"),
        (86400, "1 d"),
        (183_600, "2 d 3 h"), (-5, "0 s"),
    ])
    func `name at most two units`(seconds: Double, expected: String) {
        #expect(DisplayDuration.text(.seconds(seconds)) == expected)
    }
}
