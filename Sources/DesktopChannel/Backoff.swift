/// How long to wait before the bus is tried again: a second, twice as long each time, a minute at most.
struct Backoff {
    private var upcoming = Duration.seconds(1)

    /// The next wait; the one after is twice as long, up to a minute.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, .seconds(60)) }
        return upcoming
    }
}
