package import Ledger
package import Logging
package import Performing
package import Timeline
import Tracking

/// Takes queued runs through their life: ordered from a performer, running, ended; each step a commit with its event.
///
/// What performers report and what is queued is handled in turns by one loop; all steps of a turn share a commit.
package actor RunKeeper {
    let ledger: any Ledger
    let clock: any WallClock
    let performers: Performers
    let board: LiveBoard
    let census: RunCensus
    let limits: RunLimits
    let places: RunPlaces
    let zones: ZoneLookup
    let decider: RunDecider
    let logger: Logger
    private let alarm = Alarm()
    /// The runs in hand.
    var active = ActiveRuns()
    /// The runs that wait for their turn, and those that wait for the moment of another attempt.
    var lineup = Lineup()
    var delays = Delays()
    /// Who is under way of what only so many may be.
    var gates = Gates()
    /// The runs whose rows are to be looked at.
    var unread = Fifo<String>()
    /// Rows that were read in this turn.
    var fresh: [String: RunRecord] = [:]
    var specs = SpecShelf()
    /// Steps that the ledger could not take; they are tried again before anything else.
    var owed: [RunStep] = []
    /// Attempts that are over, while the ledger can't be read to decide what follows.
    var undecided: [(key: RunKey, end: AttemptEnd)] = []
    /// Since when, since boot, runs wait for what their earlier attempts left running; by id.
    ///
    /// Of a run that waited before this daemon started the rows show it.
    var leftoversSeen: [String: Duration] = [:]
    private var isTroubled = false
    /// Whether it is logged; until a turn without trouble.
    private var isTroubleLogged = false
    /// What the ledger said when only a restart can clear it.
    private var end: LedgerError?
    /// Ended once it is recorded which runs of an earlier daemon have ended meanwhile.
    private var news: AsyncStream<Never>.Continuation?
    /// What wrapped commands brought along, by the cause of their runs.
    var lent: [String: ExecLoan] = [:]

    /// A keeper with these performers, the warden among them; `choosing` decides who performs what a spec describes.
    package init(
        ledger: any Ledger, clock: any WallClock, performers: [PerformerKind: any Performer],
        choosing: @escaping @Sendable (JobSpec) -> PerformerKind = \.performer, board: LiveBoard,
        census: RunCensus, limits: RunLimits, places: RunPlaces, zones: @escaping ZoneLookup, logger: Logger,
        news: AsyncStream<Never>.Continuation? = nil, awaitsJobs: Bool = false
    ) {
        self.ledger = ledger
        self.clock = clock
        self.performers = Performers(performers, choose: choosing, clock: clock, logger: logger)
        self.board = board
        self.census = census
        self.limits = limits
        self.places = places
        self.zones = zones
        self.decider = RunDecider(boot: places.boot)
        self.logger = logger
        self.news = news
        self.awaitsJobs = awaitsJobs
    }

    /// Whether no run is started yet, because the jobs of the files have not been taken up: one that waits may be of a
    /// job that was removed while no daemon ran.
    private var awaitsJobs: Bool

    /// The jobs of the files are taken up: runs may start.
    package func begin() {
        awaitsJobs = false
        ring()
    }

    /// Whether no run is started any more, because the daemon ends when those under way have.
    package private(set) var isDraining = false
    private var drained: AsyncStream<Never>.Continuation?

    /// How many runs are started, or about to be.
    package var count: Int { active.count }

    /// How many runs were ordered from their performers and have not ended.
    package var running: Int { active.ordered }

    /// The warden's process; nil: none answers.
    package var wardenProcess: Int32? { performers.warden.process }

    /// Why no warden answers, once that is known.
    package var wardenFault: String? { performers.warden.fault }

    /// Whether a warden is connected that does not answer; runs are not ordered from it meanwhile.
    package var isWardenSilent: Bool { performers.warden.isSilent }

    // MARK: The loop

    /// Takes up the runs that were under way, then serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        try await takeUp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for link in performers.all {
                group.addTask { [performer = link.performer, inbox = link.inbox, alarm] in
                    while let events = await performer.nextEvents() {
                        inbox.put(events)
                        alarm.ring()
                        await inbox.room()
                    }
                }
            }
            group.addTask { for await _ in self.census.taps() { self.alarm.ring() } }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Takes over what an earlier daemon left: what is under way is ours from now on, what waits is looked at.
    private func takeUp() async throws(LedgerError) {
        var steps: [RunStep] = []
        for run in try await ledger.activeRuns() {
            try await recallLeftovers(of: run)
            if RunDecider.alive.contains(run.state) {
                try await adopt(run, into: &steps)
            } else if run.state == .queued {
                unread.append(run.id)
            }
        }
        await commit(steps)
        finishNews()
    }

    private func serve() async throws {
        while true {
            for link in performers.all { await connect(link) }
            await settleOwed()
            var steps: [RunStep] = []
            await decideEnds(into: &steps)
            for link in performers.all {
                let events = link.inbox.takeAll()
                for event in events { await apply(event, from: link, into: &steps) }
                link.noteAnswers(isOwed: active.isAnswerOwed(by: link.kind), hasSpoken: !events.isEmpty)
            }
            await noteSilences(into: &steps)
            if owed.isEmpty {
                await readNoted(into: &steps)
                if !isDraining, !awaitsJobs { await admit(into: &steps) } else { fresh = [:] }
            }
            await commit(steps)
            for link in performers.all { link.noteAnswers(isOwed: active.isAnswerOwed(by: link.kind)) }
            if let end { throw end }
            if !isTroubled { isTroubleLogged = false }
            finishNews()
            if unread.isEmpty || isTroubled {
                try await alarm.wait(until: nextTurn(await board.nextLook()), on: clock)
            } else {
                try Task.checkCancellation()
            }
        }
    }

    /// Ends ``news`` when the rows are true, or when that can't be known because a performer does not answer.
    private func finishNews() {
        guard news != nil, owed.isEmpty, undecided.isEmpty else { return }
        guard performers.all.allSatisfy({ !active.hasUnreported(by: $0.kind) || $0.isUnreachable }) else {
            return
        }
        news?.finish()
        news = nil
    }

    /// When to go on without being rung for: nil while all is well and nobody's silence is due.
    private func nextTurn(_ look: Moment?) -> Moment? {
        var moments = [look].compactMap { $0 }
        let instants = [performers.nextLook, delays.next].compactMap { $0 }
        moments += instants.map { clock.now + max(.zero, $0 - clock.sinceBoot) }
        if isTroubled { moments.append(clock.now + .seconds(1)) }
        return moments.min()
    }

    /// Starts no more runs, and returns once those that were started have ended; what waits goes on waiting.
    package func drain() async {
        isDraining = true
        guard active.count > 0 else { return }
        let (end, ending) = AsyncStream<Never>.makeStream()
        drained = ending
        for await _ in end {}
    }

    /// A run has left the keeper's hands.
    func noteDrained() {
        if isDraining, active.count == 0 { drained?.finish() }
    }

    /// Another turn, at once.
    func ring() { alarm.ring() }

    // MARK: Performers

    private func connect(_ link: PerformerLink) async {
        await link.connect { active.forgetConnection(to: link.kind) }
    }

    // MARK: The ledger

    private func settleOwed() async {
        guard !owed.isEmpty else { return isTroubled = false }
        let steps = owed
        owed = []
        await commit(steps)
        if owed.isEmpty { isTroubled = false }
    }

    /// The ledger could not be read or written.
    func trouble(_ error: LedgerError) {
        if !isTroubleLogged { logger.error("runs can't be recorded", metadata: ["reason": "\(error)"]) }
        isTroubleLogged = true
        isTroubled = true
        if !error.mayPass { end = error }
    }
}
