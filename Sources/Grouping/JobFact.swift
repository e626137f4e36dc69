public import Timeline
public import Tracking

/// Where a run of a job is, as far as a person may care.
public struct JobFact: Hashable, Codable, Sendable {
    /// The run's number within its job; absent for slots that never got a run.
    public var run: Int?
    /// Where the run is.
    public var state: RunState
    /// Why it is there.
    public var reason: RunReason?
    /// The process's exit code, after an exit.
    public var exitCode: Int?
    /// The signal that ended the process.
    public var signal: Int?
    /// The part done, 0...1, while it runs.
    public var progress: Double?
    /// The stretch of work it is in.
    public var phase: String?
    /// Its last text: a progress message, or the line that says why it failed.
    public var text: String?
    /// How many slots this is about; 1 but for missed and skipped ones.
    public var slots: Int
    /// When it became so; the length of an outage is measured between these.
    public var at: Moment

    /// A fact.
    public init(
        run: Int?, state: RunState, reason: RunReason? = nil, exitCode: Int? = nil, signal: Int? = nil,
        progress: Double? = nil, phase: String? = nil, text: String? = nil, slots: Int = 1, at: Moment
    ) {
        self.run = run
        self.state = state
        self.reason = reason
        self.exitCode = exitCode
        self.signal = signal
        self.progress = progress
        self.phase = phase
        self.text = text
        self.slots = slots
        self.at = at
    }
}
