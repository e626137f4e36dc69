import Grouping
import Tracking

extension JobFact {
    /// How it ended, as people say it: `exit code 1`, `took longer than its timeout`; `nil` when there is
    /// nothing to say beyond the state.
    var endingWords: String? {
        if let signal { return "ended by signal \(signal)" }
        if reason == .exitCode || reason == nil, let exitCode { return "exit code \(exitCode)" }
        return reason?.words
    }
}

extension RunReason {
    /// The reason as a short clause.
    fileprivate var words: String {
        switch self {
        case .spread: "waits for its part of the spread"
        case .retryWait: "waits for the next attempt"
        case .runningCap: "waits because enough runs are under way"
        case .lane: "waits for its turn with the bot"
        case .concurrency: "waits for others of its kind"
        case .wardenAway: "waits because no warden answers"
        case .exitCode: "ended with an exit code"
        case .signal: "ended by a signal"
        case .outputPattern: "its output says it failed"
        case .outOfMemory: "ran out of memory"
        case .notFound: "the command does not exist"
        case .notExecutable: "the command may not be executed"
        case .badDirectory: "its directory can't be entered"
        case .badUser: "could not switch to its user"
        case .spawnFailed: "the machine refused to start it"
        case .leftovers: "a process of an earlier attempt still runs"
        case .botUnavailable: "its bot can't be reached"
        case .timeout: "took longer than its timeout"
        case .canceled: "cancelled on request"
        case .replaced: "replaced by a newer run"
        case .jobRemoved: "its job was removed"
        case .wardenLost: "its warden died; the outcome is unknown"
        case .hostRestarted: "the machine was restarted while it ran"
        case .streamCut: "the answer was cut off"
        case .overlap: "the run before it has not ended"
        case .paused: "the job was paused"
        case .blackout: "it lay in a blackout"
        case .superseded: "a newer slot took its place"
        case .catchUpNone: "the job does not catch up"
        case .catchUpWindow: "too old to catch up"
        case .catchUpBurst: "more than are caught up at once"
        case .definitionChanged: "the job was changed or removed while no daemon ran"
        }
    }
}
