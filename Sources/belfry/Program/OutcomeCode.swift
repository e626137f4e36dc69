import API
import Tracking

/// What `run --follow` and `exec` exit with once the job has started.
enum OutcomeCode {
    /// The job's own code; 124 timed out, 126 not executable, 127 not found, 128+n ended by signal n, 125 for
    /// what went wrong before or around it.
    static func of(_ run: WireRun) -> Int32 {
        switch (run.state, run.reason) {
        case (.timedOut, _): return 124
        case (.failed, .notExecutable?): return 126
        case (.failed, .notFound?): return 127
        case (.completed, _): return run.exitCode.flatMap(Int32.init(exactly:)) ?? 0
        default: break
        }
        if let signal = run.signal { return 128 + Int32(clamping: signal) }
        if run.state == .failed, let code = run.exitCode, code != 0 { return Int32(clamping: code) }
        return 125
    }
}
