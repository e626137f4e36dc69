import Host
import Performing
import Timeline
import WardenProtocol

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
    private func adopt(_ record: AttemptRecord) {
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
    private func takeOver(_ record: AttemptRecord) {
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
            ?? AttemptRecord.Started(
                pid: first.pid, startTime: first.startTime, at: record.madeAt, instant: .sinceBoot)
        let run = adopt(record, started, tree)
        let now = Duration.sinceBoot
        run.exit = Run.Exit(at: .now, instant: now, wasSeen: false)
        reaper.lose(run, now)
    }

    /// The run's first process if it still runs.
    ///
    /// When the record does not name it, the process that bears the run's id and leads its session.
    private func living(_ record: AttemptRecord, mark: String) -> AttemptRecord.Started? {
        if let started = record.started {
            return ProcessTable.isAlive(pid: started.pid, startTime: started.startTime) ? started : nil
        }
        let leader = ((try? ProcessTable.all()) ?? []).first {
            $0.pid == $0.session && !$0.isZombie && ProcessTable.process($0.pid, wasStartedWith: mark)
        }
        return leader.map {
            AttemptRecord.Started(
                pid: $0.pid, startTime: $0.startTime, at: record.madeAt, instant: .sinceBoot)
        }
    }

    /// What still runs of a run whose first process has ended: that one's number may be another's by now.
    private func leftovers(of record: AttemptRecord, mark: String) -> (ProcessTree, [ProcessEntry]) {
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
    private func adopt(_ record: AttemptRecord, _ started: AttemptRecord.Started, _ tree: ProcessTree) -> Run
    {
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
    private func lose(_ record: AttemptRecord) {
        runs.remove(record.key)
        if let group = record.group { _ = groups.remove(group) }
        let outcome = ExitRecord(
            key: record.key, cause: .lost, pid: record.started?.pid ?? 0,
            startedAt: record.started?.at ?? record.madeAt, endedAt: .now)
        try? outcomes.store.append(AttemptRecord.endingFrame(outcome), to: record.key)
        outcomes.add(Outcomes.Ended(record: outcome))
    }
}
