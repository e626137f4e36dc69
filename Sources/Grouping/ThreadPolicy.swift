/// When a thread is shown and when it rings.
public struct ThreadPolicy: Hashable, Codable, Sendable {
    /// How long the first message of a quiet thread waits for company; critical ones never wait.
    public var wait: Duration
    /// The least time between two versions of one item; what comes meanwhile is shown at its end.
    public var interval: Duration
    /// The least time between two rings of one unread item, unless the urgency rises.
    public var ringAgainAfter: Duration
    /// The longest line shown of a message, in characters.
    public var previewCharacters: Int

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
