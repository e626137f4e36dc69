public import Timeline

/// When Debian's cron would start a line, followed minute by minute through the changes of a clock.
///
/// A model of cron's main loop with its virtual clock: for a clock up to five minutes ahead every minute is
/// made up for, up to three hours fixed-time jobs only, and more is taken as a correction. A clock set back
/// by up to three hours is waited for by all but the jobs with a star in minute or hour.
/// - Source: main of Debian's cron 3.0pl1; crontab(5), the section on daylight saving.
public struct DebianClock: Sendable {
    /// A minute in which it starts the job.
    public struct Start: Hashable, Sendable {
        /// The minute.
        public var moment: Moment
        /// How often it starts it there, seconds apart; more than once after a clock went forward over
        /// several times of one job.
        public var count: Int
    }

    private let times: DebianTimes

    /// The model for the times of a line; `nil` when Debian's cron refuses them, and for `@reboot`.
    public init?(_ times: String) {
        guard let times = DebianTimes(times) else { return nil }
        self.times = times
    }

    /// The first `count` starts after `moment` in the zone of the machine, looked for over fifty years.
    public func starts(after moment: Moment, in zone: ZoneRules, count: Int) -> [Start] {
        var found: [Start] = []
        // A day earlier, so that a change of the clock just before `moment` is known.
        var begin = Int(moment.seconds / 60) - 1440
        let end = begin + 50 * 366 * 1440
        var virtual = begin - 1 + Self.offset(zone, begin - 1)
        while begin < end {
            let change = zone.interval(atSeconds: Int64(begin) * 60).endSeconds
            // A change within a minute is seen at the next one.
            let last = change > Int64(end) * 60 ? end : max(begin, Int((change + 59) / 60) - 1)
            let stretch = Stretch(first: begin, last: last, offset: Self.offset(zone, begin))
            for start in Starts(times: times, stretch: stretch, virtual: virtual) where start.moment > moment
            {
                guard found.count < count else { return found }
                found.append(start)
            }
            virtual = stretch.virtual(after: virtual)
            begin = last + 1
        }
        return found
    }

    private static func offset(_ zone: ZoneRules, _ minute: Int) -> Int {
        Int(zone.interval(atSeconds: Int64(minute) * 60).offsetSeconds) / 60
    }
}

/// Minutes since 1970 between two changes of the clock, both included.
private struct Stretch {
    var first: Int
    var last: Int
    /// Minutes east of UTC.
    var offset: Int

    /// What a clock that was at `virtual` in the minute before has to do at the first minute.
    enum Jump {
        case none
        /// A few minutes ahead: all that was missed is made up for.
        case little
        /// Up to three hours ahead: fixed-time jobs are made up for.
        case ahead
        /// Up to three hours back: the virtual clock waits.
        case back
    }

    func jump(from virtual: Int) -> Jump {
        switch first + offset - virtual {
        case 2...6: .little
        case 7...181: .ahead
        case -179...0: .back
        default: .none
        }
    }

    func virtual(after virtual: Int) -> Int {
        jump(from: virtual) == .back ? max(virtual, last + offset) : last + offset
    }
}

/// The starts in one stretch, in order.
private struct Starts: Sequence, IteratorProtocol {
    private let times: DebianTimes
    private let stretch: Stretch
    /// The next minute on the wall to look at.
    private var wall: Int
    /// How many made-up starts the first minute has.
    private var madeUp = 0

    init(times: DebianTimes, stretch: Stretch, virtual: Int) {
        self.times = times
        self.stretch = stretch
        wall = stretch.first + stretch.offset
        switch stretch.jump(from: virtual) {
        case .back where !times.isWildcard: wall = virtual + 1
        case .ahead where times.isWildcard: break
        case .little, .ahead:
            var missed = virtual + 1
            while let found = times.next(from: missed, through: wall) {
                madeUp += 1
                missed = found + 1
            }
            wall += 1
        case .none, .back: break
        }
    }

    mutating func next() -> DebianClock.Start? {
        if madeUp > 0 {
            defer { madeUp = 0 }
            return DebianClock.Start(moment: Moment(seconds: Int64(stretch.first) * 60), count: madeUp)
        }
        guard let found = times.next(from: wall, through: stretch.last + stretch.offset) else { return nil }
        wall = found + 1
        return DebianClock.Start(moment: Moment(seconds: Int64(found - stretch.offset) * 60), count: 1)
    }
}
