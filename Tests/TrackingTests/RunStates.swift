import Testing
import Tracking

@Suite struct `a run's state` {
    @Test func `has exactly the words scripts rely on`() {
        #expect(
            RunState.allCases.map(\.rawValue) == [
                "scheduled", "queued", "starting", "running", "blocked", "paused", "stalled", "completed",
                "failed", "canceled", "timedOut", "lost", "skipped", "missed",
            ])
    }

    @Test func `never leaves an end`() {
        for end in RunState.allCases where end.isEnded {
            #expect(RunState.allCases.allSatisfy { !end.canBecome($0) }, "\(end)")
        }
    }

    @Test func `never becomes itself`() {
        for state in RunState.allCases { #expect(!state.canBecome(state), "\(state)") }
    }

    @Test func `can reach an end from everywhere`() {
        for state in RunState.allCases where !state.isEnded {
            #expect(RunState.allCases.contains { $0.isEnded && state.canBecome($0) }, "\(state)")
        }
    }

    @Test func `is active from queued to stalled`() {
        #expect(
            RunState.allCases.filter(\.isActive)
                == [.queued, .starting, .running, .blocked, .paused, .stalled])
    }

    @Test func `reaches each state by the paths of a run and no shorter`() {
        let allowed: [RunState: Set<RunState>] = [
            .scheduled: [.queued, .skipped, .canceled],
            .queued: [.starting, .skipped, .canceled],
            .starting: [.running, .queued, .skipped, .completed, .failed, .canceled, .timedOut, .lost],
            .running: [
                .blocked, .paused, .stalled, .queued, .completed, .failed, .canceled, .timedOut, .lost,
            ],
            .blocked: [.running, .paused, .queued, .completed, .failed, .canceled, .timedOut, .lost],
            .paused: [.running, .blocked, .queued, .completed, .failed, .canceled, .timedOut, .lost],
            .stalled: [
                .running, .blocked, .paused, .queued, .completed, .failed, .canceled, .timedOut, .lost,
            ],
        ]
        for state in RunState.allCases {
            let next = Set(RunState.allCases.filter(state.canBecome))
            #expect(next == allowed[state, default: []], "\(state)")
        }
    }

    @Test(arguments: [
        (RunState.queued, "running"), (.blocked, "running"), (.stalled, "running"), (.completed, "completed"),
        (.canceled, "failed"), (.timedOut, "failed"), (.lost, "failed"),
    ])
    func `projects onto the three words of the phone`(state: RunState, word: String) {
        #expect(state.wireStatus.rawValue == word)
    }
}

@Suite struct `the order of updates` {
    @Test func `is by run, attempt and seq`() {
        let first = LiveOrder(runID: "a", attempt: 1, seq: 9)
        let retried = LiveOrder(runID: "a", attempt: 2, seq: 1)
        let other = LiveOrder(runID: "b", attempt: 1, seq: 0)
        #expect([other, retried, first].sorted() == [first, retried, other])
    }

    @Test func `rises across restarts of the daemon`() {
        let before = LiveOrder.firstSeq(incarnation: 3) + 999_999_999
        #expect(LiveOrder.firstSeq(incarnation: 4) > before)
    }
}
