import Ledger
import Logging
import Performing
import Timeline
import Tracking

/// What is known of a run whose work has ended well, as far as its rule asks for it.
struct EnsureEvidence {
    /// When the file was changed or put there last; nil: it can't be found.
    var changed: Moment?
    /// The beginning of what it printed, and the end.
    var output = ""
    /// What its bot replied.
    var reply = ""
}

/// Whether a run did what its job asks for; pure.
struct EnsureDecider {
    let rule: EnsureRule
    /// The run's slot, or its start where it has none.
    let since: Moment

    /// A file system counts in ticks of the kernel: what was written at once may look older than the start.
    static let tick = Duration.milliseconds(20)

    /// The first thing that is missing, in a sentence; nil: nothing that shows without a program.
    func missing(_ evidence: EnsureEvidence) -> String? {
        if let file = rule.file {
            guard let changed = evidence.changed else { return "\(file) does not exist" }
            if changed < since - Self.tick { return "\(file) was not written: it is older than the run" }
        }
        return missing(rule.output, in: evidence.output, of: "output")
            ?? missing(rule.reply, in: evidence.reply, of: "reply")
    }

    private func missing(_ written: String?, in text: String, of name: String) -> String? {
        // One that can't be read was refused when it was written.
        guard let written, let wanted = try? TextRule(written), !wanted.holds(in: text) else { return nil }
        return "the \(name) does not contain \(written)"
    }

    /// What the end of the rule's program says; nil: it succeeded.
    func missing(_ end: AttemptEnd) -> String? {
        let name = "the check \(CleanText.line((rule.command ?? []).joined(separator: " "), limit: 80))"
        switch end {
        case .vanished: return "\(name) was lost"
        case .refused(_, let text): return "\(name) could not be started: \(text)"
        case .ended(let record):
            let last = LastLines(record.outputTail).text(most: 1)
            return record.fault(lastLine: last, within: rule.timeout ?? EnsureRule.standardTimeout)
                .map { "\(name) \($0)" }
        }
    }
}

extension ExitRecord {
    /// What is wrong with how the program before or after an attempt ended, as what follows its name; nil: it succeeded.
    func fault(lastLine: String?, within timeout: Duration) -> String? {
        switch cause {
        case .exited where exitCode == 0: return nil
        case .exited:
            let how =
                signal.map { "was ended by \(SignalName.text($0))" }
                ?? "failed with exit code \(exitCode ?? -1)"
            return how + (lastLine.map { ": \($0)" } ?? "")
        case .timeout: return "took longer than \(timeout.text)"
        case .canceled: return "was cancelled"
        case .lost: return "was lost"
        }
    }
}

/// The program of a rule while it checks a run, and the end of the run's work that waits for it.
struct RunCheck {
    let rule: EnsureRule
    /// How the work ended.
    let end: ExitRecord
    /// The beginning of what it printed, until the order has it.
    var input: [UInt8]
    /// What the warden was ordered to do; nil: the end of the work is not committed yet.
    var order: ProcessOrder?
}

extension ExitRecord {
    /// The end of an attempt whose performer ended with the daemon before what was wanted of it was checked.
    init(_ run: RunRecord, resuming work: LiveState.WorkEnd) {
        self.init(
            key: RunKey(run: run.id, attempt: run.attempt), cause: .exited, exitCode: 0,
            startedAt: run.startedAt ?? work.at, endedAt: work.at, outputBytes: work.outputBytes)
        elapsed = work.at - startedAt
    }

    /// The same, failed because `text` is so.
    func failing(_ text: String) -> ExitRecord {
        var record = self
        // What was done wrong once may be done right the next time.
        record.fault = AttemptFault(.ensure, text, mayPass: true)
        return record
    }

    /// The same, canceled.
    func canceled(_ reason: RunReason) -> ExitRecord {
        var record = self
        (record.cause, record.cancelReason, record.exitCode) = (.canceled, reason.rawValue, nil)
        return record
    }
}

// What must be so when the work of a run has ended well.

extension RunKeeper {
    /// How much of an output is looked at, and handed to a check.
    private static let longestText = 1 << 20

    /// The end of the run's work, after what its job wants of it was looked for.
    ///
    /// - Returns: nil: a program is to check it, and the run goes on until that has ended; or the job's rules can't be read
    ///   now.
    func ensured(
        _ run: RunRecord, _ record: ExitRecord, into steps: inout [RunStep]
    ) async -> ExitRecord? {
        // The end of the work is reported again on each connection.
        guard runs.active[run.id]?.check == nil else { return nil }
        let spec: JobSpec?
        do throws(LedgerError) {
            if let known = runs.active[run.id]?.spec {
                spec = known
            } else {
                spec = try await specs.spec(of: run)
            }
        } catch {
            guard case .damaged = error else {
                owe(.ended(record), of: run, because: error)
                return nil
            }
            // Reported where the next attempt is decided.
            return record
        }
        guard let rule = spec?.ensure else { return record }
        let decider = EnsureDecider(rule: rule, since: run.slot ?? run.startedAt ?? record.startedAt)
        var printed: [UInt8] = []
        do {
            if rule.output != nil || rule.command != nil { printed = try beginning(of: run) }
        } catch {
            return record.failing("the output of the run cannot be read: \(error)")
        }
        let evidence = evidence(for: rule, record, printed: printed)
        if let missing = await Self.missing(evidence, by: decider) { return record.failing(missing) }
        guard rule.command != nil, run.endAsked == nil else { return record }
        await hold(run, RunCheck(rule: rule, end: record, input: printed), into: &steps)
        return nil
    }

