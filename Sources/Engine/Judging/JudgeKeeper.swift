import Delivery
package import Ledger
package import Logging
import Synchronization
package import Timeline
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

/// Reports runs that are late, slow or stuck, and jobs that fail and recover in turns, each once, as ``Judge`` decides.
///
/// What was reported is committed with its events, so that a restart repeats nothing. Asleep while nothing is due; runs that
/// come and go wake it once a second at most.
package actor JudgeKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let board: LiveBoard
    /// Whether rows of runs were touched since they were looked at last.
    private let touch = Touch()
    /// What was decided so far; nil: it was not read yet.
    private var judge: Judge?
    /// The cursor that is kept; nil: none is.
    private var keptCursor: Int64?
    /// When to look at the runs that wait, and at those that have ended; nil: not before a row is touched.
    private var waitingAt: Moment?
    private var endsAt: Moment?

    private static let fact = "judge"
    /// How long rows may be touched before they are looked at.
    static let rest = Duration.seconds(1)
    private static let batch = 500
    /// How many events may be looked at again after a restart.
    private static let mostUnkept: Int64 = 5000

    package init(ledger: any Ledger, clock: any WallClock, board: LiveBoard, logger: Logger) {
        self.ledger = ledger
        self.board = board
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "runs can't be judged")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] {
        let (bell, touch) = (loop.bell, touch)
        return [
            .observing(
                ledger.observeCommits { if $0.contains(.runs), touch.note() { bell.ring() } }),
            .each(board.alarms.values()), .each(board.lessons.given.values()),
        ]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        do throws(LedgerError) {
            return try await look(at: loop.clock.now)
        } catch {
            // All of it is looked at again.
            (waitingAt, endsAt) = (loop.clock.now, loop.clock.now)
            throw error
        }
    }

    private func look(at now: Moment) async throws(LedgerError) -> KeeperLoop.Next {
        var (judge, news) = (try await known(), [Fact]())
        if touch.isThere { endsAt = earliest(endsAt, now + Self.rest) }
        let live = await board.charges()
        news += judge.review(live.due)
        let endsAreDue = endsAt.map { $0 <= now } ?? false
        if endsAreDue {
            // What is touched from here on rings again; a run that was queued just now is late then at the earliest.
            touch.clear()
            endsAt = nil
            waitingAt = earliest(waitingAt, now + Judge.patience)
            news += try await reviewEnds(&judge)
        }
        if let due = waitingAt, due <= now {
            let waiting = judge.review(active: try await ledger.activeRuns(), at: now)
            news += waiting.news
            waitingAt = waiting.next
        }
        try await keep(judge, news, at: now)
        return .earliest(live.next, waitingAt, endsAt)
    }

    private func known() async throws(LedgerError) -> Judge {
        if let judge { return judge }
        let text = try await ledger.fact(named: Self.fact)
        var read = text.flatMap { JSON(parsing: Array($0.utf8)[...]) }.map { Judge($0) } ?? Judge()
        keptCursor = read.cursor
        // What ended before anybody judged is no news.
        if read.cursor == nil { read.cursor = try await ledger.lastEvent() }
        judge = read
        (waitingAt, endsAt) = (loop.clock.now, loop.clock.now)
        return read
    }

    /// What is new of the jobs that failed or recovered since the last time.
    private func reviewEnds(_ judge: inout Judge) async throws(LedgerError) -> [Fact] {
        let last = try await ledger.lastEvent()
        let events = try await ledger.events(
            of: [.runFailed, .runLost, .runRecovered], after: judge.cursor ?? 0, limit: Self.batch)
        var news: [Fact] = []
        for job in Set(events.compactMap(\.event.fact.columns.job)).sorted() {
            let runs = try await ledger.runs(
                RunFilter(
                    job: job, states: [.completed, .failed, .timedOut, .lost], limit: Judge.ends))
            if let fact = judge.review(ends: runs, of: job) { news.append(fact) }
        }
        if events.count < Self.batch {
            judge.cursor = max(last, events.last?.seq ?? 0)
        } else {
            judge.cursor = events.last?.seq
            endsAt = loop.clock.now
        }
        return news
    }

    private func keep(_ judge: Judge, _ news: [Fact], at now: Moment) async throws(LedgerError) {
        let isBehind = keptCursor.map { (judge.cursor ?? 0) - $0 > Self.mostUnkept } ?? true
        if !news.isEmpty || isBehind {
            try await ledger.commit(
                [.setFact(name: Self.fact, value: String(decoding: judge.json.bytes, as: UTF8.self))]
                    + news.map { .append(NewEvent($0, at: now)) })
            keptCursor = judge.cursor
        }
        self.judge = judge
    }

    private func earliest(_ one: Moment?, _ other: Moment) -> Moment { one.map { min($0, other) } ?? other }
}

/// Whether rows were touched; the first touch after a look rings, the others need not.
private final class Touch: Sendable {
    private let isTouched = Mutex(false)

    var isThere: Bool { isTouched.withLock { $0 } }

    /// Notes a touch; whether it is the first one.
    func note() -> Bool {
        isTouched.withLock { isTouched in
            defer { isTouched = true }
            return !isTouched
        }
    }

    func clear() { isTouched.withLock { $0 = false } }
}
