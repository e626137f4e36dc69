import CLinux
import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// Collects processes that have ended, ends what they left behind, and records how their runs ended.
final class RunReaper {
    private let runs: RunTable
    private let outcomes: Outcomes
    private let groups: ControlGroups
    private let watches: Watches
    private let connections: Connections
    private let streams: RunStreams
    /// Nil where the kernel does not list them.
    private let children = ChildList()
    private var ownSize = OwnSize()

    init(
        runs: RunTable, outcomes: Outcomes, groups: ControlGroups, watches: Watches,
        connections: Connections, streams: RunStreams
    ) {
        self.runs = runs
        self.outcomes = outcomes
        self.groups = groups
        self.watches = watches
        self.connections = connections
        self.streams = streams
    }

    // MARK: What has ended

    /// Collects every child that has ended: first processes, and those handed to the subreaper.
    func collectChildren() {
        var status: Int32 = 0
        var usage = rusage()
        while true {
            let pid = unsafe clinux_wait4(-1, &status, WNOHANG, &usage)
            guard pid > 0 else { break }
            guard let run = runs.removeLeader(pid) else { continue }
            leaderEnded(run, status, usage)
        }
        groups.tidy()
        // A process that kept a stopping run from ending may be among them.
        for run in runs.values where run.exit != nil && run.ladder.isStopping { settle(run, .sinceBoot) }
    }

    private func leaderEnded(_ run: Run, _ status: Int32, _ usage: rusage) {
        var exit = Run.Exit(at: .now, instant: .sinceBoot)
        if clinux_wifexited(status) != 0 { exit.code = Int(clinux_wexitstatus(status)) }
        if clinux_wifsignaled(status) != 0 { exit.signal = Int(clinux_wtermsig(status)) }
        exit.cpu = duration(usage.ru_utime) + duration(usage.ru_stime)
        exit.maxResidentKiB = ownSize.known(usage.ru_maxrss)
        run.exit = exit
        run.pipes?.slave = nil
        // Nobody would resume what it left behind.
        if run.ladder.resume(at: exit.instant) { run.tree.resume() }
        // Everything it wrote itself is in the pipes by now; a full pipe is 64 KiB, often more is set.
        streams.outputs.drain(run, rounds: 64)
        settle(run, exit.instant)
    }

    private func duration(_ time: timeval) -> Duration {
        .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }

    /// A process of a run of a warden that was killed has ended: its first one, or one that this left behind.
    func orphanEnded(_ key: RunKey) {
        guard let run = runs[key], let handle = run.orphan else { return }
        watches.remove(handle.raw)
        run.orphan = nil
        let now = Duration.sinceBoot
        if run.exit == nil { run.exit = Run.Exit(at: .now, instant: now) }
        lose(run, now)
    }

    /// The first process of the run has ended, how is not known: nothing of it may continue beside what is done next
    /// in its place, another attempt or the next slot.
    func lose(_ run: Run, _ now: Duration) {
        run.tree.obey(run.ladder.lose(at: now))
        settle(run, now)
    }

    // MARK: The end of a run

    /// A deadline of the run has passed.
    func advance(_ run: Run, to now: Duration) {
        if run.exit == nil || run.ladder.isStopping {
            run.tree.obey(run.ladder.advance(to: now))
        }
        settle(run, now)
    }

    /// Ends the run when its first process has ended and nothing needs to be waited for any more.
    func settle(_ run: Run, _ now: Duration) {
        guard let exit = run.exit, runs[run.key] === run else { return }
        var survivors: [ProcessEntry] = []
        if run.ladder.isStopping {
            // One that was forked while the others were asked is asked now, not only killed later.
            let isAsking = if case .asked = run.ladder.rung { true } else { false }
            survivors = isAsking ? run.tree.terminate() : run.tree.liveMembers()
            if !survivors.isEmpty, run.ladder.rung != .given { return watch(anyOf: survivors, of: run) }
            streams.outputs.drain(run, rounds: 64)
        } else {
            // A process may still hold the pipe: its last words are waited for, briefly.
            let isClosed = JobStream.allCases.allSatisfy { run.pipes?[pipe: $0] == nil }
            let isDrained = isClosed || now - exit.instant >= Run.drainTime
            guard isDrained else { return }
            survivors = mayHaveSurvivors(run) ? run.tree.liveMembers() : []
        }
        let named = survivors.prefix(ExitRecord.survivorLimit).map { Survivor(pid: $0.pid, name: $0.name) }
        finish(run, run.makeRecord(exit, survivors: named))
    }

