import HeapModule
import Ledger
import Performing
import Timeline
import Tracking

/// The runs that are not started: those that wait for their turn, those that wait for the moment of another attempt,
/// and the gates that hold them up.
struct RunQueue {
    private var lineup = Lineup()
    private var delays = Delays()
    private var gates = Gates()

    /// When, since boot, the first delayed attempt is due; nil: none waits.
    var nextDue: Duration? { delays.next }

    func contains(_ id: String) -> Bool { lineup[id] != nil || delays[id] != nil }

    // MARK: Waiting

    /// The run waits for its turn, `first` of its job if it had one before.
    mutating func join(_ run: Waiting, first: Bool) { lineup.join(run, first: first) }

    /// The run waits for another attempt until a moment since boot.
    mutating func delay(_ run: Waiting, until moment: Duration) { delays.add(run, until: moment) }

    /// The run no longer waits, and no longer counts as one of its job.
    mutating func drop(_ run: RunRecord) {
        lineup.leave(run.id)
        delays.remove(run.id)
        leave(run.id, [.job(run.job)])
    }

    /// Takes out those whose turn it is, at most `room`, at a moment since boot; they count as under way.
    mutating func takeTurns(_ room: Int, at now: Duration) -> [Waiting] {
        for run in delays.takeDue(at: now) { lineup.join(run, first: true) }
        var turns: [Waiting] = []
        while turns.count < room, let next = lineup.next(through: gates) {
            enter(next.id, next.places)
            turns.append(next)
        }
        return turns
    }

    /// Their turn was not used: each waits again, before the others of its job.
    mutating func putBack(_ turns: [Waiting]) {
        for run in turns.reversed() {
            leave(run.id, run.places)
            lineup.join(run, first: true)
        }
    }

    // MARK: Gates

    /// The run counts at these gates, whether it had to find them open or not.
    mutating func enter(_ id: String, _ places: [Gate.Name]) {
        for place in places { gates.enter(place, id) }
    }

    /// The run no longer counts there: others may pass.
    mutating func leave(_ id: String, _ places: [Gate.Name]) {
        for place in places {
            gates.leave(place, id)
            lineup.opened(place)
        }
    }

    /// Opens or closes the gate of a performer.
    mutating func set(_ performer: PerformerKind, isReady: Bool) {
        if gates.set(.performer(performer), isOpen: isReady) { lineup.opened(.performer(performer)) }
    }

    /// Whether the run waits for the moment of another attempt.
    func isDelayed(_ id: String) -> Bool { delays[id] != nil }

    /// The first closed gate of a run that waits for its turn; nil: none is, or it does not wait.
    func obstacle(of id: String) -> (run: Waiting, gate: Gate.Name)? {
        guard let run = lineup[id], let gate = run.gates.first(where: { !gates.isOpen($0, for: id) })
        else { return nil }
        return (run, gate.name)
    }

    /// How many runs are inside of a gate, or come before the run there.
    ///
    /// - Complexity: O(runs that wait).
    func count(before run: Waiting, at gate: Gate.Name) -> Int {
        gates.count(inside: gate) + lineup.count(before: run, at: gate)
    }
}

/// A run that waits for its turn: as much of it as the order of turns needs.
struct Waiting: Hashable {
    let id: String
    let job: String
    let bot: String
    /// Higher ones first.
    let priority: Int
    let isForced: Bool
    /// Whether it answers people: then it comes after all else that its bot has to do.
    let isReply: Bool
    /// Who performs it.
    let performer: PerformerKind
    /// What it must find open.
    let gates: [Gate]
    /// Where it counts while it is under way: its key, and its job in any case.
    ///
    /// In this order it leaves: others of its key have waited longer than its job's next run.
    let places: [Gate.Name]
    /// The clocks when it began to wait.
    let since: ClockReading?

    /// `spec` is what it executes; nil when nobody knows any more: then it waits for its performer only.
    init(
        _ run: RunRecord, _ spec: JobSpec?, performer: PerformerKind = .warden, since: ClockReading? = nil
    ) {
        self.performer = performer
        self.since = since
        id = run.id
        job = run.job
        bot = run.bot
        priority = spec?.priority ?? 0
        isReply = spec?.thread != nil
        isForced = run.isForced
        let narrow = spec?.gates(isForced: run.isForced) ?? []
        gates = narrow + [Gate(name: .performer(performer), width: .max)]
        places = narrow.map(\.name).filter { $0 != .job(run.job) } + [.job(run.job)]
    }

    /// Whether its turn at a gate of both is likely to come first: ids sort by the time they were made.
    func isBefore(_ other: Waiting) -> Bool {
        if priority != other.priority { return priority > other.priority }
        if isReply != other.isReply { return other.isReply }
        return id < other.id
    }
}

/// Runs that wait for their next attempt's moment.
///
/// Moments are counted from the start of the machine, so that a clock that is set changes none.
struct Delays {
    private struct Due: Comparable {
        var at: Duration
        var id: String

        static func < (left: Due, right: Due) -> Bool { (left.at, left.id) < (right.at, right.id) }
    }

    private var runs: [String: (at: Duration, run: Waiting)] = [:]
    private var queue = Heap<Due>()

    subscript(id: String) -> Waiting? { runs[id]?.run }

    /// When the first one is due; nil: nobody waits.
    var next: Duration? { queue.min?.at }

    mutating func add(_ run: Waiting, until moment: Duration) {
        runs[run.id] = (moment, run)
        queue.insert(Due(at: moment, id: run.id))
    }

    @discardableResult
    mutating func remove(_ id: String) -> Waiting? { runs.removeValue(forKey: id)?.run }

    /// Takes out those whose moment has come.
    mutating func takeDue(at now: Duration) -> [Waiting] {
        var due: [Waiting] = []
        while let first = queue.min, first.at <= now {
            queue.removeMin()
            guard runs[first.id]?.at == first.at, let run = remove(first.id) else { continue }
            due.append(run)
        }
        return due
    }
}

/// What both clocks showed at once, to find out later how far the wall clock was set meanwhile.
struct ClockReading: Hashable {
    var now: Moment
    /// By the clock that nobody sets.
    var sinceBoot: Duration

    init(now: Moment, sinceBoot: Duration) {
        self.now = now
        self.sinceBoot = sinceBoot
    }

    init(of clock: any WallClock) {
        self.init(now: clock.now, sinceBoot: clock.sinceBoot)
    }

    /// How far the clock on the wall was set between this reading and a `later` one; below zero: back.
    func change(until later: ClockReading) -> Duration {
        (later.now - now) - (later.sinceBoot - sinceBoot)
    }
}
