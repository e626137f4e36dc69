/// How long to wait before the bus is tried again: 1, 2, 4 ...
///
/// 60 seconds.
struct Backoff {
    private var upcoming = Duration.seconds(1)

    /// The next wait; the one after is twice as long, up to a minute.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, .seconds(60)) }
        return upcoming
    }
}
