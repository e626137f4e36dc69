import Delivery
import Ledger
import Timeline
import Tracking

/// Decides what somebody should know of runs although nothing has ended: which are late, slow or stuck, and which jobs fail
/// and recover in turns.
///
/// Pure: rows and live states in, facts out; each is reported once for a run, a job that is unsteady once until it is steady
/// again.
struct Judge: Hashable {
    /// What is reported of a run.
    enum Charge: String, Hashable, CaseIterable {
        /// It has waited for ``Judge/patience``.
        case late
        /// It takes longer than past runs let expect.
        case slow
        /// It has been silent for three times as long as usual.
        case stuck
    }

    /// How long a run may wait from when it was queued: slots that are caught up are queued then.
    static let patience = Duration.seconds(300)
    /// How many ends of a job are looked at, and how often among them it must have changed between good and bad.
    static let ends = 6
    static let changes = 4

    /// The last event whose end was looked at; nil: none was yet.
    var cursor: Int64?
    /// What was reported of each run that has not ended.
    private(set) var reported: [String: Set<Charge>] = [:]
    /// The jobs that were reported as unsteady and have not been steady since.
    private(set) var unsteady: Set<String> = []

    /// Nothing was looked at.
    init() {}

    /// What is new of runs that are under way.
    mutating func review(_ charges: [(task: LiveTask, charge: Charge)]) -> [Fact] {
        charges.compactMap { task, charge in
            report(charge, of: Fact.Run(job: task.name, id: task.id, bot: task.botID))
        }
    }

    /// What is new of all runs that have not ended; what was reported of others is forgotten.
    ///
    /// - Returns: also when the next run will have waited for too long; nil: none waits.
    mutating func review(active runs: [RunRecord], at now: Moment) -> (news: [Fact], next: Moment?) {
        let ids = Set(runs.map(\.id))
        reported = reported.filter { ids.contains($0.key) }
        var (news, next) = ([Fact](), Moment?.none)
        for run in runs where run.state == .queued && run.startedAt == nil && run.attempt == 1 {
            let due = run.queuedAt + Self.patience
            if due <= now {
                if let fact = report(.late, of: Fact.Run(run)) { news.append(fact) }
            } else {
                next = next.map { min($0, due) } ?? due
            }
        }
        return (news, next)
    }

    /// What is new of a job by the ends of its last runs, the newest first.
    mutating func review(ends runs: [RunRecord], of job: String) -> Fact? {
        guard let newest = runs.first, Self.isUnsteady(runs.map(\.state)) else {
            unsteady.remove(job)
            return nil
        }
        return unsteady.insert(job).inserted ? .runFlapping(Fact.Run(newest)) : nil
    }

    /// Whether ends change between good and bad so often that neither is news.
    static func isUnsteady(_ states: [RunState]) -> Bool {
        let last = states.prefix(Self.ends)
        return zip(last, last.dropFirst()).count { $0.isFailure != $1.isFailure } >= Self.changes
    }

    private mutating func report(_ charge: Charge, of run: Fact.Run) -> Fact? {
        guard reported[run.id, default: []].insert(charge).inserted else { return nil }
        return switch charge {
        case .late: .runLate(run)
        case .slow: .runSlow(run)
        case .stuck: .runStuck(run)
        }
    }
}

extension Judge {
    /// As the ledger keeps it.
    var json: JSON {
        .object([
            "cursor": cursor.map { .int($0) },
            "runs": .members(
                reported.sorted { $0.key < $1.key }.map { run, charges in
                    .init(run, .array(Charge.allCases.filter(charges.contains).map { .string($0.rawValue) }))
                }),
            "unsteady": .array(unsteady.sorted().map { .string($0) }),
        ])
    }

    /// As it was kept; nothing was looked at where it can't be read.
    init(_ json: JSON) {
        cursor = json["cursor"]?.int.map { Int64($0) }
        if case .members(let runs)? = json["runs"] {
            for run in runs {
                reported[run.name] = Set(run.value.elements.compactMap { $0.text.flatMap(Charge.init) })
            }
        }
        unsteady = Set((json["unsteady"]?.elements ?? []).compactMap(\.text))
    }
}

extension LiveBoard {
    /// What is charged against the runs that are under way now, and when there may be more although nothing happens.
    func charges() -> (due: [(task: LiveTask, charge: Judge.Charge)], next: Moment?) {
        let now = loop.clock.now
        var (due, next) = ([(task: LiveTask, charge: Judge.Charge)](), Moment?.none)
        for line in lines.values where line.last == nil {
            let (live, slowAt) = (line.tracker.live, line.tracker.slowAt)
            if live.state == .stalled { due.append((live.task, .stuck)) }
            guard let slowAt else { continue }
            if slowAt <= now {
                due.append((live.task, .slow))
            } else {
                next = next.map { min($0, slowAt) } ?? slowAt
            }
        }
        return (due, next)
    }
}
