import API
import Ledger
import Performing
import TerminalView
import Tracking

/// How a command ended.
enum ExecEnd {
    /// It ended, as the warden saw it.
    case ended(ExitRecord)
    /// It was not started; why, in a sentence.
    case refused(Refusal, text: String)
    /// The daemon ended it before it was started.
    case withdrawn(WireRun)
    /// A signal came before it was started.
    case interrupted(Int32)
    /// Unknown: the warden died.
    case lost

    /// The end of a command that only waited for another process, in place of that one's.
    var ofFollowed: ExecEnd {
        guard case .ended(let record) = self, record.signal == FollowedProcess.unknownEnd else { return self }
        return .ended(record.withoutStatus)
    }

    /// The end as it is reported to a terminal.
    var ofContext: CommandContext.End {
        guard case .ended(let record) = self else { return .unknown }
        return record.signal.map { .signal($0) } ?? record.exitCode.map { .code($0) } ?? .unknown
    }

    /// What `belfry exec` exits with.
    ///
    /// - Source: the contract: the job's own code; 124 timed out, 126 not executable, 127 not found, 128+n ended
    ///   by signal n, 125 for all else.
    var code: Int32 {
        switch self {
        case .ended(let record) where record.cause == .timeout: 124
        case .ended(let record):
            record.exitCode.map { Int32(clamping: $0) } ?? record.signal.map { 128 + Int32(clamping: $0) }
                ?? (record.hasNoStatus ? 0 : 125)
        case .refused(.notFound, _): 127
        case .refused(.notExecutable, _): 126
        case .refused, .lost: 125
        case .withdrawn(let run): OutcomeCode.of(run)
        case .interrupted(let signal): 128 + signal
        }
    }

    /// The run's state and reason, as the ledger will have them.
    var outcome: (state: RunState, reason: RunReason?) {
        switch self {
        case .ended(let record):
            switch record.cause {
            case .timeout: return (.timedOut, .timeout)
            case .canceled: return (.canceled, .canceled)
            case .lost: return (.lost, .wardenLost)
            case .exited: break
            }
            if record.hasNoStatus { return (.completed, .exitUnknown) }
            if record.signal != nil { return (.failed, .signal) }
            return record.exitCode == 0 ? (.completed, nil) : (.failed, .exitCode)
        case .refused(.notFound, _): return (.failed, .notFound)
        case .refused(.notExecutable, _): return (.failed, .notExecutable)
        case .refused(.badFolder, _): return (.failed, .badDirectory)
        case .refused: return (.failed, .spawnFailed)
        case .withdrawn(let run): return (run.state, run.reason)
        case .interrupted: return (.canceled, .canceled)
        case .lost: return (.lost, .wardenLost)
        }
    }
}

/// A failure of `belfry exec` itself: a wrapper must be able to distinguish it from one of the command.
struct ExecFailure: Error {
    let error: APIError

    init(_ error: APIError) {
        self.error = error
    }

    /// 125, as the contract says; 2 where the command line is to blame.
    var code: Int32 { error.code.row.exitCode == 2 ? 2 : 125 }
}

/// What `run --follow` and `exec` exit with once the job has started.
enum OutcomeCode {
    /// The job's own code; 0 where there was nothing to do; 1 of a bot or an address that did not answer, and where a
    /// check failed, 124 timed out, 126 not executable, 127 not found, 128+n ended by signal n, 125 for
    /// what went wrong before or around it.
    static func of(_ run: WireRun) -> Int32 {
        switch (run.state, run.reason) {
        case (.timedOut, _): return 124
        case (.failed, .notExecutable?): return 126
        case (.failed, .notFound?): return 127
        case (.failed, let reason?) where reason.isOfBot || reason.isOfCall: return 1
        case (.failed, .ensure?), (.failed, .wakeScript?): return 1
        case (.skipped, .nothingToDo?): return 0
        case (.completed, _): return run.exitCode.flatMap(Int32.init(exactly:)) ?? 0
        default: break
        }
        if let signal = run.signal { return 128 + Int32(clamping: signal) }
        if run.state == .failed, let code = run.exitCode, code != 0 { return Int32(clamping: code) }
        return 125
    }
}
