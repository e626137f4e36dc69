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
    /// The connection of whoever is attached to it.
    var terminal: UInt64?
    /// A person at that terminal asked it to end.
    var wasAskedToEnd = false
    /// Set once the first process has ended.
    var exit: Exit?

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
