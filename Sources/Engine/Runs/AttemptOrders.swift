import Ledger
import Performing
import Timeline

/// Makes the order of each attempt: from what its run executes, what a wrapped command lent, and how long it has waited
/// for processes that earlier attempts left running.
struct AttemptOrders {
    let places: RunPlaces
    let clock: any WallClock
    /// What wrapped commands brought along, by the cause of their runs.
    ///
    /// It holds somebody's whole environment, secrets and all: it stays in memory and never meets the ledger.
    private var loans: [String: ExecLoan] = [:]
    /// Since when, since boot, runs wait for what their earlier attempts left running; by id.
    ///
    /// Of a run that waited before this daemon started the rows show it.
    private var leftoversSeen: [String: Duration] = [:]

    init(places: RunPlaces, clock: any WallClock) {
        self.places = places
        self.clock = clock
    }

    /// Keeps what the run that `cause` is about to make brings along, until that run has ended.
    mutating func lend(_ loan: ExecLoan, to cause: String) { loans[cause] = loan }

    /// Forgets what a run that was never made brought along.
    mutating func takeBack(from cause: String) { loans[cause] = nil }

    /// Whether the run wraps a command whose environment only an earlier daemon had.
    func lacksLoan(_ run: RunRecord) -> Bool { run.kind == .exec && loans[run.cause] == nil }

    /// The run has waited since this moment for what an earlier attempt left running.
    mutating func recallLeftovers(of run: String, since moment: Moment) {
        leftoversSeen[run] = clock.sinceBoot - max(.zero, clock.now - moment)
    }

    /// How long the run has waited, since it was first seen that it must, for what an earlier attempt left running.
    mutating func waitedForLeftovers(of run: String) -> Duration {
        let since = leftoversSeen[run] ?? clock.sinceBoot
        leftoversSeen[run] = since
        return clock.sinceBoot - since
    }

    /// The run's attempt has started.
    mutating func started(_ run: String) { leftoversSeen[run] = nil }

    /// The run has ended.
    mutating func ended(_ run: RunRecord) {
        loans[run.cause] = nil
        leftoversSeen[run.id] = nil
    }

    /// The order of the run's attempt.
    func order(_ run: RunRecord, _ spec: JobSpec) -> AttemptOrder {
        guard let loan = loans[run.cause] else {
            var order = ProcessOrder(run, spec, places)
            let waited = leftoversSeen[run.id].map { clock.sinceBoot - $0 } ?? .zero
            if run.attempt > 1, spec.endsLeftovers(afterWaiting: waited) { order.leftoverGrace = spec.grace }
            return .process(order)
        }
        var spec = spec
        spec.environment = loan.environment
        return .process(loan.applied(to: ProcessOrder(run, spec, places)))
    }
}
