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
    /// Where it counts while it is under way: its key, the lane of its bot, and its job in any case.
    ///
    /// In this order it leaves: others of its key have waited longer than its bot's next run, and its job's.
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
        places = narrow.map(\.name).filter { $0 != .job(run.job) }.reversed() + [.job(run.job)]
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

/// The runs that wait, and whose turn is next.
///
/// Higher priority first. Within one, the bots take turns, within a bot its jobs, and within a job the first comes
/// first. A job whose first run finds a gate closed steps aside until somebody leaves that gate, and
/// holds nobody up.
///
/// - Complexity: a turn costs the same for ten runs that wait and for ten thousand, beside the jobs that step aside
///   at it; leaving a gate costs the jobs that stood before it.
struct Lineup {
    /// The runs of a job that wait for the same things.
    private struct Line: Hashable {
        var priority: Int
        var bot: String
        var job: String
        var isForced: Bool
        var isReply: Bool

        init(of run: Waiting) {
            priority = run.priority
            bot = run.bot
            job = run.job
            isForced = run.isForced
            isReply = run.isReply
        }
    }

    /// Those of one priority whose turn comes round.
    private struct Round {
        var bots = Fifo<String>()
        /// A bot has lines exactly while it is among ``bots``.
        var lines: [String: BotLines] = [:]
    }

    /// The lines of one bot.
    private struct BotLines {
        private var jobs = Fifo<Line>()
        /// What answers people comes after the jobs: it can wait, and what comes meanwhile is answered with it.
        private var replies = Fifo<Line>()

        mutating func append(_ line: Line) {
            if line.isReply { replies.append(line) } else { jobs.append(line) }
        }

        mutating func popFirst() -> Line? { jobs.popFirst() ?? replies.popFirst() }
    }

    private var waiting: [String: Waiting] = [:]
    private var lines: [Line: Fifo<String>] = [:]
    private var rounds: [Int: Round] = [:]
    private var aside: [Gate.Name: [Line]] = [:]

    /// How many runs wait.
    var count: Int { waiting.count }

    subscript(id: String) -> Waiting? { waiting[id] }

    /// How many of those who wait for a gate come before the run, as far as is known now.
    ///
    /// - Complexity: O(runs that wait).
    func count(before run: Waiting, at gate: Gate.Name) -> Int {
        waiting.values.count { other in other.gates.contains { $0.name == gate } && other.isBefore(run) }
    }

    /// A run takes its place behind those of its job, or `first` before them.
    mutating func join(_ run: Waiting, first: Bool = false) {
        let line = Line(of: run)
        let isNew = lines[line] == nil
        waiting[run.id] = run
        if first {
            lines[line, default: Fifo()].prepend(run.id)
            // What the job stepped aside for may not concern this one.
            for gate in run.gates { opened(gate.name) }
        } else {
            lines[line, default: Fifo()].append(run.id)
        }
        if isNew { stand(line) }
    }

    /// A run waits no longer.
    @discardableResult
    mutating func leave(_ id: String) -> Waiting? { waiting.removeValue(forKey: id) }

    /// Somebody left the gate: the jobs that stood before it are in the round again.
    mutating func opened(_ gate: Gate.Name) {
        for line in aside.removeValue(forKey: gate) ?? [] { stand(line) }
    }

    /// Takes out the run whose turn it is; nil when nobody who waits can pass.
    mutating func next(through gates: Gates) -> Waiting? {
        for priority in rounds.keys.sorted(by: >) {
            while let bot = rounds[priority]?.bots.popFirst() {
                if let run = next(of: bot, priority, through: gates) {
                    rounds[priority]?.bots.append(bot)
                    return run
                }
                rounds[priority]?.lines[bot] = nil
            }
            rounds[priority] = nil
        }
        return nil
    }

    private mutating func next(of bot: String, _ priority: Int, through gates: Gates) -> Waiting? {
        while let line = rounds[priority]?.lines[bot]?.popFirst() {
            guard let run = first(of: line) else {
                lines[line] = nil
                continue
            }
            if let closed = run.gates.first(where: { !gates.isOpen($0, for: run.id) }) {
                aside[closed.name, default: []].append(line)
                continue
            }
            lines[line]?.popFirst()
            waiting[run.id] = nil
            rounds[priority]?.lines[bot]?.append(line)
            return run
        }
        return nil
    }

    /// The first of the line who still waits.
    private mutating func first(of line: Line) -> Waiting? {
        while let id = lines[line]?.first {
            if let run = waiting[id] { return run }
            lines[line]?.popFirst()
        }
        return nil
    }

    private mutating func stand(_ line: Line) {
        if rounds[line.priority]?.lines[line.bot] == nil {
            rounds[line.priority, default: Round()].bots.append(line.bot)
        }
        rounds[line.priority, default: Round()].lines[line.bot, default: BotLines()].append(line)
    }
}

/// A narrow place that at most ``width`` runs pass at a time.
///
/// A job that must not overlap itself and a concurrency key are gates; so is the lane of a bot, of width 1. A performer
/// is a gate of any width, closed while it can't be reached.
struct Gate: Hashable {
    enum Name: Hashable {
        case job(String)
        case key(String)
        case lane(String)
        case performer(PerformerKind)
    }

    var name: Name
    /// How many may be inside; 1 or more.
    var width: Int
}

extension JobSpec {
    /// The gates that a run must find open before it starts.
    ///
    /// One that is forced does not wait for the others of its job.
    func gates(isForced: Bool) -> [Gate] {
        var gates: [Gate] = []
        if overlap != .allow, !isForced { gates.append(Gate(name: .job(name), width: 1)) }
        if case .prompt = action { gates.append(Gate(name: .lane(bot), width: 1)) }
        if let concurrency { gates.append(Gate(name: .key(concurrency.key), width: concurrency.max)) }
        return gates
    }
}

/// Who is inside of which gate.
struct Gates {
    private var inside: [Gate.Name: Set<String>] = [:]
    /// Gates that nobody passes.
    private var closed: Set<Gate.Name> = []

    /// Whether the run may pass: there is room, or it is inside already.
    func isOpen(_ gate: Gate, for run: String) -> Bool {
        if closed.contains(gate.name) { return false }
        guard let others = inside[gate.name] else { return true }
        return others.count < gate.width || others.contains(run)
    }

    /// How many runs are inside.
    func count(inside gate: Gate.Name) -> Int { inside[gate]?.count ?? 0 }

    /// Opens or closes a gate for everybody; whether that changed anything.
    mutating func set(_ name: Gate.Name, isOpen: Bool) -> Bool {
        isOpen ? closed.remove(name) != nil : closed.insert(name).inserted
    }

    /// Counts the run as inside, whether it had to find the gate open or not.
    mutating func enter(_ name: Gate.Name, _ run: String) {
        inside[name, default: []].insert(run)
    }

    /// The run no longer counts.
    mutating func leave(_ name: Gate.Name, _ run: String) {
        inside[name]?.remove(run)
        if inside[name]?.isEmpty == true { inside[name] = nil }
    }
}
