package import Ledger
package import Logging
package import Timeline
import Tracking
package import WardenProtocol

/// Takes queued runs through their life: ordered from the warden, running, ended; each step a commit with its event.
///
/// What the warden says and what is queued is taken in turns by one loop; all steps of a turn share a commit.
package actor RunKeeper {
    let ledger: any Ledger
    let clock: any WallClock
    let warden: WardenClient
    let board: LiveBoard
    let census: RunCensus
    let limits: RunLimits
    let places: RunPlaces
    let zones: ZoneLookup
    let decider: RunDecider
    let logger: Logger
    private let alarm = Alarm()
    private let inbox = Inbox<WardenEvent>()
    /// The runs in hand.
    var active = ActiveRuns()
    /// The runs that wait for their turn, and those that wait for the moment of another attempt.
    var lineup = Lineup()
    var delays = Delays()
    /// What the warden said of runs that are in nobody's hand.
    var strays = StrayAttempts()
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
    var leftoversSeen: [String: Duration] = [:]
    private var isTroubled = false
    /// Whether the log says so already; until a turn that met no trouble.
    private var isTroubleLogged = false
    /// What the ledger said when only a restart can clear it.
    private var end: LedgerError?
    private var isConnected = false
    /// Whether the warden answers what it is asked.
    private var answers = AnswerWatch()
    private var isSilenceTold = false
    /// Ended once it is recorded which runs of an earlier daemon have ended meanwhile.
    private var news: AsyncStream<Never>.Continuation?
    /// What wrapped commands brought along, by the cause of their runs.
    var lent: [String: ExecLoan] = [:]
    private var patience = 0
    private var connectAt: Duration = .zero
    /// The warden's process; nil: none answers.
    package private(set) var wardenProcess: Int32?
    /// Why none answers, once that is known.
    package private(set) var wardenFault: String?

    package init(
        ledger: any Ledger, clock: any WallClock, warden: WardenClient, board: LiveBoard, census: RunCensus,
        limits: RunLimits, places: RunPlaces, zones: @escaping ZoneLookup, logger: Logger,
        news: AsyncStream<Never>.Continuation? = nil, awaitsJobs: Bool = false
    ) {
        self.ledger = ledger
        self.clock = clock
        self.warden = warden
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

    /// How many runs the warden was told to start and that have not ended.
    package var running: Int { active.ordered }

    /// Whether a warden is connected that does not answer; runs are not ordered from it meanwhile.
    package var isWardenSilent: Bool { answers.isOverdue(at: clock.sinceBoot) }

    /// Whether there is a warden to order runs from.
    var hasWarden: Bool { isConnected && !isWardenSilent }

    // MARK: The loop

    /// Takes up the runs that were under way, then serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        try await takeUp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while let events = await self.warden.nextEvents() {
                    self.inbox.put(events)
                    self.alarm.ring()
                    await self.inbox.room()
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
            if RunDecider.alive.contains(run.state) {
                try await adopt(run, into: &steps)
            } else if run.state == .queued {
                unread.append(run.id)
            }
        }
        await commit(steps)
        tellNews()
    }

    private func serve() async throws {
        while true {
            await connect()
            await settleOwed()
            var steps: [RunStep] = []
            await decideEnds(into: &steps)
            let events = inbox.takeAll()
            for event in events { await take(event, into: &steps) }
            listen(hasSpoken: !events.isEmpty)
            await look(into: &steps)
            if owed.isEmpty {
                await heed(into: &steps)
                if hasWarden, !isDraining, !awaitsJobs { await admit(into: &steps) } else { fresh = [:] }
            }
            await commit(steps)
            listen()
            if let end { throw end }
            if !isTroubled { isTroubleLogged = false }
            tellNews()
            if unread.isEmpty || isTroubled {
                try await alarm.wait(until: nextTurn(await board.nextLook()), on: clock)
            } else {
                try Task.checkCancellation()
            }
        }
    }

    /// Says that the rows are true, when they are; or that nobody can say so, because no warden answers.
    private func tellNews() {
        guard news != nil, owed.isEmpty, undecided.isEmpty else { return }
        guard !active.isAnyUnheard || !isConnected && patience > 0 else { return }
        news?.finish()
        news = nil
    }

    /// When to go on without being rung for: nil while all is well and nobody's silence is due.
    private func nextTurn(_ look: Moment?) -> Moment? {
        var moments = [look].compactMap { $0 }
        let answer = isWardenSilent ? nil : answers.deadline
        let instants = [isConnected ? nil : connectAt, delays.next, answer].compactMap { $0 }
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

    // MARK: The warden

    private func connect() async {
        guard !isConnected, clock.sinceBoot >= connectAt else { return }
        active.forgetConnection()
        strays.forgetConnection()
        do {
            wardenProcess = try await warden.connect(launching: places.warden).pid
            isConnected = true
            wardenFault = nil
            patience = 0
        } catch {
            guard !Task.isCancelled else { return }
            patience += 1
            wardenFault = "\(error)"
            connectAt = clock.sinceBoot + .seconds(min(patience, 10))
            if patience == 1 {
                logger.error("no warden answers; runs wait", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Notes whether the warden owes an answer, and says so once when it gives none, and once when it does again.
    ///
    /// Nobody else is started in its place: it may go on, and then there would be two.
    private func listen(hasSpoken: Bool = false) {
        answers.look(
            isOwed: isConnected && active.isAnswerOwed, hasSpoken: hasSpoken, at: clock.sinceBoot)
        guard isWardenSilent != isSilenceTold else { return }
        isSilenceTold = isWardenSilent
        let process = Logger.Metadata.Value("\(wardenProcess ?? 0)")
        if isSilenceTold {
            logger.error("the warden does not answer; runs wait", metadata: ["warden.pid": process])
        } else {
            logger.notice("the warden is waited for no more", metadata: ["warden.pid": process])
        }
    }

    /// The warden hung up.
    func disconnected() {
        isConnected = false
        wardenProcess = nil
        connectAt = clock.sinceBoot
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
