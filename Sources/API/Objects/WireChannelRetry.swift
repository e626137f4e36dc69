/// What `outbox retry --channel` did.
package struct WireChannelRetry: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// How many entries of its own are due now.
    package var retried: Int
    /// The channel that is not in the configuration, whose entries it got; absent when there is none.
    package var from: String?
    /// How many it got.
    package var moved: Int
    /// How the channel is doing: `working`, `failing`, `disabled`, `untried`.
    package var state: String

    /// An answer, each part as given.
    package init(channel: String, retried: Int, from: String?, moved: Int, state: String) {
        self.channel = channel
        self.retried = retried
        self.from = from
        self.moved = moved
        self.state = state
    }
}
