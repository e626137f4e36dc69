package import Ledger
package import Logging
package import Timeline
import Tracking
package import WardenProtocol

/// Takes queued runs through their life: ordered from the warden, running, ended; each step a commit with its event.
///
/// What the warden says and what is queued is taken in turns by one loop; a turn's steps share a commit.
package actor RunKeeper {
    private struct Active {
        var record: RunRecord
        var spec: JobSpec
        /// Whether the warden spoke of it since the connection was made.
        var isKnown = false
    }

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
    private var active: [String: Active] = [:]
    private var specs: [SpecKey: JobSpec] = [:]
    /// Steps that the ledger could not take; they are tried again before anything else.
    private var owed: [RunStep] = []
    private var isConnected = false
    /// The warden's process; nil: none answers.
    package private(set) var wardenProcess: Int32?

    private struct SpecKey: Hashable {
        var job: String
        var revision: Int
    }

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

    // MARK: The loop

    /// Takes up the runs that were under way, then serves until cancelled.
    package func run() async throws {
        try await takeUp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in self.warden.events {
                    self.inbox.put(event)
                    self.alarm.ring()
                }
            }
            group.addTask {
                for await stations in self.ledger.commits() where stations.contains(.runs) {
                    self.alarm.ring()
                }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func takeUp() async throws(LedgerError) {
        for run in try await ledger.activeRuns() where RunDecider.alive.contains(run.state) {
            guard let spec = try await spec(of: run) else { continue }
            active[run.id] = Active(record: run, spec: spec)
            await board.enter(
                task(of: run), attempt: run.attempt, state: run.state, saved: run.live, at: clock.now)
        }
    }

    private func serve() async throws {
        var patience = 0
        while true {
            if !isConnected { await connect(&patience) }
            await settleOwed()
            await take(inbox.takeAll())
            await look()
            if isConnected, owed.isEmpty { await admit() }
            let isTroubled = !isConnected || !owed.isEmpty
            let retryAt = isTroubled ? clock.now + .seconds(1) : nil
            let next = [retryAt, await board.nextLook()].compactMap { $0 }.min()
            try await alarm.wait(until: next, on: clock)
        }
    }

    private func connect(_ patience: inout Int) async {
        for id in active.keys { active[id]?.isKnown = false }
        do {
            wardenProcess = try await warden.connect(launching: places.warden).pid
            isConnected = true
            patience = 0
        } catch {
            patience += 1
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
            guard let run = known(key) else { return warden.send(.cancel(key, reason: "unknown run")) }
            steps.append(decider.started(run, pid: pid, startTime: startTime, at: moment))
            // Its end may come in this very turn, and must find it started.
            active[key.run]?.record.state = .running
            active[key.run]?.record.startedAt = run.startedAt ?? moment
        case .refused(let key, let refusal, let text):
            guard let run = known(key) else { return }
            logger.warning(
                "a run could not be started", metadata: ["run.id": "\(run.name)", "reason": "\(text)"])
            steps.append(await closing(decider.refused(run, refusal, text: text, at: now)))
        case .output(let key, _, let bytes):
            note(await board.scan(bytes, of: key.run, at: now), at: now, into: &steps)
        case .report(let key, let line):
            note(await board.receive(line: line, of: key.run, at: now), at: now, into: &steps)
        case .notify(let key, let datagrams):
            for datagram in datagrams {
                guard let report = NotifyDatagram(datagram[...])?.report else { continue }
                note(await board.receive(report, of: key.run, at: now), at: now, into: &steps)
            }
        case .ended(let record):
            guard let run = known(record.key) else { return warden.send(.acknowledge(record.key)) }
            steps.append(await closing(decider.ended(run, record)))
        case .unknown(let key):
            guard let run = known(key) else { return }
            steps.append(await closing(decider.vanished(run, at: now)))
        case .caughtUp:
            for (id, entry) in active where !entry.isKnown {
                warden.send(.query(RunKey(run: id, attempt: entry.record.attempt)))
            }
        case .disconnected:
            isConnected = false
            wardenProcess = nil
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

    private func known(_ key: RunKey) -> RunRecord? {
        guard let entry = active[key.run], entry.record.attempt == key.attempt else { return nil }
        active[key.run]?.isKnown = true
        return entry.record
    }

    // MARK: What waits

    private func admit() async {
        let starting = active.values.count { $0.record.state == .starting }
        let room = min(limits.running - active.count, limits.starting - starting)
        guard room > 0 else { return }
        do throws(LedgerError) {
            var steps: [RunStep] = []
            for run in try await ledger.queuedRuns(limit: room) where active[run.id] == nil {
                guard let spec = try await spec(of: run) else { continue }
                active[run.id] = Active(record: run, spec: spec, isKnown: true)
                steps.append(decider.claim(run))
            }
            await commit(steps)
        } catch {
            logger.error("queued runs can't be read", metadata: ["reason": "\(error)"])
        }
    }

    private func order(_ run: RunRecord, _ spec: JobSpec) -> StartOrder {
        let work: StartOrder.Work =
            switch spec.action {
            case .command(let words): .command(words)
            case .shell(let text): .shell(text)
            }
        let environment = RunEnvironment(run: run, spec: spec, socket: places.socket)
        return StartOrder(
            key: RunKey(run: run.id, attempt: run.attempt), work: work, environment: environment.values,
            folder: spec.directory, timeout: spec.timeout, grace: spec.grace,
            output: .init(path: places.output(of: run.id, attempt: run.attempt)))
    }

    // MARK: What people ask

    /// Ends a run.
    ///
    /// Returns when the word is given.
    package func cancel(_ id: String) async throws(EngineError) {
        if interrupt(id) { return }
        do throws(LedgerError) {
            if let run = try await ledger.run(id: id) {
                let step = decider.withdrawn(run, at: clock.now)
                try await ledger.commit(step.changes)
                return await finish(step)
            }
        } catch {
            // It was started between the look and the commit.
            if case .fenced = error, interrupt(id) { return }
            throw .ledger(error)
        }
        throw .noSuchRun(id)
    }

    private func interrupt(_ id: String) -> Bool {
        guard let entry = active[id] else { return false }
        warden.send(.cancel(RunKey(run: id, attempt: entry.record.attempt), reason: "asked"))
        return true
    }

    // MARK: Commits and what follows them

    private func settleOwed() async {
        guard !owed.isEmpty else { return }
        let steps = owed
        owed = []
        await commit(steps)
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
                if owed.isEmpty {
                    logger.error("runs can't be recorded", metadata: ["reason": "\(error)"])
                }
                owed += steps
            }
        }
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
            active[run.id]?.record.state = .starting
            active[run.id]?.record.process = ProcessMark(pid: 0, startTime: 0, boot: decider.boot)
            await board.enter(
                task(of: run), attempt: run.attempt, state: .starting, saved: nil, at: clock.now)
            warden.send(.start(order(run, spec)))
        case .run:
            await board.become(.running, reason: nil, of: run.id, at: clock.now)
        case .wait:
            active[run.id] = nil
            alarm.ring()
        case .end(let outcome):
            active[run.id] = nil
            census.ended(run: run.id, of: run.job)
            logger.info(
                "run ended",
                metadata: ["run.id": "\(run.name)", "state": "\(outcome.state)"])
            alarm.ring()
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

    private func spec(of run: RunRecord) async throws(LedgerError) -> JobSpec? {
        if let spec = run.spec { return spec }
        let key = SpecKey(job: run.job, revision: run.revision)
        if let spec = specs[key] { return spec }
        let spec = try await ledger.spec(of: run.job, revision: run.revision)
        if specs.count > 4096 { specs = [:] }
        specs[key] = spec
        return spec
    }

    private func task(of run: RunRecord) -> LiveTask {
        LiveTask(id: run.id, botID: run.bot, run: run.name, name: run.job, botName: run.bot)
    }
}
