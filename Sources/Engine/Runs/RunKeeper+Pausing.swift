import Ledger
import Performing
import Timeline
import Tracking

/// Why a run can't be paused, or resumed.
package enum PauseFault: Hashable, Sendable {
    /// It has no process yet.
    case notStarted
    /// It is being ended.
    case ending
    /// Its work has ended and is being checked.
    case checked
    /// What does its work is not on this machine.
    case network
    /// It only waits for a process that somebody else started.
    case followed
    /// Nobody who could do it answers.
    case noWarden
    /// The warden was started by an older version.
    case oldWarden

    /// The end of a sentence that begins with the run.
    package var words: String {
        switch self {
        case .notStarted: "has not started"
        case .ending: "is being ended"
        case .checked: "has done its work, and its result is being checked"
        case .network: "works over the network; only processes of this machine can be paused"
        case .followed: "follows a process that it did not start, and leaves it alone"
        case .noWarden: "can't be paused or resumed now: the warden does not answer"
        case .oldWarden:
            "can't be paused: it runs in a warden of an older version, which ends once its runs have ended"
        }
    }
}

/// What was asked of the keeper: runs to pause and to resume, and who waits to learn what happened to that.
struct PauseRequests {
    struct Request {
        let run: String
        let isPaused: Bool
        let answer: AsyncStream<EngineError?>.Continuation
    }

    private var waiting: [Request] = []
    /// Why none is accepted any more.
    private var refusal: EngineError?

    /// The answer comes after the turn that decides; nil: it is done.
    mutating func add(_ run: String, _ isPaused: Bool) -> AsyncStream<EngineError?> {
        let (answers, answer) = AsyncStream.makeStream(of: EngineError?.self)
        if let refusal {
            answer.yield(refusal)
        } else {
            waiting.append(Request(run: run, isPaused: isPaused, answer: answer))
        }
        return answers
    }

    mutating func takeAll() -> [Request] {
        defer { waiting = [] }
        return waiting
    }

    mutating func refuseAll(_ error: EngineError) {
        refusal = error
        for request in takeAll() { request.answer.yield(error) }
    }
}

extension RunKeeper {
    /// Stops the processes of a run, or has them continue; its timeout stands still meanwhile.
    ///
    /// Returns when that is in the ledger: it holds although the daemon ends now.
    package func setPaused(_ isPaused: Bool, _ id: String) async throws(EngineError) {
        let answers = pauses.add(id, isPaused)
        loop.bell.ring()
        for await answer in answers {
            if let answer { throw answer }
            return
        }
        // The one who asked was canceled.
        throw .stopping
    }

    /// Decides what was asked since the last turn; those that may be answered once the steps are committed are returned.
    func decidePauses(into steps: inout [RunStep]) async -> [PauseRequests.Request] {
        var decided: [PauseRequests.Request] = []
        for request in pauses.takeAll() {
            do throws(EngineError) {
                // Steps of one run follow each other, and none may be decided before one that is unrecorded.
                if let failure = unrecorded.failure { throw .ledger(failure) }
                try await decide(request, into: &steps)
                decided.append(request)
            } catch {
                request.answer.yield(error)
            }
        }
        return decided
    }

    /// The steps of the turn were committed, or could not be: then nothing is paused or resumed later, for whoever asked
    /// learns that it failed.
    func answer(_ decided: [PauseRequests.Request]) async {
        guard !decided.isEmpty else { return }
        let dropped = unrecorded.dropPauses(of: Set(decided.map(\.run)))
        for step in dropped {
            // Its end may have been asked for meanwhile.
            runs.active[step.run.id]?.record.state = step.run.state
            runs.active[step.run.id]?.record.reason = step.run.reason
            _ = await board.setPaused(step.run.state == .paused, step.run.id, at: clock.now)
        }
        let failed = Set(dropped.map(\.run.id))
        for request in decided {
            let failure = failed.contains(request.run) ? unrecorded.failure : nil
            request.answer.yield(failure.map(EngineError.ledger))
        }
    }

    private func decide(
        _ request: PauseRequests.Request, into steps: inout [RunStep]
    ) async throws(EngineError) {
        guard let entry = runs.active[request.run], !entry.isLeaving else {
            throw try await refusal(of: request.run)
        }
        let (run, now) = (entry.record, clock.now)
        guard (run.state == .paused) != request.isPaused else { return }
        if let fault = try await fault(of: entry) {
            throw .notPausable(run: run.name, fault)
        }
        let live = await board.setPaused(request.isPaused, run.id, at: now)
        // The board was asked: the run is read again.
        guard let entry = runs.active[request.run], !entry.isLeaving else {
            throw try await refusal(of: request.run)
        }
        add(
            request.isPaused ? decider.paused(entry.record, live) : decider.resumed(entry.record, live),
            to: &steps)
    }

    /// Why the run, which is in hand, can't be paused or resumed; nil: it can.
    private func fault(of entry: ActiveRun) async throws(EngineError) -> PauseFault? {
        if entry.record.endAsked != nil { return .ending }
        guard [.running, .blocked, .stalled, .paused].contains(entry.record.state) else { return .notStarted }
        if entry.check != nil { return .checked }
        let link = performers[entry.performer]
        guard link.kind == .warden else { return .network }
        guard link.isConnected else { return .noWarden }
        // One that is paused is resumed by whoever holds it.
        let key = RunKey(run: entry.record.id, attempt: entry.record.attempt)
        guard link.performer.pauses(key) || entry.record.state == .paused else { return .oldWarden }
        var spec = entry.spec
        do throws(LedgerError) {
            if spec == nil { spec = try await specs.spec(of: entry.record) }
        } catch {
            throw .ledger(error)
        }
        return spec?.followedProcess == nil ? nil : .followed
    }

    /// Why nothing can be asked of a run that is in nobody's hand.
    private func refusal(of id: String) async throws(EngineError) -> EngineError {
        do throws(LedgerError) {
            guard let run = try await ledger.run(id: id) else { return .noSuchRun(id) }
            return run.state.isEnded
                ? .ended(run: run.name, state: run.state.rawValue) : .notPausable(run: run.name, .notStarted)
        } catch {
            throw .ledger(error)
        }
    }
}
