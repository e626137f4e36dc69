import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// One attempt that is alive, and everything the warden holds for it.
final class Run {
    /// How the first process ended.
    struct Exit {
        var code: Int?
        var signal: Int?
        var at: Moment
        /// Since boot.
        var instant: Duration
        var cpu: Duration?
        var maxResidentKiB: Int?
        /// Whether a warden saw it end, so that the moment is true.
        var wasSeen = true
    }

    let key: RunKey
    let pid: Int32
    let startTime: UInt64
    let startedAt: Moment
    /// Since boot.
    let startedInstant: Duration
    var ladder: StopLadder
    var tree: ProcessTree

    /// What was started here.
    ///
    /// Nil for a run whose warden was killed: it can be watched and ended, but
    /// its pipes are closed and its exit code will never be known.
    var pipes: RunPipes?
    /// Signals when a process of a run of another warden has ended: its first one, then any that is left.
    var orphan: ProcessHandle?
    /// Its record; what happens is written behind what is there.
    ///
    /// Nil together with ``pipes``.
    var record: Descriptor?
    var reports = KeptReports()
    var pace = DatagramPace()
    /// The connection of the terminal that is attached to it.
    var terminal: UInt64?
    /// A person at that terminal asked it to end.
    var wasAskedToEnd = false
    /// Set once the first process has ended.
    var exit: Exit?
    /// Its control group, once nothing was found in it after its first process had ended.
    var vacated: ControlGroup?

    init(
        key: RunKey, pid: Int32, startTime: UInt64, startedAt: Moment, startedInstant: Duration,
        ladder: StopLadder, tree: ProcessTree
    ) {
        self.key = key
        self.pid = pid
        self.startTime = startTime
        self.startedAt = startedAt
        self.startedInstant = startedInstant
        self.ladder = ladder
        self.tree = tree
    }

    /// How long after the end of the first process its output is waited for, when something still
    /// holds the pipe open.
    static let drainTime = Duration.milliseconds(200)

    /// When there is something to do for this run even if nothing happens.
    ///
    /// Since boot.
    var deadline: Duration? {
        guard let exit else { return ladder.deadline }
        return ladder.isStopping ? ladder.deadline : exit.instant + Self.drainTime
    }

    var startedMessage: WardenMessage {
        .started(key, pid: pid, startTime: startTime, at: startedAt)
    }

    /// The outcome, once the first process has ended.
    func makeRecord(_ exit: Exit, survivors: [Survivor]) -> ExitRecord {
        var record = ExitRecord(
            key: key, cause: .exited, exitCode: exit.code, signal: exit.signal, pid: pid,
            startedAt: startedAt,
            endedAt: exit.at, elapsed: exit.wasSeen ? exit.instant - startedInstant : nil, cpu: exit.cpu,
            maxResidentKiB: exit.maxResidentKiB, outputBytes: pipes?.output.count ?? 0, survivors: survivors)
        record.outputTail = pipes?.recentOutput.newest ?? []
        record.errorTail = pipes?.recentErrors.newest ?? []
        switch ladder.cause {
        case .timeout: record.cause = .timeout
        case .canceled(let reason):
            record.cause = .canceled
            record.cancelReason = reason
        case .lost: record.cause = .lost
        case nil where wasAskedToEnd && exit.code != 0:
            record.cause = .canceled
            record.cancelReason = "signal"
        case nil: break
        }
        return record
    }
}

/// The attempts that are alive, by key and by the first process.
final class RunTable {
    private var runs: [RunKey: Run] = [:]
    private var keys: [Int32: RunKey] = [:]
    /// Runs of this round whose pipes nobody waits for yet: those that are short have ended when it has.
    private var fresh: [Run] = []

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }
    var values: some Collection<Run> { runs.values }

    subscript(key: RunKey) -> Run? { runs[key] }

    /// Adds a run of an earlier warden: its processes are not children of this one.
    func adopt(_ run: Run) { runs[run.key] = run }

    /// Adds a run that was started here.
    func add(_ run: Run) {
        runs[run.key] = run
        keys[run.pid] = run.key
    }

    func remove(_ run: Run) {
        runs[run.key] = nil
        keys[run.pid] = nil
    }

    func remove(_ key: RunKey) { runs[key] = nil }

    /// The run whose first process this is, which has ended and is no longer looked for; nil: it is none.
    func removeLeader(_ pid: Int32) -> Run? { keys.removeValue(forKey: pid).flatMap { runs[$0] } }

    /// Whether the process is the first one of a run.
    func isLeader(_ pid: Int32) -> Bool { keys[pid] != nil }

    /// Its pipes are watched at the end of the round, if it is still alive then.
    func addFresh(_ run: Run) { fresh.append(run) }

    /// Whether a run of this round is not watched yet.
    var hasFresh: Bool { !fresh.isEmpty }

    /// The runs of this round that are still alive.
    func removeFresh() -> [Run] {
        defer { fresh = [] }
        return fresh.filter { runs[$0.key] === $0 }
    }
}

