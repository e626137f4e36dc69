extension RunReason {
    /// The reason in a few words, to stand after the state and a colon.
    public var words: String {
        switch self {
        case .spread: "waits for its spread"
        case .retryWait: "waits for the next attempt"
        case .runningCap: "waits, too many runs under way"
        case .lane: "waits for the bot"
        case .concurrency: "waits for others of its key"
        case .wardenAway: "waits, no warden answers"
        case .exitCode: "exit code"
        case .signal: "ended by a signal"
        case .outputPattern: "output is not as it must be"
        case .outOfMemory: "out of memory"
        case .notFound: "command not found"
        case .notExecutable: "command not executable"
        case .badDirectory: "no such working directory"
        case .badUser: "no such user"
        case .spawnFailed: "could not be started"
        case .leftovers: "a process of an earlier attempt still runs"
        case .botUnavailable: "bot not available"
        case .timeout: "took too long"
        case .canceled: "canceled"
        case .replaced: "replaced by a newer run"
        case .jobRemoved: "job removed"
        case .wardenLost: "warden gone"
        case .hostRestarted: "machine restarted"
        case .streamCut: "stream cut"
        case .overlap: "the run before it has not ended"
        case .paused: "job paused"
        case .blackout: "blackout"
        case .superseded: "superseded by a newer slot"
        case .catchUpNone: "not caught up"
        case .catchUpWindow: "too old to catch up"
        case .catchUpBurst: "too many to catch up"
        case .definitionChanged: "job changed or removed while no daemon ran"
        }
    }
}

extension RunState {
    /// The state as people read it.
    package var words: String { self == .timedOut ? "timed out" : rawValue }
}
