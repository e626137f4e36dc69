/// What a person wants to hear of a job, and how often.
public struct JobPolicy: Hashable, Codable, Sendable {
    /// What makes or changes the job's item; anything else is counted and not shown.
    public var hears: Set<JobNews>
    /// The least time between two versions of the item; what comes meanwhile is shown at its end.
    public var interval: Duration
    /// The least time between two rings for what is not a change: a run that ended as the last one did.
    public var ringAgainAfter: Duration
    /// Rings again for the same failure after this time; absent never does.
    public var repeatFailureAfter: Duration?
    /// The longest text shown, in characters.
    public var previewCharacters: Int

    /// A policy; left out, an update a second, a ring in 5 minutes, a failure rings once, 100 characters.
    public init(
        hears: Set<JobNews>, interval: Duration = .seconds(1), ringAgainAfter: Duration = .seconds(300),
        repeatFailureAfter: Duration? = nil, previewCharacters: Int = 100
    ) {
        self.hears = hears
        self.interval = interval
        self.ringAgainAfter = ringAgainAfter
        self.repeatFailureAfter = repeatFailureAfter
        self.previewCharacters = previewCharacters
    }
}
