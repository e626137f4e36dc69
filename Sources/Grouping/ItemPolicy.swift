import Timeline

/// When a thread is shown and when it rings.
public struct ThreadPolicy: Hashable, Codable, Sendable {
    /// How long the first message of a quiet thread waits for company; critical ones never wait.
    public var wait: Duration
    /// The least time between two versions of one item; what comes meanwhile is shown at its end.
    public var interval: Duration
    /// The least time between two rings of one unread item, unless the urgency rises.
    public var ringAgainAfter: Duration
    /// The longest line shown of a message among others, in characters; a lone one has three times as many.
    public var previewCharacters: Int
    /// The most shown of a message that is alone in its item, in characters.
    var wholeCharacters: Int { previewCharacters * 3 }

    /// A policy; left out, a wait of 1.5 s, an update a second, a ring in 5 minutes, 100 characters.
    public init(
        wait: Duration = .milliseconds(1500), interval: Duration = .seconds(1),
        ringAgainAfter: Duration = .seconds(300), previewCharacters: Int = 100
    ) {
        self.wait = wait
        self.interval = interval
        self.ringAgainAfter = ringAgainAfter
        self.previewCharacters = previewCharacters
    }
}

/// Which events of a job a person is notified of, and how often.
public struct JobPolicy: Hashable, Codable, Sendable {
    /// What makes or changes the job's item; anything else is counted and not shown.
    public var hears: Set<JobNews>
    /// What replaces the progress of the same run without a ring, and is not shown otherwise.
    public var follows: Set<JobNews> = []
    /// How long a run must have lasted before it is shown at work.
    public var workAfter: Duration = .zero
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

/// The timers of an item: when to flush next, and when it last did.
///
/// Saved with the item; a clock that was set can't strand it, see ``clamp(at:longest:)``.
struct Pace: Hashable, Codable, Sendable {
    /// When something unseen must be shown; `nil` when nothing waits.
    private(set) var flushAt: Moment?
    /// When a version was last made.
    private(set) var flushedAt: Moment?

    /// Asks for a flush at `moment`, or once `interval` has passed since the last; the earlier of two
    /// requests stands.
    mutating func ask(for moment: Moment, interval: Duration) {
        let due = max(moment, flushedAt.map { $0 + interval } ?? moment)
        flushAt = min(flushAt ?? due, due)
    }

    /// Whether something waits and its moment has come.
    func isDue(at now: Moment) -> Bool {
        flushAt.map { $0 <= now } ?? false
    }

    /// A version was made.
    mutating func flushed(at now: Moment) {
        flushAt = nil
        flushedAt = now
    }

    /// Nothing waits any more.
    mutating func cancel() { flushAt = nil }

    /// Moves timers that a set-back clock put far ahead to at most `longest` from now.
    mutating func clamp(at now: Moment, longest: Duration) {
        flushAt = flushAt.map { min($0, now + longest) }
        flushedAt = flushedAt.map { min($0, now) }
    }
}

/// When an item last rang since it was read, and how loudly.
struct Ring: Hashable, Codable, Sendable {
    var at: Moment
    var urgency: Urgency
}