/// Makes a run of an order: checks that it may start, makes its record and its control group, and starts it.
final class RunLauncher {
    /// How many descriptors this process may have open.
    ///
    /// Not raised: jobs inherit it, and some programs break on a large one.
    private let descriptorLimit: Int
    private let bootID: String
    private let runs: RunTable
    private let outcomes: Outcomes
    let groups: ControlGroups
    let predecessors: Predecessors
    private var starter: RunStarter

    init(
        _ starter: RunStarter, bootID: String, runs: RunTable, outcomes: Outcomes, groups: ControlGroups
    ) throws(HostError) {
        descriptorLimit = try DescriptorLimit.current()
        self.bootID = bootID
        self.runs = runs
        self.outcomes = outcomes
        self.groups = groups
        predecessors = Predecessors(groups: groups)
        self.starter = starter
    }

    /// The most descriptors that a run holds without a terminal.
    private static let descriptorsOfRun = 8
    /// How many more it holds with a terminal attached.
    private static let descriptorsOfTerminal = 3
    /// Descriptors that no run gets: they are for the daemon's connections and for records.
    private static let reservedDescriptors = 64

    /// Refuses a run for which there are not enough descriptors; `others` are those held for anything but runs.
    func checkRoom(besides others: Int) throws(StartRefused) {
        let terminals = runs.values.count { $0.terminal != nil }
        let needed =
            Self.descriptorsOfRun * (runs.count + 1) + Self.descriptorsOfTerminal * terminals + others
            + groups.heldDescriptors + Self.reservedDescriptors
        guard needed <= descriptorLimit else {
            throw StartRefused(
                .exhausted, "\(runs.count) runs use up the warden's \(descriptorLimit) descriptors")
        }
    }

    /// Starts the order's process on the streams that were offered for it.
    func start(_ order: ProcessOrder, _ attachment: OfferedStreams?) throws(StartRefused) -> Run {
        try predecessors.check(order)
        if let used = groups.takeUsed() {
            do throws(StartRefused) {
                return try start(order, attachment, in: used)
            } catch {
                // The run before may have left it in a state in which nothing can begin there.
                guard error.isOfControlGroup else { throw error }
            }
        }
        guard let new = groups.takeNew() else { return try start(order, attachment, in: nil) }
        do throws(StartRefused) {
            return try start(order, attachment, in: new)
        } catch {
            guard error.isOfControlGroup else { throw error }
            // The kernel does not want that: without one, and so from then on.
            groups.giveUp()
            return try start(order, attachment, in: nil)
        }
    }

    /// Makes its record, and starts it in a control group; neither is left of one that is refused.
    private func start(
        _ order: ProcessOrder, _ attachment: OfferedStreams?, in place: ControlGroups.Place?
    ) throws(StartRefused) -> Run {
        let key = order.key
        let record = try makeRecord(
            AttemptFile(
                key: key, bootID: bootID, madeAt: .now, timeout: order.timeout, grace: order.grace,
                group: place?.group))
        do throws(StartRefused) {
            let started = try starter.start(order, attachment, in: place?.folder)
            return add(started, of: order, place?.group, record)
        } catch {
            outcomes.store.remove(key, isSaved: false)
            if let group = place?.group { groups.remove(group, of: key.run) }
            throw error
        }
    }

    private func add(
        _ started: RunStarter.Started, of order: ProcessOrder, _ group: ControlGroup?, _ record: Descriptor
    ) -> Run {
        let now = Duration.sinceBoot
        let run = Run(
            key: order.key, pid: started.pid, startTime: started.startTime, startedAt: .now,
            startedInstant: now,
            ladder: StopLadder(startedAt: now, timeout: order.timeout, grace: order.grace),
            tree: ProcessTree(
                leader: started.pid, startTime: started.startTime, mark: ProcessTree.mark(of: order.key.run),
                reaper: getpid(), group: group))
        run.pipes = started.pipes
        run.record = record
        runs.add(run)
        // The record may fail from here on; the process runs, and the memory knows it.
        let begun = AttemptFile.Started(
            pid: run.pid, startTime: run.startTime, at: run.startedAt, instant: now)
        try? record.writeAll(begun.frame[...])
        return run
    }

    private func makeRecord(_ record: AttemptFile) throws(StartRefused) -> Descriptor {
        do throws(HostError) {
            return try outcomes.store.make(record)
        } catch {
            throw StartRefused(error)
        }
    }
}
