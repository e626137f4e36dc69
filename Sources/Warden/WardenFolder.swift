import Glibc
import Host
import Performing

/// The folder of a warden: its lock, where its socket and its records are, and how another one takes its place.
final class WardenFolder {
    private let directory: String
    private let state: String?
    /// Of the shared folder; of its own one when it is retired.
    private var lock: StateLock
    /// Another warden is in charge: this one starts nothing any more.
    private(set) var isRetired = false

    /// Makes the folder when it is missing, and holds its lock.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` when another warden has it.
    init(_ directory: String, state: String?) throws(HostError) {
        self.directory = directory
        self.state = state
        try PrivateFolder.make(directory)
        lock = try StateLock(folder: directory)
    }

    /// Where daemons connect.
    var socket: String { directory + "/warden.sock" }

    /// The wardens that made way and still finish their runs.
    var retired: RetiredWardens { RetiredWardens(directory: directory) }

    /// The store of the records here and in the state.
    func makeStore() throws(HostError) -> RecordStore { try RecordStore(directory: directory, state: state) }

    /// Leaves the folder to another warden, with the records of `outcomes`; true: this one is retired.
    ///
    /// Its records, its socket and its lock move to a folder of its own; if it dies in between, everything is
    /// where the next warden looks for it. The lock of the shared folder moves last. When one of them can't be moved
    /// it is still in charge.
    func retire(_ outcomes: Outcomes) -> Bool {
        guard !isRetired else { return true }
        do throws(HostError) {
            try PrivateFolder.make(retired.own)
            let held = try StateLock(folder: retired.own)
            let own = try RecordStore(directory: retired.own, state: state)
            for key in outcomes.store.keys { _ = outcomes.store.move(key, to: own) }
            guard unsafe rename(socket, retired.own + "/warden.sock") == 0 else {
                throw .last("rename", retired.own)
            }
            outcomes.store = own
            isRetired = true
            lock = held
            return true
        } catch {
            moveBack(to: outcomes.store)
            return false
        }
    }

    private func moveBack(to store: RecordStore) {
        for key in (try? RecordStore(directory: retired.own, state: nil))?.keys ?? [] {
            _ = (try? RecordStore(directory: retired.own, state: nil))?.move(key, to: store)
        }
        retired.remove(String(getpid()))
    }

    /// Removes what must not stay behind when this warden ends.
    func leave() {
        if isRetired {
            retired.remove(String(getpid()))
        } else {
            unsafe unlink(socket)
            remove()
        }
    }

    /// Leaves no folder behind when there is nothing in it that another warden would need.
    ///
    /// The lock is held to the end; one who waits for it sees that its file was removed, and makes another.
    private func remove() {
        for folder in ["/old", "/runs", "/n"] {
            let isRemoved = unsafe rmdir(directory + folder) == 0 || errno == ENOENT
            guard isRemoved else { return }
        }
        unsafe unlink(directory + "/lock")
        unsafe rmdir(directory)
    }
}

/// Wardens that start nothing any more and only finish their runs, each with a folder of its own in `old`.
///
/// Such a folder is laid out as the warden's own: `lock`, `warden.sock`, `runs`.
struct RetiredWardens {
    private let folder: String

    /// Those below a warden's folder.
    init(directory: String) {
        folder = directory + "/old"
    }

    /// Where this process goes when it retires.
    var own: String { "\(folder)/\(getpid())" }

    /// The ids of those that still work, as the folders are named.
    var working: Set<String> {
        Set(names.filter { (try? StateLock(folder: folder + "/" + $0)) == nil })
    }

    /// Moves the records of those that have ended to `store`, and removes what else is left of them.
    ///
    /// - Returns: the attempts of which there are now records in `store`.
    func adopt(into store: RecordStore) -> [RunKey] {
        var adopted: [RunKey] = []
        for name in names {
            let folder = folder + "/" + name
            // Held until all is moved, so that no other warden does the same.
            guard let lock = try? StateLock(folder: folder),
                let theirs = try? RecordStore(directory: folder, state: nil)
            else { continue }
            for key in theirs.keys where theirs.move(key, to: store) { adopted.append(key) }
            remove(name)
            _ = consume lock
        }
        return adopted
    }

    /// Removes the folder of one that has ended, unless records are left in it.
    func remove(_ name: String) {
        let folder = folder + "/" + name
        unsafe unlink(folder + "/warden.sock")
        guard unsafe rmdir(folder + "/runs") == 0 else { return }
        unsafe unlink(folder + "/lock")
        unsafe rmdir(folder)
    }

    private var names: [String] {
        ((try? Folder.names(in: folder)) ?? []).filter { Int32($0) != nil }
    }
}

/// Takes over what an earlier warden left: outcomes nobody fetched, and runs it was killed over.
final class Inheritance {
    private let bootID: String
    private let runs: RunTable
    private let outcomes: Outcomes
    private let groups: ControlGroups
    private let watches: Watches
    private let reaper: RunReaper

