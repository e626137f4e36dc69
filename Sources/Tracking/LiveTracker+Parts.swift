// Parts of the work: bounded, since a job may report any number of them.

extension LiveTracker {
    /// Applies what the job reports about a part of its work; of one that is not called as parts are, nothing.
    mutating func applyPart(_ report: ProgressReport) {
        guard let part = report.part, ChildTask.isPath(part.path) else { return }
        var tasks = live.tasks ?? []
        defer { live.tasks = tasks.isEmpty ? nil : tasks }
        if part.word == .clear {
            return tasks.removeAll { $0.path == part.path || $0.path.hasPrefix(part.path + "/") }
        }
        var place = tasks.firstIndex { $0.path == part.path }
        if place == nil {
            if tasks.count >= ChildTask.most {
                // The oldest that has ended makes room; where all are at work, the new one is left out.
                guard let ended = tasks.firstIndex(where: { $0.state == .done || $0.state == .failed }) else {
                    return
                }
                tasks.remove(at: ended)
            }
            tasks.append(ChildTask(path: part.path))
            place = tasks.count - 1
        }
        if let place { tasks[place].apply(part, message: report.message) }
    }

    /// The run has ended, and with it all parts that were at work.
    mutating func endParts() {
        guard let tasks = live.tasks else { return }
        let end: ChildTask.State = live.state == .completed ? .done : .stopped
        live.tasks = tasks.map { task in
            var task = task
            guard task.state == .working || task.state == .blocked else { return task }
            task.state = end
            // Who reported no end of it reported half of it last.
            if end == .done { task.progress = 1 }
            return task
        }
    }
}

extension ChildTask {
    fileprivate mutating func apply(_ part: ReportedPart, message: String?) {
        switch part.word {
        case .working: state = .working
        case .blocked: state = .blocked
        case .done: (state, progress) = (.done, 1)
        case .failed: state = .failed
        case .clear, nil: break
        }
        if let next = part.progress, next.isFinite { progress = min(1, max(next, progress ?? 0)) }
        if part.word == nil, state == .working, progress == 1 { state = .done }
        let clean = CleanText.line(message ?? "", limit: Self.longestMessage)
        if !clean.isEmpty { self.message = clean }
    }
}
