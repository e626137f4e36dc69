import Host
import Timeline
import WardenProtocol

extension Warden {
    /// Reads what an earlier warden left: outcomes nobody fetched, and runs it was killed over.
    func takeOver() {
        _ = RetiredWardens(directory: options.directory).adopt(into: store)
        for record in store.all() { take(record) }
        for outcome in store.allSaved() {
            var entry = ended[outcome.key] ?? Ended(record: outcome)
            entry.isSaved = true
            ended[outcome.key] = entry
        }
    }

    /// Takes what another warden wrote of a run.
    func take(_ record: RunRecord) {
        if let outcome = record.ended {
            // It may have saved it before it ended, too.
            ended[record.key] = Ended(record: outcome, isSaved: store.hasSaved(record.key))
        } else {
            takeOver(record)
        }
    }

    /// A run without an outcome is lost; when it still lives, only once that is over.
    private func takeOver(_ record: RunRecord) {
        let key = record.key
        let mark = "BELFRY_RUN_ID=\(key.run)"
        if record.bootID == bootID, let alive = living(record, mark: mark),
            let handle = try? ProcessHandle(pid: alive.pid, startTime: alive.startTime)
        {
            let run = Run(
                key: key, pid: alive.pid, startTime: alive.startTime, startedAt: alive.at,
                startedInstant: alive.instant,
                ladder: StopLadder(startedAt: alive.instant, timeout: record.timeout, grace: record.grace),
                tree: ProcessTree(
                    leader: alive.pid, startTime: alive.startTime, mark: mark, reaper: nil,
                    group: record.group))
            run.orphan = handle
            runs[key] = run
            if (try? watch(handle.raw, .orphan(key))) != nil { return }
            runs[key] = nil
        }
        var left: [ProcessEntry] = []
        if record.bootID == bootID {
            // The first process is gone, and its id may be another's; what it started may not be.
            var tree = ProcessTree(leader: -1, startTime: 0, mark: mark, reaper: nil, group: record.group)
            left = tree.look()
        }
        if let group = record.group { _ = groups.remove(group) }
        var outcome = ExitRecord(
            key: key, cause: .lost, pid: record.started?.pid ?? 0,
            startedAt: record.started?.at ?? record.madeAt,
            endedAt: .now)
        outcome.survivors = left.prefix(ExitRecord.survivorLimit).map { Survivor(pid: $0.pid, name: $0.name) }
        try? store.append(RunRecord.endingFrame(outcome), to: key)
        ended[key] = Ended(record: outcome)
    }

    /// The run's first process if it still runs.
    ///
    /// When the record does not name it, the process that bears the run's id and leads its session.
    private func living(_ record: RunRecord, mark: String) -> RunRecord.Started? {
        if let started = record.started {
            return ProcessTable.isAlive(pid: started.pid, startTime: started.startTime) ? started : nil
        }
        let leader = ((try? ProcessTable.all()) ?? []).first {
            $0.pid == $0.session && !$0.isZombie && ProcessTable.process($0.pid, wasStartedWith: mark)
        }
        return leader.map {
            RunRecord.Started(pid: $0.pid, startTime: $0.startTime, at: record.madeAt, instant: .sinceBoot)
        }
    }
}
