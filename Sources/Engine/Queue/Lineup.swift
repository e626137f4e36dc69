import Ledger

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

/// First in, first out.
///
/// - Complexity: O(1), amortised, but for ``prepend(_:)`` where nobody has left yet.
struct Fifo<Element> {
    private var elements: [Element] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func append(contentsOf more: some Sequence<Element>) {
        elements.append(contentsOf: more)
    }

    mutating func prepend(_ element: Element) {
        if start > 0 {
            start -= 1
            elements[start] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        if start > 32, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
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
