package import Ledger
package import Logging
package import Performing
package import Timeline
import Tracking

/// Takes queued runs through their life: ordered from a performer, running, ended; each step a commit with its event.
///
/// What performers report and what is queued is handled in turns by one loop; all steps of a turn share a commit.
package actor RunKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    let board: LiveBoard
    let census: RunCensus
    let performers: Performers
    let specs: RunSpecs
    let conversations: Conversations
    /// The runs that wait and those in hand.
    var runs: RunsInHand
    /// The rows that this keeper is to look at.
    var rows: NotedRows
    var orders: AttemptOrders
    var unrecorded = UnrecordedWork()
    var asking = AskingRuns()
    var parked = ParkedRuns()
    var pauses = PauseRequests()
    var phase: KeeperPhase
    private let months: MonthLookup
    var decider: RunDecider { RunDecider(boot: orders.places.boot, month: months) }
    var clock: any WallClock { loop.clock }
    var logger: Logger { loop.logger }

    /// A keeper with these performers, the warden among them; `choosing` decides who performs what a spec describes.
    package init(
        ledger: any Ledger, clock: any WallClock, performers: [PerformerKind: any Performer],
        choosing: @escaping @Sendable (JobSpec) -> PerformerKind = \.performer, board: LiveBoard,
        census: RunCensus, notes: RunNotes, limits: RunLimits, places: RunPlaces, zones: @escaping ZoneLookup,
        files: RunFiles, talk: @escaping @Sendable (String) -> TalkManner = { _ in TalkManner() },
        logger: Logger, news: AsyncStream<Never>.Continuation? = nil, awaitsJobs: Bool = false,
        months: @escaping MonthLookup = { CalendarMonth($0, in: .utc).text }
    ) {
        self.months = months
        self.ledger = ledger
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "runs can't be recorded")
        self.board = board
        self.census = census
        rows = NotedRows(notes)
        runs = RunsInHand(limits: limits)
        self.performers = Performers(performers, choose: choosing, clock: clock, logger: logger)
        specs = RunSpecs(ledger: ledger, clock: clock, zones: zones, files: files)
        conversations = Conversations(ledger: ledger, zones: zones, manner: talk)
        orders = AttemptOrders(places: places, clock: clock)
        phase = KeeperPhase(awaitsJobs: awaitsJobs, news: news)
    }

    // MARK: What others ask

    /// The jobs of the files are taken up: runs may start.
    package func begin() {
        phase.begin()
        loop.bell.ring()
    }

    /// Starts no more runs, and returns once those that were started have ended; what waits goes on waiting.
    package func drain() async {
        guard let end = phase.drain(underWay: runs.active.count) else { return }
        for await _ in end {}
    }

    /// Whether no run is started any more, because the daemon ends when those under way have.
    package var isDraining: Bool { phase.isDraining }

    /// How many runs are started, or about to be.
    package var count: Int { runs.active.count }

    /// How many runs were ordered from their performers and have not ended.
    package var running: Int { runs.active.ordered }

    /// Since when runs of each bot are under way, by bot; bots without any are not in it.
    package var botsAtWork: [String: Moment] { runs.active.bots }

    /// The warden's process; nil: none answers.
    package var wardenProcess: Int32? { performers.warden.process }

    /// Why no warden answers, once that is known.
    package var wardenFault: String? { performers.warden.fault }

    /// Whether a warden is connected that does not answer; runs are not ordered from it meanwhile.
    package var isWardenSilent: Bool { performers.warden.isSilent }

    /// Keeps what the run that `cause` is about to make brings along, until that run has ended.
    package func lend(_ loan: ExecLoan, to cause: String) { orders.lend(loan, to: cause) }

    /// Forgets what a run that was never made brought along.
    package func takeBack(from cause: String) { orders.takeBack(from: cause) }

    /// A run under way begins or ends to wait, in a call of this name, for runs that it handed out; meanwhile these may
    /// have its place.
    package func set(_ run: String, waitsIn call: String, _ waits: Bool) {
        runs.set(run, waitsIn: call, waits)
        if waits { loop.bell.ring() }
    }

    /// Ends a run.
    ///
    /// Returns when the request is in the ledger: it holds although the daemon ends now.
    package func cancel(_ id: String) async throws(EngineError) {
        // A second look, when it was started or has ended between the first one and the commit.
        for isLast in [false, true] {
            do throws(LedgerError) {
                if let run = try await ledger.run(id: id) {
                    if run.state.isEnded { return }
                    let waits = run.state == .scheduled || run.state == .queued || run.isParked
                    return try await waits && runs.active[id] == nil ? withdraw(run) : askEnd(of: run)
                }
            } catch {
                if case .fenced = error, !isLast { continue }
                throw .ledger(error)
            }
            throw .noSuchRun(id)
        }
    }

    /// A run that waits ends at once.
    private func withdraw(_ run: RunRecord) async throws(LedgerError) {
        let step = await closing(decider.withdrawn(run, at: clock.now))
        do throws(LedgerError) {
            try await ledger.commit(step.changes)
        } catch {
            rows.notes.add(changed: [run.id])
            throw error
        }
        parked[run.id] = nil
        runs.drop(run)
        await finish([step])
        loop.bell.ring()
    }

    /// A run that is under way is asked to end, now and after each new connection.
    private func askEnd(of run: RunRecord) async throws(LedgerError) {
        try await ledger.commit([.askEnd(run: run.id, .canceled)])
        if runs.active[run.id]?.record.endAsked == nil {
            runs.active[run.id]?.record.endAsked = .canceled
        }
        // It may be in nobody's hand yet, or no more.
        rows.notes.add(changed: [run.id])
        cancelAttempt(of: run.id)
    }

    // MARK: The loop

    /// Takes up the runs that were under way, then serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        defer { pauses.refuseAll(.stopping) }
        try await takeUp()
        try await follow()
    }

    func wakers() -> [Waker] {
        performers.all.map { link in
            Waker { [performer = link.performer] bell in while await performer.waitForEvents() { bell.ring() }
            }
        } + [.each(rows.notes.arrivals()), .each(board.lessons.given.values()), closedQuestions]
    }

    private var closedQuestions: Waker {
        let (bell, news) = (loop.bell, parked.news)
        return .observing(
            ledger.observeCommits { stations in
                guard stations.contains(.questions) else { return }
                news.set()
                bell.ring()
            })
    }

    /// Takes over what an earlier daemon left: what is under way is ours from now on, what waits is looked at.
    private func takeUp() async throws(LedgerError) {
        var steps: [RunStep] = []
        for run in try await ledger.activeRuns() {
            try await recallLeftovers(of: run)
            if RunDecider.alive.contains(run.state) {
                try await adopt(run, into: &steps)
            } else if run.state == .queued {
                rows.add([.made(run)])
            }
        }
        await commit(steps)
        finishNews()
    }

    /// Handles what was reported and what was noted; all steps share a commit.
    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        unrecorded.beginTurn()
        for link in performers.all { await link.connect { runs.active.forgetConnection(to: link.kind) } }
        await commit(unrecorded.takeSteps())
        var steps: [RunStep] = []
        await decideOwedEnds(into: &steps)
        for link in performers.all {
            let events = link.performer.takeEvents()
            for event in events { await apply(event, from: link, into: &steps) }
            noteAnswers(of: link, hasSpoken: !events.isEmpty)
        }
        await noteSilences(into: &steps)
        await noteQuestions(into: &steps)
        if unrecorded.steps.isEmpty { await resumeParked(into: &steps) }
        let paused = await decidePauses(into: &steps)
        if unrecorded.steps.isEmpty {
            rows.gather()
            await readNoted(into: &steps)
            for link in performers.all { runs.queue.set(link.kind, isReady: link.isReady) }
            if phase.mayStart { await admit(into: &steps) }
        }
        rows.forgetSeen()
        await commit(steps)
        await answer(paused)
        for (key, number) in board.savedReports.takeAll() {
            performers.warden.send(.acknowledgeReports(key, through: number))
        }
        for link in performers.all { noteAnswers(of: link) }
        finishNews()
        if let failure = unrecorded.failure { throw failure }
        return rows.isEmpty ? await nextTurn() : .atOnce
    }

    private func noteAnswers(of link: PerformerLink, hasSpoken: Bool = false) {
        link.noteAnswers(isOwed: runs.active.isAnswerOwed(by: link.kind), hasSpoken: hasSpoken)
    }

    /// Reports that the rows are true, once they are, or once that can't be known because a performer can't be reached.
    private func finishNews() {
        guard phase.owesNews, unrecorded.isEmpty,
            performers.all.allSatisfy({ !runs.active.hasUnreported(by: $0.kind) || $0.isUnreachable })
        else { return }
        phase.finishNews()
    }

    /// When there is something to do though nobody rings: not while all is well and no performer's silence is due.
    private func nextTurn() async -> KeeperLoop.Next {
        let instants = [performers.nextCheck, runs.queue.nextDue].compactMap(\.self)
        return .earliest(
            await board.nextRefresh(), instants.min().map { clock.now + max(.zero, $0 - clock.sinceBoot) })
    }
}

