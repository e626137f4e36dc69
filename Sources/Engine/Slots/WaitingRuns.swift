import Cron
import HeapModule
import Ledger
import Timeline
import Tracking

/// Runs whose slots are decided and that wait for their spread, in the order in which they start.
///
/// A value of the slot keeper; the ledger's rows, in state `scheduled`, are the truth.
struct WaitingRuns {
    struct Entry: Comparable {
        var until: Moment
        var run: String
        var job: String
        var attempt: Int
        var notBefore: Moment
        /// The longest that it may wait, whatever the clock says.
        var longest: Duration

        static func < (left: Entry, right: Entry) -> Bool {
            (left.until, left.run) < (right.until, right.run)
        }
    }

    private var queue = Heap<Entry>()
    /// When each of them starts, by id; one that is only in the queue waits no longer.
    private var moments: [String: Moment] = [:]

    /// When the run starts; nil: it does not wait here.
    subscript(run: String) -> Moment? { moments[run] }

    /// When the first of them starts; nil: none waits.
    var next: Moment? { queue.min?.until }

    /// Takes in a run.
    ///
    /// One of a future that a set-back clock took away waits at most `longest` from now.
    mutating func add(_ run: RunRecord, longest: Duration, at now: Moment) {
        let notBefore = run.notBefore ?? now
        restore([
            Entry(
                until: min(notBefore, now + longest), run: run.id, job: run.job, attempt: run.attempt,
                notBefore: notBefore, longest: longest)
        ])
    }

    /// The run starts now: the one whose place it took would have started already.
    mutating func hasten(_ run: String, to now: Moment) {
        guard moments[run] != nil, var entry = queue.unordered.first(where: { $0.run == run }) else { return }
        entry.until = min(entry.until, now)
        entry.notBefore = min(entry.notBefore, now)
        restore([entry])
    }

    /// The run does not start.
    mutating func remove(_ run: String) { moments[run] = nil }

    /// Takes up to `limit` of those whose moment has come, earliest first.
    mutating func takeDue(at now: Moment, limit: Int) -> [Entry] {
        var due: [Entry] = []
        while due.count < limit, let first = queue.min, first.until <= now {
            queue.removeMin()
            if moments.removeValue(forKey: first.run) != nil { due.append(first) }
        }
        return due
    }

    /// Puts back what could not be started.
    mutating func restore(_ entries: [Entry]) {
        for entry in entries {
            queue.insert(entry)
            moments[entry.run] = entry.until
        }
    }

    /// The clock went back: nobody waits longer than its longest from now.
    mutating func clamp(at now: Moment) {
        let entries = queue.unordered.filter { moments[$0.run] != nil }.map { entry in
            var entry = entry
            entry.until = min(entry.until, now + entry.longest)
            return entry
        }
        self = WaitingRuns()
        restore(entries)
    }
}

extension WaitingRuns.Entry {
    /// The change by which the run is queued; its moment stays beside it.
    fileprivate var start: Change {
        var move = RunMove(run: run, from: [.scheduled], attempt: attempt, to: .queued)
        move.notBefore = notBefore
        return .moveRun(move)
    }
}

extension SlotKeeper {
    /// Starts the run when its moment has come.
    func wait(for run: RunRecord, at now: Moment) {
        let job = book[run.job]
        let wait =
            (job?.policies.spread ?? .zero) + (run.slot == nil ? job?.schedule.startupDelay ?? .zero : .zero)
        waiting.add(run, longest: max(wait, SlotDelay.longestPace), at: now)
    }

    /// Queues the runs whose moment has come.
    func startWaiting() async throws(LedgerError) {
        while true {
            let due = waiting.takeDue(at: clock.now, limit: Self.batch)
            guard !due.isEmpty else { return }
            // One that was cancelled meanwhile is given up.
            var shared = SharedCommit(due)
            while let entries = shared.next {
                do throws(LedgerError) {
                    try await start(entries, of: due)
                    shared.committed()
                } catch {
                    guard case .fenced = error else {
                        waiting.restore(Array(shared.rest))
                        throw error
                    }
                    shared.refused()
                }
            }
        }
    }

    /// Queues some of those that are `due` at once, in one transaction; with ``OverlapPolicy/replace`` the runs
    /// before them end now, and not when the slot was decided.
    private func start(
        _ entries: [WaitingRuns.Entry], of due: [WaitingRuns.Entry]
    ) async throws(LedgerError) {
        var replaced: [Change] = []
        var touched: [(run: String, job: String)] = []
        var starting: Set<String>?
        for entry in entries {
            guard let policies = book[entry.job]?.policies, policies.overlap == .replace else { continue }
            let peers = starting ?? Set(due.map(\.run))
            starting = peers
            let others = runs.census.runs(of: entry.job).filter { !peers.contains($0) && waiting[$0] == nil }
            touched += others.map { ($0, entry.job) }
            replaced += policies.overlap.changes(
                for: others, of: entry.job, bot: policies.bot, startsNow: true, at: clock.now)
        }
        let commit = try await ledger.commit(entries.map(\.start) + replaced)
        note(commit, made: [], touched: touched)
        runs.note(changed: entries.map(\.run))
    }
}

/// How long after its slot a run starts, where not at once.
package enum SlotDelay {
    /// The part of `spread` that the job of this name always waits: from zero up to, not including, `spread`.
    ///
    /// By the name alone, so that a restart does not draw it again.
    package static func spread(_ spread: Duration, of name: String) -> Duration {
        guard spread > .zero else { return .zero }
        return .microseconds(Int64(hash(name) % UInt64(spread.microseconds)))
    }

    /// How many jobs that catch up start at once.
    static let atOnce = 8
    /// Between the starts of the others.
    static let step: Duration = .milliseconds(250)
    /// What catches up waits no longer than this for the others.
    package static let longestPace: Duration = .seconds(600)

    /// How long the job that is caught up as the `number`th, from 0, waits for those before it.
    ///
    /// After a sleep or a stop not everything starts in one second.
    static func pace(_ number: Int) -> Duration {
        min(longestPace, step * max(0, number - atOnce + 1))
    }

    /// - Source: FNV-1a, 64 bit, and the last step of MurmurHash3: short names that differ in one letter lie far
    ///   apart.
    private static func hash(_ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
