package import Ledger
package import Logging
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

    func wakers() -> [Waker] { [.each(board.lessons.wanted.listen())] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let (due, next) = await board.learners()
        for (job, runs) in due {
            let profiles = try await ledger.profiles(of: job, limit: FinishEstimator.runsKept)
            await board.teach(FinishEstimator(history: profiles), to: runs)
        }
        let clock = loop.clock
        return .earliest(next.map { clock.now + max(.zero, $0 - clock.sinceBoot) })
    }
}
