import Testing
import Timeline
import Tracking

@testable import TerminalView

@Suite struct `the words for a finish time` {
    private func run(
        _ finish: Double?, low: Double? = nil, high: Double? = nil, usual: Duration? = nil,
        state: RunState = .running
    ) -> LiveState {
        var run = live("a#1", state)
        run.startedAt = at(0)
        run.finish = finish.map { FinishTime(at: at($0), low: low.map(at), high: high.map(at)) }
        run.usual = usual
        return run
    }

    private func time(_ run: LiveState, at now: Double) -> String? {
        FinishWording.time(of: run, at: at(now), zone: .utc)
    }

    @Test func `come after the time so far`() {
        #expect(time(run(12, low: 11, high: 13), at: 6) == "6 s, about 6 s left")
        #expect(time(run(900, low: 840, high: 1140), at: 300) == "5 min, 9 to 14 min left")
        #expect(time(run(180), at: 60) == "1 min, ~2 min left")
    }

    @Test func `are a time of day from ten minutes on, the reader's`() {
        let narrow = run(1200, low: 1150, high: 1250)
        #expect(time(narrow, at: 100) == "1 min 40 s, done about 00:20")
        #expect(time(run(1200), at: 100) == "1 min 40 s, done ~00:20")
        #expect(time(narrow, at: 700) == "11 min 40 s, about 8 min left")
        let zone = ZoneRules(name: "X", offsetSeconds: 3600)
        #expect(FinishWording.text(for: narrow, at: at(0), zone: zone) == "done about 01:20")
        // Of that long away it could be tomorrow's.
        #expect(time(run(52_500, low: 52_000, high: 53_000), at: 1) == "1 s, about 14 h 35 min left")
    }

    @Test func `are left out where nothing is known, and the time so far is named as such`() {
        #expect(time(run(nil), at: 6) == "6 s so far")
        #expect(time(run(nil), at: 0) == "1 s so far")
        #expect(time(run(180, low: 20, high: 400), at: 6) == "6 s so far")
        #expect(time(run(180, low: 170, high: 190), at: 200) == "3 min 20 s so far")
        #expect(time(run(nil, usual: .seconds(240)), at: 240) == "4 min so far")
    }

    @Test func `show by how much a run is late once it passed what is usual`() {
        #expect(time(run(nil, usual: .seconds(240)), at: 360) == "usually 4 min, now 6 min (+2 min)")
    }

    @Test(arguments: RunState.allCases.filter { $0 != .running })
    func `are only shown for a run at work`(state: RunState) {
        let run = run(180, usual: .seconds(1), state: state)
        #expect(FinishWording.text(for: run, at: at(2), zone: .utc) == nil)
        #expect(time(run, at: 2) == (state.isUnderWay ? "2 s so far" : nil))
    }

    @Test(arguments: [
        (0.0, "<1 s"), (59, "59 s"), (60, "1 min"), (192, "3 min 12 s"), (3599, "59 min 59 s"),
        (3900, "1 h 5 min"),
        (86400, "1 d"),
        (183_600, "2 d 3 h"), (-5, "<1 s"),
    ])
    func `name at most two units`(seconds: Double, expected: String) {
        #expect(DisplayDuration.text(.seconds(seconds)) == expected)
    }
}
