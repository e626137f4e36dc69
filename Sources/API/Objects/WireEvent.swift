/// A fact, numbered in the order it became true.
package struct WireEvent: Hashable, Sendable, Codable {
    /// Rises with every event; what `--since` and `Last-Event-ID` name.
    package var seq: Int64
    /// `run.started`, `message.group` and so on.
    package var type: String
    /// When it became true.
    package var at: Timestamp
    /// Why, in one word.
    package var reason: String?
    /// The job it tells of.
    package var job: String?
    /// The id of the run it tells of.
    package var run: String?
    /// That run's name, `JOB#N`, as long as it is kept.
    package var name: String?
    /// The bot it tells of.
    package var bot: String?
    /// The message or item it tells of.
    package var subject: String?
    /// The channel it tells of.
    package var channel: String?
    /// What else there is to know, as JSON text.
    package var detail: String?

    /// An event of a type that tells of nothing yet.
    package init(seq: Int64, type: String, at: Timestamp) {
        self.seq = seq
        self.type = type
        self.at = at
    }
}
