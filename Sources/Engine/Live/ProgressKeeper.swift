import Delivery
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Makes events of the progress of runs, for channels that are sent each thing once and can bear it: webhooks, programs,
/// phones.
///
/// When one is worth it, the governor of each run decides; that a run begins, waits and ends are events of their own. Asleep
/// while no route leads progress there.
package actor ProgressKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let board: LiveBoard
    private let activeConfiguration: ActiveConfiguration
    private var governors: [String: PushGovernor] = [:]
    /// Until when, since boot, it does not look again, however fast jobs report.
    private var restsUntil: Duration?
    private static let pace = Duration.seconds(1)

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard,
        activeConfiguration: ActiveConfiguration, logger: Logger
    ) {
        self.ledger = ledger
        self.board = board
        self.activeConfiguration = activeConfiguration
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "the progress of runs can't be recorded")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [.each(board.taps())] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let sinceBoot = loop.clock.sinceBoot
        if let restsUntil, sinceBoot < restsUntil { return .at(loop.clock.now + (restsUntil - sinceBoot)) }
        restsUntil = sinceBoot + Self.pace
        guard isWanted else {
            governors = [:]
            return .whenRung
        }
        let (now, states) = (loop.clock.now, await board.states())
        var next: [String: PushGovernor] = [:]
        var (due, wake) = ([Change](), Moment?.none)
        for live in states where live.state.isUnderWay {
            var governor = governors[live.task.id] ?? PushGovernor()
            switch governor.push(live, at: now)?.cause {
            case .finish, .change, .stale, .life:
                let run = Fact.Run(job: live.task.name, id: live.task.id, bot: live.task.botID)
                // Whoever is sent the event is sent this state.
                due += [
                    .saveLive(run: live.task.id, live), .append(NewEvent(.runProgress(run), at: now)),
                ]
            // These are events of their own.
            case .start, .blocked, .end, nil: break
            }
            if let moment = governor.nextPush(of: live) { wake = wake.map { min($0, moment) } ?? moment }
            next[live.task.id] = governor
        }
        if !due.isEmpty { try await ledger.commit(due) }
        governors = next
        return .earliest(wake.map { max($0, now + .seconds(1)) })
    }

    /// Whether a route leads progress to a channel that is sent events of it.
    private var isWanted: Bool {
        let rules = activeConfiguration.configuration.rules
        let takers = rules.channels.filter { !$0.isLevel && $0.takesProgress }.map(\.name)
        guard !takers.isEmpty else { return false }
        return rules.routing.channels(for: EventType.runProgress.rawValue).contains { takers.contains($0) }
    }
}