    /// Waits for one of them: they are nobody's children here, and no signal reports their end.
    private func watch(anyOf left: [ProcessEntry], of run: Run) {
        guard run.pipes == nil, run.orphan == nil else { return }
        for process in left {
            guard let handle = try? ProcessHandle(pid: process.pid, startTime: process.startTime),
                (try? watches.add(handle.raw, .orphan(run.key))) != nil
            else { continue }
            run.orphan = handle
            return
        }
    }

    /// Cheaper than reading the whole process table after every run.
    ///
    /// A process that left the run's group has a parent in it, or was handed to the subreaper.
    private func mayHaveSurvivors(_ run: Run) -> Bool {
        if run.pipes == nil { return true }
        if let group = run.tree.group {
            guard groups.isVacant(group) else { return true }
            (run.tree.group, run.vacated) = (nil, group)
        } else if kill(-run.pid, 0) == 0 {
            return true
        }
        guard let children = children?.read() else { return true }
        return children.contains { !runs.isLeader($0) }
    }

    private func finish(_ run: Run, _ record: ExitRecord) {
        if run.pipes != nil { streams.outputs.readLastReports(of: run) }
        runs.remove(run)
        if let handle = run.orphan { watches.remove(handle.raw) }
        if let group = run.tree.group { groups.remove(group, of: run.key.run) }
        if let pipes = run.pipes { streams.release(pipes, of: run) }
        // A record that cannot be written is still reported; only a restart of the warden would miss it.
        let isOnRecord = note(record, of: run)
        if let group = run.vacated {
            // What begins in a group is a run's for as long as its record says that it is at work.
            if isOnRecord { groups.giveBack(group) } else { groups.remove(group, of: run.key.run) }
        }
        var entry = Outcomes.Ended(record: record, reports: run.reports)
        connections.send(&entry)
        outcomes.add(entry)
        if let terminal = run.terminal { connections[terminal]?.send(WardenMessage.ended(record).frame) }
    }

    /// Writes the end into the run's record; false when that can't be done.
    private func note(_ record: ExitRecord, of run: Run) -> Bool {
        let frame = AttemptFile.endingFrame(record)
        if let file = run.record { return (try? file.writeAll(frame[...])) != nil }
        return (try? outcomes.store.append(frame, to: run.key)) != nil
    }
}

/// How large this process has been, and so what the kernel's figure of a child's largest size is worth.
///
/// A child shares our memory until it executes its program, and the kernel continues to count that: what it reports of a
/// child is the larger of our largest size by then and the child's own. A figure above ours is the child's; of one that
/// is not, nothing is known but that the child stayed below.
/// - Source: Linux, fs/exec.c, `exec_mmap`.
struct OwnSize {
    /// The kernel counts pages by processor and adds up now and then: that much two of its figures may differ.
    static let slackKiB = 1024

    private let read: () -> Int?
    private var largestKiB = 0

    /// `read` returns how large this process has been so far; nil: unknown.
    init(read: @escaping () -> Int? = { Machine.largestSizeKiB }) {
        self.read = read
    }

    /// The largest size of a child that was collected, by the kernel's figure; nil when that may be ours.
    mutating func known(_ maxResidentKiB: Int) -> Int? {
        guard isAbove(maxResidentKiB) else { return nil }
        // We may have grown since we looked; most children are small, and cost no look.
        largestKiB = read() ?? (.max - Self.slackKiB)
        return isAbove(maxResidentKiB) ? maxResidentKiB : nil
    }

    private func isAbove(_ size: Int) -> Bool { size > largestKiB + Self.slackKiB }
}

/// How attempts ended that nobody has acknowledged: in memory, in the record files of the runtime folder, and in the state
/// once no daemon has fetched them for a while.
final class Outcomes {
    /// An attempt that ended.
    struct Ended {
        var record: ExitRecord
        var reports = KeptReports()
        /// Whether the state has it, so that it survives a restart of the machine.
        var isSaved = false
    }

    /// The record files.
    var store: RecordStore
    /// Whether there is a state to save in.
    private let hasState: Bool
    private var ended: [RunKey: Ended] = [:]
    /// Not before then, since boot, is the state folder tried again after it refused an outcome.
    private var saveNotBefore = Duration.zero