// Steps are committed together; what follows from each is done after that.

extension RunKeeper {
    /// Commits the steps together; when a guard refuses, each alone.
    func commit(_ steps: [RunStep]) async {
        // Steps of one run follow each other: none may pass one that is unrecorded.
        guard unrecorded.steps.isEmpty else { return unrecorded.add(steps) }
        var shared = SharedCommit(steps)
        while let batch = shared.next {
            do throws(LedgerError) {
                if try await ledger.commitUnlessFenced(batch.flatMap(\.changes)) {
                    await finish(batch)
                    shared.committed()
                } else {
                    if shared.isSingle { try await giveUp(batch[0]) }
                    shared.refused()
                }
            } catch {
                unrecorded.add(shared.rest)
                return unrecorded.note(error)
            }
        }
    }

    /// The steps are committed: what they show is shown, and what follows from them is done.
    func finish(_ steps: [RunStep]) async {
        let ended = steps.filter(\.leavesHands).map(\.run.id)
        if !ended.isEmpty { await board.end(ended) }
        for step in steps where !step.effects.isEmpty {
            let run = step.after
            let link = link(of: run.id)
            for effect in step.effects { await apply(effect, to: run, link) }
        }
    }

    /// Who performs the run; the warden where it is not in hand.
    private func link(of run: String) -> PerformerLink {
        performers[runs.active[run]?.performer ?? .warden]
    }

