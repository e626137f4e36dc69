package import Ledger
package import Logging
import Synchronization
package import Timeline
import Tracking

/// Reads how the last successes of a job got on, and has the runs of it that are under way learn when they will be
/// done.
///
/// Reads once for each run that lasts, and keeps nothing: what a job needs in memory lives and goes with its runs.
package actor FinishKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let board: LiveBoard

    package init(ledger: any Ledger, clock: any WallClock, board: LiveBoard, logger: Logger) {
        self.ledger = ledger
        self.board = board
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "finish times can't be estimated")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [.each(board.lessons.wanted.values())] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let (due, next) = await board.learners()
        for (job, runs) in due {
            let profiles = try await ledger.profiles(of: job, limit: Self.profilesRead)
            for (mark, alike) in try await alike(runs, among: profiles) {
                await board.teach(try await estimator(for: job, profiles.alike(mark)), to: alike)
            }
        }
        let clock = loop.clock
        return .earliest(next.map { clock.now + max(.zero, $0 - clock.sinceBoot) })
    }

    /// How many past runs are looked at: of commands of one name, those with other arguments are among them.
    private static let profilesRead = FinishEstimator.runsKept * 3

    private func estimator(
        for job: String, _ profiles: [RunProfile]
    ) async throws(LedgerError) -> FinishEstimator {
        let estimator = FinishEstimator(history: profiles)
        // What people expect counts only until enough is known.
        guard estimator.usual == nil, let usually = try await ledger.job(named: job)?.spec.usually else {
            return estimator
        }
        return FinishEstimator(history: profiles, usually: usually)
    }

    /// These runs by their argument lists, where past runs of the job differ in theirs.
    private func alike(
        _ runs: [String], among profiles: [RunProfile]
    ) async throws(LedgerError) -> [UInt32?: [String]] {
        guard profiles.contains(where: { $0.arguments != nil }) else { return [nil: runs] }
        var alike: [UInt32?: [String]] = [:]
        for run in runs {
            let record = try await ledger.run(id: run)
            var mark: UInt32?
            if record?.kind == .exec, case .command(let list)? = record?.spec?.action {
                mark = RunProfile.mark(ofArguments: list)
            }
            alike[mark, default: []].append(run)
        }
        return alike
    }
}

/// The bells of a board whose runs learn from past ones.
///
/// The history of a job is read by ``FinishKeeper``, beside the keeper of runs: no start waits for it.
final class Lessons: Sendable {
    /// Rung when a run is under way that has not learned, unless the time of another one is awaited already.
    let wanted = Broadcast<Void>()
    /// Rung when runs have learned: there may be something to do for them earlier than before.
    let given = Broadcast<Void>()
    private let isAwaited = Mutex(false)

    /// A run is under way that has not learned.
    func want() {
        let isFirst = isAwaited.withLock { isAwaited in
            defer { isAwaited = true }
            return !isAwaited
        }
        if isFirst { wanted.publish(()) }
    }

    /// Whoever gives lessons comes back by itself, or only when it is rung for.
    func noteReturn(_ comesBack: Bool) { isAwaited.withLock { $0 = comesBack } }
}

extension LiveBoard {
    /// How long a run is under way before the history of its job is read: one that has ended by then costs no read.
    package static let learningDelay: Duration = .milliseconds(250)

    /// The runs that have been under way for ``learningDelay`` and have not learned, by job; and when, since boot, the next
    /// one has.
    func learners() -> (due: [String: [String]], next: Duration?) {
        let now = loop.clock.sinceBoot
        var (due, next) = ([String: [String]](), Duration?.none)
        for (run, line) in lines where line.last == nil {
            guard let moment = line.learnsAt else { continue }
            if moment <= now {
                due[line.tracker.live.task.name, default: []].append(run)
            } else {
                next = next.map { min($0, moment) } ?? moment
            }
        }
        lessons.noteReturn(next != nil)
        return (due, next)
    }

    /// Adopts what past runs of their job show, in these runs.
    func teach(_ estimator: FinishEstimator, to runs: [String]) {
        let now = loop.clock.now
        for run in runs {
            lines[run]?.learnsAt = nil
            lines[run]?.hasLearned = true
            _ = update(run) { [$0.tracker.learn(estimator, at: now)] }
        }
        lessons.given.publish(())
    }

    /// The run may have come under way: from then on it may learn.
    func noteStart(of line: Line) {
        guard line.tracker.live.state.isUnderWay, !line.hasLearned, line.learnsAt == nil else { return }
        line.learnsAt = loop.clock.sinceBoot + Self.learningDelay
        lessons.want()
    }
}
