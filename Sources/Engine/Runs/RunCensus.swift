package import Ledger
import Synchronization
import Timeline
import Tracking

/// How many runs of each job have not ended: a count of ledger rows, kept so that no decision must ask for it.
///
/// Filled from the ledger at start; whoever commits a run's end counts it here after the commit, and whoever commits its
/// beginning before it: an end may be on its way before the one who began the run goes on.
package final class RunCensus: Sendable {
    private struct State {
        var active: [String: OpenRuns] = [:]
        /// The jobs whose last end is published, once.
        var awaited: Set<String> = []
    }

    private let state = Mutex(State())
    private let idle = Broadcast<Set<String>> { $0.formUnion($1) }

    package init() {}

    /// Counts runs that are queued, or are about to be.
    package func began(_ runs: [RunRecord]) {
        state.withLock { state in
            if runs.count > 64 { state.active.reserveCapacity(state.active.count + runs.count) }
            // By index: a record is not copied for two of its fields.
            for index in runs.indices { state.active[runs[index].job, default: .none].insert(runs[index].id) }
        }
    }

    /// No longer counts a run.
    package func ended(run: String, of job: String) {
        let isAwaited = state.withLock { state in
            state.active[job]?.remove(run)
            if state.active[job]?.count == 0 { state.active[job] = nil }
            return state.active[job] == nil && state.awaited.remove(job) != nil
        }
        if isAwaited { idle.publish([job]) }
    }

    /// Publishes the job to ``idleJobs()`` once none of its runs is under way or waits; at once when none is now.
    package func awaitEnd(of job: String) {
        let isIdle = state.withLock { state in
            if state.active[job] != nil { state.awaited.insert(job) }
            return state.active[job] == nil
        }
        if isIdle { idle.publish([job]) }
    }

    /// The jobs that became idle after ``awaitEnd(of:)`` was called for them.
    package func idleJobs() -> AsyncStream<Set<String>> { idle.values() }

    /// How many runs have not ended.
    package var count: Int {
        state.withLock { state in state.active.values.reduce(0) { $0 + $1.count } }
    }

    /// Whether a run of the job is under way or waits.
    package func isBusy(_ job: String) -> Bool {
        state.withLock { $0.active[job] != nil }
    }

    /// The ids of the job's runs that have not ended.
    package func runs(of job: String) -> Set<String> {
        state.withLock { $0.active[job]?.ids ?? [] }
    }
}

/// The runs of one job that have not ended: mostly one, which needs no set.
enum OpenRuns {
    case none
    case one(String)
    case many(Set<String>)

    var ids: Set<String> {
        switch self {
        case .none: []
        case .one(let id): [id]
        case .many(let ids): ids
        }
    }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let ids): ids.count
        }
    }

    mutating func insert(_ id: String) {
        switch self {
        case .none: self = .one(id)
        case .one(let first): if first != id { self = .many([first, id]) }
        case .many(var ids):
            self = .none
            ids.insert(id)
            self = .many(ids)
        }
    }

    mutating func remove(_ id: String) {
        switch self {
        case .none: break
        case .one(let only): if only == id { self = .none }
        case .many(var ids):
            self = .none
            ids.remove(id)
            self = .many(ids)
        }
    }
}

/// Makes runs known once they are committed: to the count of runs that have not ended, and to the keeper of runs.
struct RunMaker {
    /// Above so many runs their rows are read when their turn comes, in the place of keeping all in memory.
    private static let rowsKept = 256

    let census: RunCensus
    private let notes: RunNotes
    /// A fresh id at each call.
    let makeID: @Sendable () -> String

    init(census: RunCensus, notes: RunNotes, makeID: @escaping @Sendable () -> String) {
        self.census = census
        self.notes = notes
        self.makeID = makeID
    }

    /// Commits changes that make `runs`, which are counted before they can be seen: a run may end before this returns.
    func commit(
        _ changes: [Change], making runs: [RunRecord], to ledger: any Ledger
    ) async throws(LedgerError) -> Commit {
        census.began(runs)
        do throws(LedgerError) {
            return try await ledger.commit(changes)
        } catch {
            for run in runs { census.ended(run: run.id, of: run.job) }
            throw error
        }
    }