    private func apply(_ effect: RunStep.Effect, to run: RunRecord, _ link: PerformerLink) async {
        switch effect {
        case .acknowledge(let key): (key.woken == nil ? link : performers.warden).send(.acknowledge(key))
        case .ask(let key):
            runs.active[run.id]?.isAsked = true
            link.send(.ask(key))
        case .start: await start(run, link)
        case .check: await startCheck(of: run)
        // A step of the same turn may have said otherwise.
        case .pause(let key):
            if runs.active[run.id]?.record.state == .paused { link.send(.pause(key)) }
        case .resume(let key):
            if runs.active[run.id]?.record.state != .paused { link.send(.resume(key)) }
        case .park:
            forget(run.id, keepsTurn: true)
            hold(run)
            logger.info("a run waits for a person", metadata: ["run.id": "\(run.name)"])
        case .wait:
            forget(run.id, keepsTurn: run.attempt > 1)
            rows.addFirst(run)
        case .end(let outcome):
            forget(run.id)
            orders.ended(run)
            census.ended(run: run.id, of: run.job)
            logger.info("run ended", metadata: ["run.id": "\(run.name)", "state": "\(outcome.state)"])
        }
    }

    private func start(_ run: RunRecord, _ link: PerformerLink) async {
        guard let entry = runs.active[run.id], let spec = entry.spec else { return }
        let (secrets, now) = (entry.secrets, clock.now)
        await board.enter(task(of: run), attempt: run.attempt, state: .starting, saved: run.live, at: now)
        await board.hide(secrets?.hidden, of: run.id)
        await board.read(spec.progress, in: run.id)
        if startWakeScript(of: run, spec) { return cancelAttempt(of: run.id) }
        runs.active[run.id]?.isOrdered = true
        var asked = spec
        if let prompt = wokenPrompt(of: run, spec) { asked.prompt = prompt }
        link.send(
            .start(
                orders.order(
                    run, asked, secrets: secrets?.values ?? [:], talk: entry.talk,
                    input: hookInput(of: run, asked))))
        cancelAttempt(of: run.id)
    }

