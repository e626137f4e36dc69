import Delivery
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `slots of a job that is at work` {
    private let slots = (0..<4).map { at("10:00:00") + .seconds($0) }

    @Test(arguments: [
        (OverlapPolicy.skip, false, "skipped superseded 0-2, run 3"),
        (.skip, true, "skipped overlap 0-3"),
        (.queueOne, false, "run 0, skipped superseded 1-2, run 3"),
        (.queueOne, true, "skipped superseded 0-2, run 3"),
        (.queueAll, false, "run 0, run 1, run 2, run 3"), (.queueAll, true, "run 0, run 1, run 2, run 3"),
        (.replace, false, "skipped superseded 0-2, run 3"), (.replace, true, "skipped superseded 0-2, run 3"),
        (.allow, false, "run 0, run 1, run 2, run 3"), (.allow, true, "run 0, run 1, run 2, run 3"),
    ])
    func `become runs by its policy`(policy: OverlapPolicy, isBusy: Bool, expected: String) {
        #expect(words(policy, isBusy, slots) == expected)
    }

    @Test(arguments: OverlapPolicy.allCases)
    func `are one run when there is one and nothing is at work`(policy: OverlapPolicy) {
        #expect(words(policy, false, [slots[0]]) == "run 0")
    }

    private func words(_ policy: OverlapPolicy, _ isBusy: Bool, _ slots: [Moment]) -> String {
        func number(_ slot: Moment) -> Int { self.slots.firstIndex(of: slot) ?? -1 }
        let decider = SlotDecider(catchUp: .standard, isPaused: false, overlap: policy, isBusy: isBusy)
        return decider.decide(slots, at: at("10:00:04")).map { decision in
            switch decision {
            case .run(let slot): "run \(number(slot))"
            case .pass(let first, let last, _, let state, let reason):
                "\(state.rawValue) \(reason.rawValue) \(number(first))-\(number(last))"
            }
        }.joined(separator: ", ")
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a slot that finds the last run at work` {
    /// Three slots of a job, of which the first one's run is under way; then the rows of all runs.
    private func rows(
        _ policy: OverlapPolicy, isolation: isolated (any Actor)? = #isolation,
        _ look: (SlotScene, [RunRecord]) async throws -> Void
    ) async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(JobSpec.cron("job", "0 * * * * *").with { $0.overlap = policy })
            for minute in 1...3 {
                try await scene.sleeps(until: at("10:0\(minute):00"))
                scene.clock.advance(to: at("10:0\(minute):00"))
                try await scene.settled()
                if minute == 1 {
                    let run = try #require(try await scene.ledger.run(job: "job", ordinal: 1))
                    try await scene.ledger.commit([
                        .moveRun(RunMove(run, from: [.queued], to: .starting)),
                        .moveRun(RunMove(run, from: [.starting], to: .running)),
                    ])
                }
            }
            try await look(scene, try await scene.ledger.runs(RunFilter(job: "job")).reversed())
        }
    }

    @Test func `waits alone with queue-one: a newer one replaces it, and that is reported`() async throws {
        try await rows(.queueOne) { scene, runs in
            #expect(runs.map(\.state) == [.running, .skipped, .queued])
            #expect(runs[1].reason == .superseded && runs[1].endedAt == at("10:03:00"))
            let events = try await scene.ledger.events(after: 0, limit: 9).map(\.event)
            #expect(events.map(\.type) == [.runSkipped] && events.first?.fact.columns.run == runs[1].id)
            #expect(scene.census.runs(of: "job") == [runs[0].id, runs[2].id])
        }
    }

    @Test func `waits with queue-all, however many there are`() async throws {
        try await rows(.queueAll) { scene, runs in
            #expect(runs.map(\.state) == [.running, .queued, .queued])
            #expect(runs.allSatisfy { $0.endAsked == nil })
        }
    }

    @Test func `ends it with replace`() async throws {
        try await rows(.replace) { scene, runs in
            #expect(runs.map(\.state) == [.running, .skipped, .queued])
            #expect(runs[0].endAsked == .replaced && runs[1].reason == .superseded)
            #expect(scene.notedRuns().contains(runs[0].id))
        }
    }

    @Test func `runs beside it with allow`() async throws {
        try await rows(.allow) { _, runs in
            #expect(runs.map(\.state) == [.running, .queued, .queued])
        }
    }

    @Test func `leaves a run alone that waits for another attempt`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(JobSpec.cron("job", "0 * * * * *").with { $0.overlap = .queueOne })
            try await scene.sleeps(until: at("10:01:00"))
            scene.clock.advance(to: at("10:01:00"))
            try await scene.settled()
            let run = try #require(try await scene.ledger.run(job: "job", ordinal: 1))
            var retry = RunMove(run, from: [.starting], to: .queued, reason: .retryWait)
            retry.nextAttempt = 2
            try await scene.ledger.commit([
                .moveRun(RunMove(run, from: [.queued], to: .starting)), .moveRun(retry),
            ])
            scene.clock.advance(to: at("10:02:00"))
            try await scene.settled()
            #expect(try await scene.ledger.runs(RunFilter(job: "job")).map(\.state) == [.queued, .queued])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a request that finds the last run at work` {
    private func ask(_ scene: SlotScene, _ key: String, force: Bool = false) async throws -> RequestOutcome {
        try await scene.keeper.request(
            RequestedRun(job: "job", kind: .manual, cause: RunCause.key(key), force: force))
    }

    @Test(arguments: OverlapPolicy.allCases)
    func `obeys the policy, unless it is forced`(policy: OverlapPolicy) async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(JobSpec.manual("job").with { $0.overlap = policy })
            _ = try await ask(scene, "1")
            let run = try #require(try await scene.ledger.run(job: "job", ordinal: 1))
            try await scene.ledger.commit([.moveRun(RunMove(run, from: [.queued], to: .starting))])
            let outcome = try await ask(scene, "2")
            if case .busy(let runs) = outcome {
                #expect(policy == .skip && runs == [run.id])
            } else {
                #expect(policy != .skip)
                _ = try await ask(scene, "3")
            }
            let endAsked = try await scene.ledger.run(id: run.id)?.endAsked
            #expect(endAsked == (policy == .replace ? .replaced : nil))
            let states = try await scene.ledger.runs(RunFilter(job: "job")).reversed().map(\.state)
            switch policy {
            case .skip: #expect(states == [.starting])
            case .queueOne, .replace: #expect(states == [.starting, .skipped, .queued])
            case .queueAll, .allow: #expect(states == [.starting, .queued, .queued])
            }
            guard case .queued(let forced) = try await ask(scene, "4", force: true) else {
                Issue.record("not forced")
                return
            }
            #expect(forced.isForced)
            // Nobody gives way to it.
            let after = try await scene.ledger.runs(RunFilter(job: "job")).reversed().map(\.state)
            #expect(after == states + [.queued])
        }
    }

    @Test func `with a key is one run, also while it waits`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(JobSpec.manual("job").with { $0.overlap = .queueOne })
            guard case .queued(let first) = try await ask(scene, "k"),
                case .known(let again) = try await ask(scene, "k")
            else {
                Issue.record("not the same run")
                return
            }
            #expect(first.id == again.id && again.state == .queued)
        }
    }
}
