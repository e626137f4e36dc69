/// What never changes about a live state: whose progress it is.
public struct LiveTask: Hashable, Sendable, Codable {
    /// The run's id, a UUIDv7 in lower case.
    public var id: String
    /// The name that identifies the bot.
    public var botID: String
    /// The run's name for people, `JOB#N`.
    public var run: String
    /// The job's name for people.
    public var name: String
    /// The bot's name for people.
    public var botName: String

    /// The task of the run `run` with id `id`.
    public init(id: String, botID: String, run: String, name: String, botName: String) {
        self.id = id
        self.botID = botID
        self.run = run
        self.name = name
        self.botName = botName
    }
}