    init(store: RecordStore, hasState: Bool) {
        self.store = store
        self.hasState = hasState
    }

    var isEmpty: Bool { ended.isEmpty }

    subscript(key: RunKey) -> Ended? { ended[key] }

    /// All of them, in the order in which they ended.
    var inOrder: [Ended] { ended.values.sorted { $0.record.endedAt < $1.record.endedAt } }

    /// Sends the daemon how this attempt ended; false when nothing is known of that.
    @discardableResult func send(_ key: RunKey, to connections: Connections) -> Bool {
        guard var entry = ended[key] else { return false }
        connections.send(&entry)
        ended[key] = entry
        return true
    }

    /// Another daemon connected: it was sent nothing of what they reported.
    func forgetConnection() {
        for key in ended.keys { ended[key]?.reports.forgetConnection() }
    }

    func add(_ entry: Ended) { ended[entry.record.key] = entry }

    /// Adds what an earlier warden saved in the state.
    func readSaved() {
        for outcome in store.allSaved() {
            var entry = ended[outcome.key] ?? Ended(record: outcome)
            entry.isSaved = true
            ended[outcome.key] = entry
        }
    }

    /// The daemon has it in its ledger: forgets the attempt.
    func acknowledge(_ key: RunKey) {
        guard let entry = ended.removeValue(forKey: key) else { return }
        store.remove(key, isSaved: entry.isSaved)
    }

    /// When to save what no daemon fetched since `awaySince`, since boot; nil: nothing is to be saved.
    func saveDeadline(awaySince: Duration?) -> Duration? {
        guard hasState, let awaySince, ended.values.contains(where: { !$0.isSaved }) else { return nil }
        return max(awaySince + .seconds(2), saveNotBefore)
    }

    /// Writes outcomes that nobody has acknowledged to the disk.
    func save() {
        guard hasState else { return }
        for (key, entry) in ended where !entry.isSaved {
            if store.save(entry.record) {
                ended[key]?.isSaved = true
            } else {
                saveNotBefore = .sinceBoot + .seconds(60)
            }
        }
    }
}

/// What a run reported and no daemon has acknowledged: the newest 64 reports, at most 64 KiB.
///
/// Reports are levels: the last ones show where the run is, so the oldest are dropped first. What was sent is kept: a
/// daemon that is killed had read it and perhaps not saved it.
struct KeptReports {
    private static let most = 64
    private static let mostBytes = 64 << 10

    /// The frames of the reports up to ``last``, the newest at the end.
    private var frames: [[UInt8]] = []
    private var bytes = 0
    /// The number of the newest report.
    private var last = 0
    /// The number of the newest report that this daemon was sent.
    private var sent = 0

    /// Whether there are reports that this daemon was not sent.
    var hasUnsent: Bool { !frames.isEmpty && sent < last }

    /// Adds the message that `make` returns for the number of the report.
    mutating func add(_ make: (Int) -> WardenMessage) {
        last += 1
        let frame = make(last).frame
        frames.append(frame)
        bytes += frame.count
        while frames.count > Self.most || bytes > Self.mostBytes { bytes -= frames.removeFirst().count }
    }

    /// The frames that this daemon was not sent, and now is.
    mutating func takeUnsent() -> ArraySlice<[UInt8]> {
        defer { sent = last }
        return frames.suffix(last - sent)
    }

    /// Another daemon connected: it was sent nothing.
    mutating func forgetConnection() { sent = 0 }

    /// What was reported up to this number is in the ledger.
    mutating func acknowledge(through number: Int) {
        let kept = frames.suffix(max(0, last - number))
        guard kept.count < frames.count else { return }
        frames = Array(kept)
        bytes = frames.reduce(0) { $0 + $1.count }
    }

    /// The daemon acknowledges no reports: what it was sent is forgotten.
    mutating func forgetSent() { acknowledge(through: sent) }
}

/// How often a run sends datagrams: the daemon reads the socket of one that does so fast.
struct DatagramPace {
    /// So many in a second are what the warden keeps for a daemon that is killed before it saves them.
    private static let most = 64

    private var count = 0
    private var begin = Duration.zero

    /// Notes datagrams at a time since boot; whether there were more than ``most`` in the second that began before it.
    mutating func note(_ datagrams: Int, at now: Duration) -> Bool {
        if now - begin >= .seconds(1) { (count, begin) = (0, now) }
        count += datagrams
        return count > Self.most
    }
}
