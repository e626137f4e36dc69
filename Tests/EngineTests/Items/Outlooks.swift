import Grouping
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `the outlook of an item` {
    private let now = at("10:00:00")

    private func outlook(_ change: (inout LiveState) -> Void) -> String? {
        let task = LiveTask(id: "a", botID: "ops", run: "backup#7", name: "backup", botName: "ops")
        var live = LiveState(task: task, attempt: 1, seq: 1, state: .running, updatedAt: now)
        live.finish = FinishTime(at: now + .seconds(6), low: now + .seconds(5), high: now + .seconds(7))
        live.usual = .seconds(720)
        change(&live)
        return JobFact(live, at: now).outlook
    }

    @Test func `is how long a run still takes whose progress keeps the words true`() {
        #expect(outlook { $0.progress = 0.5 } == "about 6 s left")
        #expect(outlook { ($0.progress, $0.finish) = (0.5, nil) } == nil)
    }

    @Test func `is how long the job usually takes where nothing would change the words`() {
        #expect(outlook { _ in } == "usually 12 min")
        #expect(outlook { $0.usual = nil } == nil)
    }

    @Test func `is none of a run that is not at work`() {
        for state in RunState.allCases where state != .running {
            #expect(outlook { $0.state = state } == nil)
        }
    }
}