    init(
        bootID: String, runs: RunTable, outcomes: Outcomes, groups: ControlGroups, watches: Watches,
        reaper: RunReaper
    ) {
        self.bootID = bootID
        self.runs = runs
        self.outcomes = outcomes
        self.groups = groups
        self.watches = watches
        self.reaper = reaper
    }

    /// Takes over everything an earlier warden left in the folder and in the state.
    func takeOver(from retired: RetiredWardens) {
        _ = retired.adopt(into: outcomes.store)
        for record in outcomes.store.all() { adopt(record) }
        outcomes.readSaved()
    }

    /// Takes over the runs of retired wardens that have ended.
    func adopt(from retired: RetiredWardens) {
        for key in retired.adopt(into: outcomes.store) {
            guard runs[key] == nil, outcomes[key] == nil, let record = outcomes.store.record(of: key) else {
                continue
            }
            adopt(record)
        }
    }

    /// Takes over a run by the record that another warden wrote.
    private func adopt(_ record: AttemptFile) {
        if let outcome = record.ended {
            // It may have saved it before it ended, too.
            outcomes.add(Outcomes.Ended(record: outcome, isSaved: outcomes.store.hasSaved(record.key)))
        } else {
            takeOver(record)
        }
    }

    /// A run without an outcome is lost; one that still lives, once it has ended.
    ///
    /// Where only what it left behind still lives, that is ended first.
    private func takeOver(_ record: AttemptFile) {
        let mark = ProcessTree.mark(of: record.key.run)
        guard record.bootID == bootID else { return lose(record) }
        if let alive = living(record, mark: mark),
            let handle = try? ProcessHandle(pid: alive.pid, startTime: alive.startTime)
        {
            let run = adopt(
                record, alive,
                ProcessTree(
                    leader: alive.pid, startTime: alive.startTime, mark: mark, reaper: nil,
                    group: record.group))
            run.orphan = handle
            if (try? watches.add(handle.raw, .orphan(record.key))) != nil { return }
            run.orphan = nil
        }
        let (tree, left) = leftovers(of: record, mark: mark)
        guard let first = left.first else { return lose(record) }
        let started =
            record.started
            ?? AttemptFile.Started(
                pid: first.pid, startTime: first.startTime, at: record.madeAt, instant: .sinceBoot)
        let run = adopt(record, started, tree)
        let now = Duration.sinceBoot
        run.exit = Run.Exit(at: .now, instant: now, wasSeen: false)
        reaper.lose(run, now)
    }

    /// The run's first process if it still runs.
    ///
    /// When the record does not name it, the process that bears the run's id and leads its session.
    private func living(_ record: AttemptFile, mark: String) -> AttemptFile.Started? {
        if let started = record.started {
            return ProcessTable.isAlive(pid: started.pid, startTime: started.startTime) ? started : nil
        }
        let leader = ((try? ProcessTable.all()) ?? []).first {
            $0.pid == $0.session && !$0.isZombie && ProcessTable.process($0.pid, wasStartedWith: mark)
        }
        return leader.map {
            AttemptFile.Started(
                pid: $0.pid, startTime: $0.startTime, at: record.madeAt, instant: .sinceBoot)
        }
    }

    /// What still runs of a run whose first process has ended: that one's number may be another's by now.
    private func leftovers(of record: AttemptFile, mark: String) -> (ProcessTree, [ProcessEntry]) {
        var tree = ProcessTree(leader: -1, startTime: 0, mark: mark, reaper: nil, group: record.group)
        var left = tree.liveMembers()
        if let started = record.started,
            left.contains(where: { $0.session == started.pid || $0.group == started.pid })
        {
            // One of them keeps the number: the session, or the group, is the run's still, with all in it.
            tree = ProcessTree(
                leader: started.pid, startTime: started.startTime, mark: mark, reaper: nil,
                group: record.group)
            left = tree.liveMembers()
        }
        return (tree, left)
    }

    /// A run of a warden that was killed, from now on one of ours.
    private func adopt(_ record: AttemptFile, _ started: AttemptFile.Started, _ tree: ProcessTree) -> Run {
        let run = Run(
            key: record.key, pid: started.pid, startTime: started.startTime, startedAt: started.at,
            startedInstant: started.instant,
            ladder: StopLadder(
                startedAt: started.instant + record.paused, timeout: record.timeout, grace: record.grace),
            tree: tree)
        if let since = record.pausedAt { _ = run.ladder.pause(at: since) }
        runs.adopt(run)
        return run
    }

    /// Nothing of it runs any more, and nobody knows how it ended.
    private func lose(_ record: AttemptFile) {
        runs.remove(record.key)
        if let group = record.group { groups.remove(group, of: record.key.run) }
        let outcome = ExitRecord(
            key: record.key, cause: .lost, pid: record.started?.pid ?? 0,
            startedAt: record.started?.at ?? record.madeAt, endedAt: .now)
        try? outcomes.store.append(AttemptFile.endingFrame(outcome), to: record.key)
        outcomes.add(Outcomes.Ended(record: outcome))
    }
}
