package import Ledger
package import Logging
package import Timeline
import Tracking
package import WardenProtocol

/// Takes queued runs through their life: ordered from the warden, running, ended; each step a commit with its event.
///
/// What the warden says and what is queued is taken in turns by one loop; a turn's steps share a commit.
package actor RunKeeper {
    private let ledger: any Ledger
    private let clock: any WallClock
    private let warden: WardenClient
    private let board: LiveBoard
    private let census: RunCensus
    private let limits: RunLimits
    private let places: RunPlaces
    private let decider: RunDecider
    private let logger: Logger
    private let alarm = Alarm()
    private let inbox = Inbox<WardenEvent>()
    private var active = ActiveRuns()
    private var specs = SpecShelf()
    /// Steps that the ledger could not take; they are tried again before anything else.
    private var owed: [RunStep] = []
    private var isTroubled = false
    /// Whether there may be runs that wait and were not looked at.
    private var mayHaveQueue = true
    /// What the ledger said when only another start can mend it.
    private var end: LedgerError?
    private var isConnected = false
    /// What wrapped commands brought along, by the cause of their runs.
    private var lent: [String: ExecLoan] = [:]
    private var patience = 0
    private var connectAt: Duration = .zero
    /// The warden's process; nil: none answers.
    package private(set) var wardenProcess: Int32?
    /// Why none answers, once that is known.
    package private(set) var wardenFault: String?

    package init(
        ledger: any Ledger, clock: any WallClock, warden: WardenClient, board: LiveBoard, census: RunCensus,
        limits: RunLimits, places: RunPlaces, logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.warden = warden
        self.board = board
        self.census = census
        self.limits = limits
        self.places = places
        self.decider = RunDecider(boot: places.boot)
        self.logger = logger
    }

    /// How many runs are started, or about to be.
    package var count: Int { active.count }

    /// How many runs the warden was told to start and that have not ended.
    package var running: Int { active.ordered }

    // MARK: The loop

    /// Takes up the runs that were under way, then serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only another start can mend.
    package func run() async throws {
        try await takeUp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in self.warden.events {
                    self.inbox.put(event)
                    self.alarm.ring()
                    await self.inbox.room()
                }
            }
            group.addTask {
                for await stations in self.ledger.commits() where stations.contains(.runs) {
                    await self.noteQueue()
                }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func takeUp() async throws(LedgerError) {
        for run in try await ledger.activeRuns() where RunDecider.alive.contains(run.state) {
            active[run.id] = ActiveRun(record: run)
            await board.enter(
                task(of: run), attempt: run.attempt, state: run.state, saved: run.live, at: clock.now)
        }
    }

    private func serve() async throws {
        while true {
            await connect()
            await settleOwed()
            await take(inbox.takeAll())
            await look()
            if isConnected, owed.isEmpty { await admit() }
            if let end { throw end }
            try await alarm.wait(until: nextTurn(await board.nextLook()), on: clock)
        }
    }

    /// When to go on without being rung for: nil while all is well and nobody's silence is due.
    private func nextTurn(_ look: Moment?) -> Moment? {
        var moments = [look].compactMap { $0 }
        if !isConnected { moments.append(clock.now + max(.zero, connectAt - clock.sinceBoot)) }
        if isTroubled { moments.append(clock.now + .seconds(1)) }
        return moments.min()
    }

    private func noteQueue() {
        mayHaveQueue = true
        alarm.ring()
    }

    private func connect() async {
        guard !isConnected, clock.sinceBoot >= connectAt else { return }
        active.forgetConnection()
        do {
            wardenProcess = try await warden.connect(launching: places.warden).pid
            isConnected = true
            wardenFault = nil
            patience = 0
        } catch {
            patience += 1
            wardenFault = "\(error)"
            connectAt = clock.sinceBoot + .seconds(min(patience, 10))
            if patience == 1 {
                logger.error("no warden answers; runs wait", metadata: ["reason": "\(error)"])
            }
        }
    }

    // MARK: What the warden says

    private func take(_ events: [WardenEvent]) async {
        var steps: [RunStep] = []
        for event in events { await take(event, into: &steps) }
        await commit(steps)
    }

    private func take(_ event: WardenEvent, into steps: inout [RunStep]) async {
        let now = clock.now
        switch event {
        case .started(let key, let pid, let startTime, let moment):
            guard let run = active.known(key) else { return warden.send(.cancel(key, reason: "unknown run")) }
            // Its words, or its end, may come in this very turn, and must find it started.
            if run.state == .starting || run.state == .running {
                await board.become(.running, reason: nil, of: key.run, at: now)
            }
            guard run.state == .starting else { return }
            steps.append(decider.started(run, pid: pid, startTime: startTime, at: moment))
            active[key.run]?.record.state = .running
            active[key.run]?.record.startedAt = moment
        case .refused(let key, let refusal, let text):
            guard let run = active.known(key) else { return }
            logger.warning(
                "a run could not be started", metadata: ["run.id": "\(run.name)", "reason": "\(text)"])
            steps.append(await closing(decider.refused(run, refusal, text: text, at: now)))
        case .output(let key, _, let bytes):
            guard active.known(key) != nil else { return }
            note(await board.scan(bytes, of: key.run, at: now), at: now, into: &steps)
        case .report(let key, let line):
            guard active.known(key) != nil else { return }
            note(await board.receive(line: line, of: key.run, at: now), at: now, into: &steps)
        case .notify(let key, let datagrams):
            guard active.known(key) != nil else { return }
            for datagram in datagrams {
                guard let report = NotifyDatagram(datagram[...])?.report else { continue }
                note(await board.receive(report, of: key.run, at: now), at: now, into: &steps)
            }
        case .ended(let record):
            guard let run = active.known(record.key) else { return warden.send(.acknowledge(record.key)) }
            steps.append(await closing(decider.ended(run, record)))
        case .unknown(let key):
            guard let run = active.known(key), run.state != .queued else { return }
            let isCanceled = active[key.run]?.isCanceled == true
            steps.append(await closing(decider.vanished(run, isCanceled: isCanceled, at: now)))
        case .inputTaken: break
        case .caughtUp:
            for question in active.questions { warden.send(question) }
        case .disconnected:
            isConnected = false
            wardenProcess = nil
            connectAt = clock.sinceBoot
        }
    }

    /// Records that a run's state changed by what its job said, or by its silence.
    private func note(_ live: LiveState?, at now: Moment, into steps: inout [RunStep]) {
        guard let live, let run = active[live.task.id]?.record,
            let step = decider.said(run, live, at: now)
        else { return }
        active[live.task.id]?.record.state = live.state
        steps.append(step)
    }

    private func look() async {
        let now = clock.now
        var steps: [RunStep] = []
        for live in await board.look(at: now) { note(live, at: now, into: &steps) }
        await commit(steps)
    }

    // MARK: What waits

    private func admit() async {
        let room = active.room(within: limits)
        guard room > 0, mayHaveQueue else { return }
        mayHaveQueue = false
        do throws(LedgerError) {
            var steps: [RunStep] = []
            let waiting = try await ledger.queuedRuns(limit: room)
            if waiting.count == room { mayHaveQueue = true }
            for run in waiting where active[run.id] == nil {
                if run.kind == .exec, lent[run.cause] == nil {
                    steps.append(
                        decider.unstartable(
                            run, text: "the daemon ended before it began; run the command again",
                            at: clock.now))
                } else if let spec = try await spec(of: run) {
                    active[run.id] = ActiveRun(record: run, spec: spec, isKnown: true)
                    steps.append(decider.claim(run))
                } else {
                    let text = "revision \(run.revision) of its job is not in the ledger"
                    steps.append(decider.unstartable(run, text: text, at: clock.now))
                }
            }
            await commit(steps)
        } catch {
            mayHaveQueue = true
            trouble(error)
        }
    }

    /// What the run executes; nil when no such revision was ever stored.
    private func spec(of run: RunRecord) async throws(LedgerError) -> JobSpec? {
        if let spec = specs.spec(of: run) { return spec }
        let spec = try await ledger.spec(of: run.job, revision: run.revision)
        if let spec { specs.keep(spec, of: run) }
        return spec
    }

    private func order(_ run: RunRecord, _ spec: JobSpec) -> StartOrder {
        guard let loan = lent[run.cause] else { return StartOrder(run, spec, places) }
        var spec = spec
        spec.environment = loan.environment
        return loan.applied(to: StartOrder(run, spec, places))
    }

    // MARK: What people ask

    /// Keeps what the run that `cause` is about to make brings along, until that run has ended.
    ///
    /// It holds somebody's whole environment, secrets and all: it stays in memory and never meets the ledger.
    package func lend(_ loan: ExecLoan, to cause: String) {
        lent[cause] = loan
    }

    /// Forgets what a run that was never made brought along.
    package func takeBack(from cause: String) {
        lent[cause] = nil
    }

    /// Ends a run.
    ///
    /// Returns when the word is given.
    package func cancel(_ id: String) async throws(EngineError) {
        // A second look, when it was started or has ended between the first one and the commit.
        for isLast in [false, true] {
            if interrupt(id) { return }
            do throws(LedgerError) {
                if try await withdraw(id) { return }
            } catch {
                if case .fenced = error, !isLast { continue }
                throw .ledger(error)
            }
            throw .noSuchRun(id)
        }
    }

    /// Ends a run that waits; false when there is none of that id.
    private func withdraw(_ id: String) async throws(LedgerError) -> Bool {
        guard let run = try await ledger.run(id: id) else { return false }
        guard !run.state.isEnded else { return true }
        let step = decider.withdrawn(run, at: clock.now)
        try await ledger.commit(step.changes)
        await finish(step)
        return true
    }

    private func interrupt(_ id: String) -> Bool {
        guard let entry = active[id] else { return false }
        active[id]?.isCanceled = true
        // One whose start is not ordered yet is ended right after it: a cancel must not come first.
        if entry.isOrdered {
            warden.send(.cancel(RunKey(run: id, attempt: entry.record.attempt), reason: "asked"))
        }
        return true
    }

    // MARK: Commits and what follows them

    private func settleOwed() async {
        guard !owed.isEmpty else { return isTroubled = false }
        let steps = owed
        owed = []
        await commit(steps)
        if owed.isEmpty { isTroubled = false }
    }

    /// Commits the steps together; when a guard refuses, each alone.
    private func commit(_ steps: [RunStep]) async {
        guard !steps.isEmpty else { return }
        let changes = steps.flatMap(\.changes)
        do throws(LedgerError) {
            if !changes.isEmpty { try await ledger.commit(changes) }
            for step in steps { await finish(step) }
        } catch {
            if case .fenced = error, steps.count > 1 {
                for step in steps { await commit([step]) }
            } else if case .fenced = error {
                for step in steps { await fence(step) }
            } else {
                owed += steps
                trouble(error)
            }
        }
    }

    private func trouble(_ error: LedgerError) {
        if !isTroubled { logger.error("runs can't be recorded", metadata: ["reason": "\(error)"]) }
        isTroubled = true
        if !error.mayPass { end = error }
    }

    private func finish(_ step: RunStep) async {
        for effect in step.effects { await apply(effect, to: step.run) }
    }

    private func fence(_ step: RunStep) async {
        logger.debug("a step came too late", metadata: ["run.id": "\(step.run.name)"])
        if step.effects.contains(.start) { active[step.run.id] = nil }
        for effect in step.whenFenced { await apply(effect, to: step.run) }
    }

    private func apply(_ effect: RunStep.Effect, to run: RunRecord) async {
        switch effect {
        case .acknowledge(let key):
            warden.send(.acknowledge(key))
        case .start:
            guard let spec = active[run.id]?.spec else { return }
            await board.enter(
                task(of: run), attempt: run.attempt, state: .starting, saved: nil, at: clock.now)
            active[run.id]?.record.state = .starting
            active[run.id]?.record.process = ProcessMark(pid: 0, startTime: 0, boot: decider.boot)
            warden.send(.start(order(run, spec)))
            if active[run.id]?.isCanceled == true { _ = interrupt(run.id) }
        case .wait:
            active[run.id] = nil
            noteQueue()
        case .end(let outcome):
            active[run.id] = nil
            lent[run.cause] = nil
            census.ended(run: run.id, of: run.job)
            logger.info(
                "run ended",
                metadata: ["run.id": "\(run.name)", "state": "\(outcome.state)"])
            noteQueue()
        }
    }

    /// The step with the run's last live state, which leaves the board now.
    private func closing(_ step: RunStep) async -> RunStep {
        var step = step
        for case .end(let outcome) in step.effects {
            let live = await board.end(step.run.id, outcome.state, reason: outcome.reason, at: clock.now)
            if let live { step.changes.append(.saveLive(run: step.run.id, live)) }
        }
        return step
    }

    private func task(of run: RunRecord) -> LiveTask {
        LiveTask(id: run.id, botID: run.bot, run: run.name, name: run.job, botName: run.bot)
    }
}
