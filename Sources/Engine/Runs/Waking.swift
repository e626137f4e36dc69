import Ledger
import Performing
import Prompting
import Timeline
import Tracking

/// Whether the bot of a run is asked, after the script of its job has ended; pure.
struct WakeDecider {
    let rule: WakeRule

    /// What follows from a script's end.
    enum Decision: Hashable {
        /// The bot is asked.
        case wake
        /// The run is skipped, as the sentence says.
        case skip(String)
        /// The run has failed, as the sentence says.
        case fail(String)
    }

    /// Decides by how the script ended, and what it `printed`, which is read where that counts.
    func decide(_ end: AttemptEnd, printed: () throws -> [UInt8]) -> Decision {
        let name = "the wake script \(CleanText.line((rule.command ?? []).joined(separator: " "), limit: 80))"
        switch end {
        case .vanished: return .fail("\(name) was lost")
        case .refused(_, let text): return .fail("\(name) could not be started: \(text)")
        case .ended(let record):
            if let failure = failure(record) { return .fail("\(name) \(failure)") }
            let output: [UInt8]
            do { output = try printed() } catch {
                return .fail("the output of the wake script cannot be read: \(error)")
            }
            switch WakeAnswer(output) {
            case .wake: return .wake
            case .sleep(let reason): return .skip(reason ?? "\(name) found nothing to do")
            case .unreadable(let why): return .fail("\(name) gave no answer: \(why)")
            }
        }
    }

    /// What went wrong; nil: it ended well.
    private func failure(_ record: ExitRecord) -> String? {
        let words = FailureLine.find(in: LastLines([]), errors: LastLines(record.errorTail))
        let last = words.map { ": \($0)" } ?? ""
        switch record.cause {
        case .exited where record.exitCode == 0: return nil
        case .exited:
            let how =
                record.signal.map { "was ended by \(SignalName.text($0))" }
                ?? "failed with exit code \(record.exitCode ?? -1)"
            return how + last
        case .timeout: return "took longer than \((rule.timeout ?? WakeRule.standardTimeout).text)"
        case .canceled: return "was cancelled"
        case .lost: return "was lost"
        }
    }
}

extension RunKey {
    private static let wakeSuffix = ".wake"

    /// The key of the script that runs before the attempt.
    var wakeScript: RunKey { RunKey(run: run + Self.wakeSuffix, attempt: attempt) }

    /// The attempt that the script runs before; nil: this is no such script.
    var woken: RunKey? {
        run.hasSuffix(Self.wakeSuffix)
            ? RunKey(run: String(run.dropLast(Self.wakeSuffix.count)), attempt: attempt) : nil
    }
}

extension AttemptOrders {
    /// The most of a script's output that is read, in bytes.
    static let wakeOutputLimit = 1 << 16

    /// The order of the script that runs before the attempt, as a program of its job.
    func wakeScript(
        _ run: RunRecord, _ spec: JobSpec, _ rule: WakeRule, secrets: [String: String]
    ) -> ProcessOrder {
        var spec = spec
        spec.environment.merge(secrets) { $1 }
        var order = ProcessOrder(run, spec, .command(rule.command ?? []), places)
        order.key = order.key.wakeScript
        order.timeout = rule.timeout ?? WakeRule.standardTimeout
        let path = places.wakeOutput(of: run.id, job: run.job, attempt: run.attempt)
        order.output = ProcessOrder.Output(path: path, headBytes: Self.wakeOutputLimit, tailBytes: 0)
        order.errorPath = path + RunPlaces.wakeErrors
        order.isOutputWatched = false
        (order.pty, order.stdin) = (nil, .none)
        return order
    }
}
