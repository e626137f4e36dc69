import Grouping
package import Ledger
package import Timeline
package import Tracking

/// What a run waits for.
package struct RunWait: Hashable, Sendable {
    package var kind: WaitKind
    /// The bot, the job, the concurrency key or the question (its id) that it waits for; nil: it has no name.
    package var name: String?
    /// Until when, where that is known.
    package var until: Moment?
    /// How many runs are before it there, those at work included; nil: nobody counted them.
    package var before: Int?

    package init(_ kind: WaitKind, name: String? = nil, until: Moment? = nil) {
        (self.kind, self.name, self.until) = (kind, name, until)
    }

    /// It is blocked, by the question if there is one, which is named by its id.
    init(blockedBy kind: BlockedKind?, _ question: QuestionRecord?) {
        self.init(WaitKind(kind), name: question?.id, until: question?.question.deadline)
    }

    /// It waits for the moment of its next attempt; `last` is the one before.
    init(retryOf run: RunRecord, after last: AttemptRecord?) {
        let isOfNetwork = last?.reason?.isOfNetwork == true
        // Of a bot that could not be reached, its name says whom to look after.
        let name = isOfNetwork && last?.reason?.isOfBot == true ? run.bot : nil
        self.init(isOfNetwork ? .network : .retry, name: name, until: run.notBefore)
    }

    /// It waits at a gate that is closed.
    init(at gate: Gate.Name) {
        switch gate {
        case .job(let job): self.init(.overlap, name: job)
        case .key(let key): self.init(.concurrency, name: key)
        case .lane(let bot): self.init(.lane, name: bot)
        case .performer: self.init(.warden)
        }
    }
}

extension RunQueue {
    /// What keeps a waiting run from its turn; nil when no gate does.
    ///
    /// - Complexity: O(1), and with `counting` O(runs that wait).
    func wait(of id: String, counting: Bool = false) -> RunWait? {
        if isDelayed(id) { return RunWait(.retry) }
        guard let (run, gate) = obstacle(of: id) else { return nil }
        var wait = RunWait(at: gate)
        if counting, wait.name != nil { wait.before = count(before: run, at: gate) }
        return wait
    }
}

extension RunsInHand {
    /// What a waiting run has not been started for yet; nil when nothing is known to be in its way.
    func wait(of run: String, counting: Bool = false) -> RunWait? {
        guard queue.contains(run) else { return nil }
        return queue.wait(of: run, counting: counting)
            ?? (active.room(within: limits) <= 0 ? RunWait(.cap) : nil)
    }
}

extension RunKeeper {
    /// What a queued run has not been started for yet; nil when nothing is known to be in its way.
    ///
    /// With `counting` it is counted how many are before it.
    package func wait(of run: String, counting: Bool = false) -> RunWait? {
        runs.wait(of: run, counting: counting)
    }
}

extension Control {
    /// What a run waits for; nil: for nothing that is known.
    package func wait(of run: RunRecord, _ live: LiveState?, counting: Bool) async -> RunWait? {
        switch run.state {
        case .scheduled: return RunWait(.spread, until: run.notBefore)
        case .queued:
            guard let wait = await runs.wait(of: run.id, counting: counting) else { return nil }
            guard wait.kind == .retry else { return wait }
            return RunWait(retryOf: run, after: (try? await ledger.attempts(of: run.id))?.last)
        case .blocked:
            let open = try? await ledger.openQuestions()
            return RunWait(
                blockedBy: (live ?? run.live)?.blockedKind, open?.first { $0.run == run.id })
        default: return nil
        }
    }
}