    /// Notes what a commit made, and what it changed in the earlier runs of their jobs.
    func note(
        _ commit: Commit, made: [RunRecord], touched: [(run: String, job: String)],
        waiting: inout WaitingRuns, at now: Moment
    ) {
        var due: Set<String> = []
        for (run, job) in touched where commit.passedOver.contains(run) {
            // It had its moment and waited for its turn alone: so does the one in its place.
            if waiting[run] == nil { due.insert(job) }
            waiting.remove(run)
            census.ended(run: run, of: job)
        }
        for run in made where due.contains(run.job) { waiting.hasten(run.id, to: now) }
        if !touched.isEmpty { notes.add(changed: touched.map(\.run)) }
        guard !commit.inserted.isEmpty else { return }
        let ordinals = commit.ordinals
        let queued = made.filter { $0.state == .queued && ordinals[$0.id] != nil }
        if queued.count > Self.rowsKept { return notes.add(changed: queued.map(\.id)) }
        let rows = queued.map { run in
            var run = run
            run.ordinal = ordinals[run.id] ?? 0
            return run
        }
        if !rows.isEmpty { notes.add(made: rows) }
    }

    /// The rows of these runs were changed.
    func note(changed runs: [String]) { notes.add(changed: runs) }

    /// These runs were withdrawn before they started.
    func note(withdrawn runs: [RunRecord]) {
        for run in runs { census.ended(run: run.id, of: run.job) }
        note(changed: runs.map(\.id))
    }
}

/// Where those who make runs or change their rows leave notes, after the commit, for the keeper of runs.
package final class RunNotes: Sendable {
    /// What somebody did to a run.
    package enum Note: Sendable {
        /// It was made, and its row was this; the row may have changed since.
        case made(RunRecord)
        /// Its row was made or changed.
        case changed(String)
    }

    private let notes = Mutex<[Note]>([])
    private let bell = Broadcast<Void>()

    package init() {}

    /// The rows of these runs were made or changed.
    package func add(changed runs: some Sequence<String>) {
        notes.withLock { $0 += runs.map(Note.changed) }
        bell.publish(())
    }

    /// These runs were made, and are queued: nobody needs to read their rows before they start.
    package func add(made runs: some Sequence<RunRecord>) {
        notes.withLock { $0 += runs.map(Note.made) }
        bell.publish(())
    }

    /// The notes since they were last taken, in that order.
    package func takeAll() -> [Note] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }

    /// An element after each note.
    func arrivals() -> AsyncStream<Void> { bell.values() }
}

/// The rows that the keeper of runs is to look at, in order, and those it has just seen.
struct NotedRows {
    /// Where others leave their notes.
    let notes: RunNotes
    private var noted = Fifo<RunNotes.Note>()
    /// Rows seen in this turn: a run that starts in the same turn needs no other look.
    private var seen: [String: RunRecord] = [:]

    init(_ notes: RunNotes = RunNotes()) {
        self.notes = notes
    }

    /// Whether none is left to look at.
    var isEmpty: Bool { noted.isEmpty }

    /// Appends the notes that others left.
    mutating func gather() { add(notes.takeAll()) }

    mutating func add(_ more: some Sequence<RunNotes.Note>) { noted.append(contentsOf: more) }

    /// Takes the first notes, at most `most`.
    mutating func removeFirst(_ most: Int) -> [RunNotes.Note] {
        var taken: [RunNotes.Note] = []
        while taken.count < most, let note = noted.popFirst() { taken.append(note) }
        return taken
    }

    /// They could not be looked at: they are the first again.
    mutating func putBack(_ taken: [RunNotes.Note]) {
        for note in taken.reversed() { noted.prepend(note) }
    }

    /// The run waits again, and comes before the others; this is its row as it was just committed.
    mutating func addFirst(_ run: RunRecord) { noted.prepend(.made(run)) }

    mutating func keep(_ row: RunRecord) { seen[row.id] = row }

    /// The row as it was seen in this turn.
    subscript(run: String) -> RunRecord? { seen[run] }

    /// The turn ended: other rows may be newer now.
    mutating func forgetSeen() { if !seen.isEmpty { seen = [:] } }
}
