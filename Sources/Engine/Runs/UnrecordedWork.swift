import Ledger
import Performing

/// What the keeper of runs could not record or decide because the ledger could not be written or read.
///
/// It is tried again before anything else: steps of one run follow each other, and none may pass one that is unrecorded.
struct UnrecordedWork {
    /// Steps to commit.
    private(set) var steps: [RunStep] = []
    /// Ends of attempts whose next step could not be decided.
    private(set) var ends: [(key: RunKey, end: AttemptEnd)] = []
    /// Why something could not be recorded or decided in this turn; an error that only a restart can clear wins.
    private(set) var failure: LedgerError?

    var isEmpty: Bool { steps.isEmpty && ends.isEmpty }

    mutating func add(_ more: some Sequence<RunStep>) { steps += more }

    mutating func add(_ end: AttemptEnd, of key: RunKey) { ends.append((key, end)) }

    mutating func takeSteps() -> [RunStep] {
        defer { steps = [] }
        return steps
    }

    mutating func takeEnds() -> [(key: RunKey, end: AttemptEnd)] {
        defer { ends = [] }
        return ends
    }

    /// A turn begins, in which everything is tried again.
    mutating func beginTurn() { failure = nil }

    /// The ledger failed.
    mutating func note(_ error: LedgerError) {
        if failure == nil || !error.mayPass { failure = error }
    }
}

/// How an attempt ended, as its performer reported it.
enum AttemptEnd {
    case refused(Refusal, text: String)
    case ended(ExitRecord)
    case vanished

    /// Whether it did what it should.
    var isSuccess: Bool {
        guard case .ended(let record) = self else { return false }
        return record.cause == .exited && record.exitCode == 0 && record.fault == nil
    }
}

/// Where the keeper of runs is between the daemon's start and its end: whether runs may start, and who waits to learn
/// that the rows are true, or that nothing runs any more.
struct KeeperPhase {
    /// Whether no run is started yet, because the jobs of the files have not been taken up: one that waits may be of a
    /// job that was removed while no daemon ran.
    private var awaitsJobs: Bool
    /// Whether no run is started any more, because the daemon ends when those under way have.
    private(set) var isDraining = false
    /// Finished once it is recorded which runs of an earlier daemon have ended meanwhile.
    private var news: AsyncStream<Never>.Continuation?
    private var drained: AsyncStream<Never>.Continuation?

    init(awaitsJobs: Bool, news: AsyncStream<Never>.Continuation?) {
        self.awaitsJobs = awaitsJobs
        self.news = news
    }

    /// Whether runs may be started.
    var mayStart: Bool { !awaitsJobs && !isDraining }

    /// Whether somebody waits for the rows of an earlier daemon's runs to be true.
    var owesNews: Bool { news != nil }

    mutating func begin() { awaitsJobs = false }

    mutating func finishNews() {
        news?.finish()
        news = nil
    }

    /// Starts no more runs.
    ///
    /// - Returns: ends once ``noteUnderWay(_:)`` has seen nothing under way; nil: nothing is.
    mutating func drain(underWay count: Int) -> AsyncStream<Never>? {
        isDraining = true
        guard count > 0 else { return nil }
        let (end, ending) = AsyncStream<Never>.makeStream()
        drained = ending
        return end
    }

    /// So many runs are under way now.
    func noteUnderWay(_ count: Int) {
        if isDraining, count == 0 { drained?.finish() }
    }
}
