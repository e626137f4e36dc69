public import Timeline

extension LiveTracker {
    /// The most characters of a phase that are kept.
    public static let phaseLimit = 64
    /// The most characters of a message that are kept.
    public static let messageLimit = 200
    /// A finish time is not worked out again before this, however fast reports come.
    static let estimateEvery = Duration.milliseconds(250)

    /// Takes what the job said, or what was found in its output.
    ///
    /// Counts only while the attempt is under way. A source below one that reported progress before supplies
    /// message text at most, and none once a better source supplied some.
    public mutating func receive(
        _ report: ProgressReport, from source: ReportSource, at now: Moment
    ) -> LiveChange {
        guard live.state.isUnderWay else { return .none }
        let before = live
        note(now)
        if live.state == .stalled { enter(.running, at: now) }
        applyMessage(report, from: source)
        applyPart(report)
        if source >= progressSource ?? source {
            applyPhase(report, at: now)
            applyWord(report, at: now)
            applyProgress(report, from: source, at: now)
            applyFinish(report, at: now)
        }
        if report.isWithdrawal, progressSource == source { withdraw() }
        live.staleAt = staleAt(from: now)
        return change(since: before, at: now)
    }

    private mutating func note(_ now: Moment) {
        let wasAtWork = live.state == .running || live.state == .stalled
        if let heardAt, now > heardAt, wasAtWork { ownGap = max(ownGap, now - heardAt) }
        heardAt = now
        words += 1
    }

    private mutating func applyMessage(_ report: ProgressReport, from source: ReportSource) {
        guard let text = report.message, source >= messageSource ?? source else { return }
        let clean = CleanText.line(text, limit: Self.messageLimit)
        live.message = clean.isEmpty ? nil : clean
        messageSource = source
    }

    /// A new name is a new phase, which starts from nothing.
    private mutating func applyPhase(_ report: ProgressReport, at now: Moment) {
        guard let text = report.phase else { return }
        let clean = CleanText.line(text, limit: Self.phaseLimit)
        guard !clean.isEmpty, clean != namedPhase else { return }
        namedPhase = clean
        startStretch(1)
        if let workedFrom { phases.enter(clean, at: max(0, (now - workedFrom) / .seconds(1))) }
    }

    private mutating func applyProgress(
        _ report: ProgressReport, from source: ReportSource, at now: Moment
    ) {
        guard let reported = report.progress else { return }
        if reported < live.progress ?? 0, turnsToOtherWork(report, from: source) { startStretch(stretch + 1) }
        total = report.total ?? total
        progressSource = source
        if reported >= live.progress ?? 0 { applyAmount(report, at: now) }
        live.progress = max(reported, live.progress ?? 0)
        if let highest, reported < highest, live.progress == reported { self.highest = nil }
        if highest != nil, let progress = live.progress {
            highest = progress
            if let workedFrom {
                trace.note(progress, at: Double((now - workedFrom).microseconds) / 1_000_000)
            }
        }
    }

    /// Keeps the amounts of a report; a job that reports only a fraction has none.
    private mutating func applyAmount(_ report: ProgressReport, at now: Moment) {
        guard report.fraction == nil, let done = report.done, let total = report.total else {
            live.amount = nil
            return
        }
        let unit = report.unit.map { CleanText.line($0, limit: WorkAmount.unitLimit) }
        let rate = pace.note(done, at: now)
        live.amount = WorkAmount(
            done: done, total: total, unit: unit?.isEmpty == true ? nil : unit,
            rate: live.state == .running ? rate : nil)
    }

    /// Whether a lower progress is that of other work.
    ///
    /// It is when the whole amount fell, or when a better source took over from one that only guessed. Said as a new phase, never as a jump back.
    private func turnsToOtherWork(_ report: ProgressReport, from source: ReportSource) -> Bool {
        if let last = total, let next = report.total, next < last { return true }
        if let progressSource { return source > progressSource }
        return false
    }

    private mutating func startStretch(_ number: Int) {
        stretch = number
        live.progress = nil
        live.amount = nil
        pace = WorkPace()
        total = nil
        live.phase = number == 1 ? namedPhase : [namedPhase ?? "part", String(number)].joined(separator: " ")
    }

    private mutating func applyWord(_ report: ProgressReport, at now: Moment) {
        switch report.word {
        // What it said before it was stopped may arrive afterwards.
        case .blocked(let kind) where live.state == .paused: heldKind = .blocked(kind)
        case .working where live.state == .paused: heldKind = .none
        case .blocked(let kind) where live.state == .blocked || live.state.canBecome(.blocked):
            enter(.blocked, blocked: kind, at: now)
        case .working where live.state == .blocked: enter(.running, at: now)
        case .blocked, .working, nil: break
        }
    }

    private mutating func applyFinish(_ report: ProgressReport, at now: Moment) {
        guard live.state == .running else { return }
        var next: FinishTime?
        if let seconds = report.etaSeconds, seconds.isFinite, seconds >= 0 {
            // A job that says "in a thousand years" is taken for a year; sums stay in range.
            next = FinishTime(at: now + .milliseconds(Int64(min(seconds, 31_536_000) * 1000)))
            reportsEta = true
        } else if reportsEta || report.progress == nil && report.phase == nil && live.finish != nil {
            return
        } else if let workedFrom {
            if live.finish != nil, let estimatedAt, now >= estimatedAt, now - estimatedAt < Self.estimateEvery
            {
                return
            }
            estimatedAt = now
            next = finish(from: workedFrom, at: now)
        }
        if let shown = live.finish, let next, !moves(shown, to: next, at: now) { return }
        live.finish = next
    }

    /// A finish time that trembles can't be trusted: it moves by more than 5 s and a tenth of what is left,
    /// or not at all.
    private func moves(_ shown: FinishTime, to next: FinishTime, at now: Moment) -> Bool {
        if (shown.low == nil) != (next.low == nil) { return true }
        let shift = abs((next.at - shown.at).microseconds)
        return shift > max(5_000_000, (next.at - now).microseconds / 10)
    }

    /// Withdraws reported progress; hides the bar and the finish time.
    private mutating func withdraw() {
        live.progress = nil
        live.amount = nil
        live.finish = nil
        live.phase = nil
        namedPhase = nil
        highest = nil
        progressSource = nil
    }

    private mutating func change(since before: LiveState, at now: Moment) -> LiveChange {
        if live.state != before.state || live.blockedKind != before.blockedKind {
            return changed(.stateChange, at: now)
        }
        let saysMore =
            live.progress != before.progress || live.phase != before.phase || live.message != before.message
            || live.finish != before.finish || live.tasks != before.tasks
        // A job that repeats itself a thousand times a second is still alive, and that is worth one tick.
        let isFresher = now - before.updatedAt >= .seconds(1) || now < before.updatedAt
        guard saysMore || isFresher else {
            live.staleAt = before.staleAt
            return .none
        }
        return changed(.tick, at: now)
    }
}

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