    /// The work of the run has ended well, and a program is to check it.
    private func hold(_ run: RunRecord, _ check: RunCheck, into steps: inout [RunStep]) async {
        let record = check.end
        runs.active[run.id]?.check = check
        if run.state == .starting { await board.become(.running, reason: nil, of: run.id, at: clock.now) }
        let work = LiveState.WorkEnd(at: record.end, outputBytes: record.outputBytes)
        let live = await board.finishWork(work, of: run.id, at: clock.now)
        let step = self.decider.checking(
            run, live, since: record.startedAt, clockChange: clockChange(since: run.id))
        add(step, to: &steps)
    }

    /// Off the keeper: a large output takes a while.
    @concurrent private static func missing(
        _ evidence: EnsureEvidence, by decider: EnsureDecider
    ) async -> String? { decider.missing(evidence) }

    private func evidence(
        for rule: EnsureRule, _ record: ExitRecord, printed: [UInt8]
    ) -> EnsureEvidence {
        var evidence = EnsureEvidence()
        evidence.changed = rule.file.flatMap { try? specs.files.changeTime($0) }
        if rule.output != nil {
            var bytes = printed
            if record.outputBytes > bytes.count { bytes += [0x0A] + record.outputTail }
            evidence.output = String(decoding: bytes, as: UTF8.self)
        }
        if rule.reply != nil { evidence.reply = record.reply ?? "" }
        return evidence
    }

    private func beginning(of run: RunRecord) throws -> [UInt8] {
        let path = orders.places.output(of: run.id, job: run.job, attempt: run.attempt)
        return try specs.files.readOutput(path, Self.longestText)
    }

    // MARK: The program

    /// Starts the program that checks the run: that its work has ended is in the ledger.
    func startCheck(of run: RunRecord) async {
        guard let entry = runs.active[run.id], let check = entry.check else { return }
        do throws(LedgerError) {
            guard let spec = try await specs.spec(of: run), let command = check.rule.command else { return }
            let secrets = entry.secrets ?? (try? specs.secrets(of: spec))
            let order = orders.check(
                run, spec, command, within: check.rule.timeout ?? EnsureRule.standardTimeout,
                secrets: secrets?.values ?? [:], input: check.input)
            entry.check?.order = order
            entry.check?.input = []
            performers.warden.send(.start(.process(order)))
            cancelAttempt(of: run.id)
        } catch {
            unrecorded.note(error)
            rows.add([.changed(run.id)])
        }
    }

    /// Orders the checks again of a warden that may not know of them; one that does starts none twice.
    func repeatChecks() {
        for run in runs.active.checked {
            guard let order = runs.active[run]?.check?.order else { continue }
            performers.warden.send(.start(.process(order)))
            cancelAttempt(of: run)
        }
    }

    /// What a warden reported of a check.
    func checked(_ key: RunKey, _ end: AttemptEnd, by checkKey: RunKey, into steps: inout [RunStep]) async {
        let entry = runs.active[key.run]
        guard let entry, entry.record.attempt == key.attempt, !entry.isLeaving else {
            // The run has ended: nobody asks for this any more.
            return performers.warden.send(.acknowledge(checkKey))
        }
        // After a restart it is ordered again, and reported again then.
        guard let check = entry.check, check.order != nil else { return }
        performers.warden.send(.acknowledge(checkKey))
        // Should the end not be decided now, it is checked again then.
        entry.check = nil
        let decider = EnsureDecider(rule: check.rule, since: check.end.startedAt)
        var record = check.end
        if let why = entry.record.endAsked {
            record = record.canceled(why)
        } else if let missing = decider.missing(end) {
            record = record.failing(missing)
        }
        await self.end(entry.record, .ended(record), isEnsured: true, into: &steps)
    }
}

extension AttemptOrders {
    /// The order of the program that checks a run: as its job's own programs, with what was printed as its input.
    func check(
        _ run: RunRecord, _ spec: JobSpec, _ command: [String], within limit: Duration,
        secrets: [String: String], input: [UInt8]
    ) -> ProcessOrder {
        var spec = spec
        // Those of a request are headers.
        if spec.request == nil { spec.environment.merge(secrets) { $1 } }
        var order = ProcessOrder(run, spec, .command(command), places)
        order.key = order.key.check
        order.timeout = limit
        order.output = ProcessOrder.Output(
            path: places.checkOutput(of: run.id, job: run.job, attempt: run.attempt), headBytes: 1 << 16,
            tailBytes: 0)
        order.isOutputWatched = false
        (order.pty, order.stdin) = (nil, .text(input))
        return order
    }
}
