import Host
import Timeline

extension Warden {
    /// When outcomes that nobody fetched are saved, since boot; nil when there are none.
    var saveDeadline: Duration? {
        guard options.state != nil, let awaySince, ended.values.contains(where: { !$0.isSaved }) else {
            return nil
        }
        return max(awaySince + .seconds(2), saveNotBefore)
    }

    /// Does everything whose time has come.
    func keepTimes(_ now: Duration) {
        for run in runs.values where run.deadline.map({ $0 <= now }) ?? false { keepTime(of: run, now) }
        if !endings.isEmpty { keepEndings(now) }
        if let saveDeadline, saveDeadline <= now { saveOutcomes() }
        let isIdle = runs.isEmpty && daemon == nil && attachments.isEmpty && !passesOutputOn
        idleSince = isIdle ? idleSince ?? now : nil
    }

    private func keepTime(of run: Run, _ now: Duration) {
        if run.exit == nil || run.ladder.isStopping {
            switch run.ladder.advance(to: now) {
            case .terminate: run.tree.terminate()
            case .kill: run.tree.kill()
            case .giveUp, nil: break
            }
        }
        settle(run, now)
    }

    /// Writes outcomes that nobody has acknowledged to the disk, to survive a restart of the machine.
    func saveOutcomes() {
        guard options.state != nil else { return }
        for (key, entry) in ended where !entry.isSaved {
            if store.save(entry.record) {
                ended[key]?.isSaved = true
            } else {
                saveNotBefore = .sinceBoot + .seconds(60)
            }
        }
    }
}