    /// What the hook brought that started the run, where no program reads it by itself.
    private func hookInput(of run: RunRecord, _ spec: JobSpec) -> [UInt8]? {
        switch spec.action {
        case .command, .shell: return nil
        case .prompt, .url: break
        }
        guard let delivery = RunPlaces.delivery(of: run) else { return nil }
        return try? specs.files.readOutput(orders.places.hookInput(delivery), HookInput.limit)
    }

    /// Cancels the attempt if its end is asked for; its performer knows of a run that is just being claimed only after
    /// its start.
    func cancelAttempt(of id: String) {
        guard let entry = runs.active[id], let why = entry.record.endAsked else { return }
        if let script = entry.wakeScript {
            return performers.warden.send(.cancel(script.key, reason: why.rawValue))
        }
        guard entry.isOrdered else { return }
        if entry.check != nil {
            let key = RunKey(run: id, attempt: entry.record.attempt).check
            return performers.warden.send(.cancel(key, reason: why.rawValue))
        }
        performers[entry.performer].send(
            .cancel(RunKey(run: id, attempt: entry.record.attempt), reason: why.rawValue))
    }

    /// A guard refused the step, because somebody else has moved the run: it is theirs, or has ended.
    ///
    /// What is true now is read.
    private func giveUp(_ step: RunStep) async throws(LedgerError) {
        let id = step.run.id
        logger.debug("a step came too late", metadata: ["run.id": "\(step.run.name)"])
        let row = try await ledger.run(id: id)
        let link = link(of: id)
        forget(id)
        await board.end(id, row?.state ?? .lost, reason: row?.reason, at: clock.now)
        for case .acknowledge(let key) in step.effects { link.strays.note(key, .acknowledge(key)) }
        release(id, row)
        guard row?.state.isEnded ?? true else { return rows.add([.changed(id)]) }
        census.ended(run: id, of: step.run.job)
    }

    // MARK: Hands

    /// The run is in nobody's hand any more.
    private func forget(_ id: String, keepsTurn: Bool = false) {
        guard runs.release(id, keepsTurn: keepsTurn) else { return }
        // Others may start, and a drain may be complete.
        phase.noteUnderWay(runs.active.count)
        loop.bell.ring()
    }

    /// The attempt has ended; it takes up no room any more.
    ///
    /// Returns the step with how the run got on and its last live state, which the board shows once the step is committed: with the
    /// sentence that explains why it could not be started, and as long after its start as it took, where that is known.
    func closing(
        _ step: RunStep, after elapsed: Duration? = nil, saying text: String? = nil
    ) async -> RunStep {
        guard step.leavesHands else { return step }
        var step = step
        let after = step.after
        let last = await board.conclude(
            after.id, after.state, reason: after.reason, after: elapsed, saying: text, at: clock.now)
        step.live = last?.live
        step.move.profile = last?.profile
        // Commands of one name may do different things.
        if after.kind == .exec, case .command(let list)? = (after.spec ?? runs.active[after.id]?.spec)?.action
        {
            step.move.profile?.arguments = RunProfile.mark(ofArguments: list)
        }
        runs.noteEnd(after)
        return step
    }
}
