public import Tracking

/// What can be reported of a job; the words of a route's `when` that are about runs.
public enum JobNews: String, Hashable, Codable, Sendable, CaseIterable {
    /// A run began.
    case started
    /// A run moved on.
    case progress
    /// A run waits for a person.
    case blocked
    /// A run did what it should.
    case completed
    /// A run failed or took too long.
    case failed
    /// The first success after a failure.
    case recovered
    /// Somebody ended a run.
    case canceled
    /// Slots passed while nobody could run them.
    case missed
    /// Slots were not run, by policy.
    case skipped
    /// Nobody can say how a run ended.
    case lost

    /// What a run in `state` is news of, its history left aside.
    public init(_ state: RunState) {
        switch state {
        case .scheduled, .queued, .starting: self = .started
        case .running, .paused, .stalled: self = .progress
        case .blocked: self = .blocked
        case .completed: self = .completed
        case .failed, .timedOut: self = .failed
        case .canceled: self = .canceled
        case .lost: self = .lost
        case .skipped: self = .skipped
        case .missed: self = .missed
        }
    }
}
