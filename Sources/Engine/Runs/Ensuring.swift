import Ledger
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
            let last = LastLines(record.outputTail).text(most: 1).map { ": \($0)" } ?? ""
            switch record.cause {
            case .exited where record.exitCode == 0: return nil
            case .exited:
                let how =
                    record.signal.map { "was ended by \(SignalName.text($0))" }
                    ?? "failed with exit code \(record.exitCode ?? -1)"
                return "\(name) \(how)\(last)"
            case .timeout:
                return "\(name) took longer than \((rule.timeout ?? EnsureRule.standardTimeout).text)"
            case .canceled: return "\(name) was cancelled"
            case .lost: return "\(name) was lost"
            }
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

extension RunKey {
    private static let suffix = ".ensure"

    /// The key of the program that checks the attempt.
    var check: RunKey { RunKey(run: run + Self.suffix, attempt: attempt) }

    /// The attempt that is checked; nil: this is no check.
    var checked: RunKey? {
        run.hasSuffix(Self.suffix)
            ? RunKey(run: String(run.dropLast(Self.suffix.count)), attempt: attempt) : nil
    }
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
