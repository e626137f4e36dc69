import Timeline

/// What both clocks showed at once, to find out later how far the wall clock was set meanwhile.
struct ClockReading: Hashable {
    var now: Moment
    /// By the clock that nobody sets.
    var sinceBoot: Duration

    init(now: Moment, sinceBoot: Duration) {
        self.now = now
        self.sinceBoot = sinceBoot
    }

    init(of clock: any WallClock) {
        self.init(now: clock.now, sinceBoot: clock.sinceBoot)
    }

    /// How far the clock on the wall was set between this reading and a `later` one; below zero: back.
    func change(until later: ClockReading) -> Duration {
        (later.now - now) - (later.sinceBoot - sinceBoot)
    }
}
