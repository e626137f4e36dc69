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

        /// A minute in which a job is started so often.
        public init(moment: Moment, count: Int) { (self.moment, self.count) = (moment, count) }
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

// A state machine of its own, beside the engine: it is what the engine is compared with.

/// The times of a crontab line as Debian's cron reads them, apart from ``CronExpression``.
///
/// - Source: get_list, get_range and the star flags of Debian's cron 3.0pl1.
struct DebianTimes: Hashable, Sendable {
    private var minutes: UInt64 = 0
    private var hours: UInt64 = 0
    private var days: UInt64 = 0
    private var months: UInt64 = 0
    private var weekdays: UInt64 = 0
    private var bothDays = false

    /// Whether minute or hour begins with a star: such a job follows the clock.
    private(set) var isWildcard = false

    private static let macros = [
        "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
        "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
    ]

    /// Reads five fields or a macro; `nil` for what Debian's cron refuses, and for `@reboot`.
    init?(_ text: String) {
        let fields = (Self.macros[text] ?? text).utf8.split(separator: 0x20).map(Array.init)
        guard fields.count == 5, let minutes = Self.bits(fields[0], 0...59),
            let hours = Self.bits(fields[1], 0...23), let days = Self.bits(fields[2], 1...31),
            let months = Self.bits(fields[3], 1...12, Self.monthNames),
            let weekdays = Self.bits(fields[4], 0...7, Self.dayNames)
        else { return nil }
        self.minutes = minutes
        self.hours = hours
        self.days = days
        self.months = months
        self.weekdays = (weekdays | weekdays >> 7) & 0x7F
        let stars = fields.map { $0.first == UInt8(ascii: "*") }
        bothDays = stars[2] || stars[4]
        isWildcard = stars[0] || stars[1]
    }

    /// Reads an expression as OpenClaw's scheduler does; `nil` for seconds, and for what these fields can't say.
    init?(openClaw text: String) {
        var fields = text.utf8.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        if fields.count == 6, fields[0] == "0" { fields.removeFirst() }
        // The library tests for a bare star before it reads the question mark as one.
        let plain = fields.map { $0 == "?" ? "*" : $0 }
        self.init(plain.joined(separator: " "))
        if fields.count == 5 { bothDays = fields[2] == "*" || fields[4] == "*" }
    }

    /// The first matching minute at or after `minute`, both counted from 1970-01-01 00:00 on the wall;
    /// `nil` when there is none through `last`.
    func next(from minute: Int, through last: Int) -> Int? {
        guard minute <= last else { return nil }
        var day = minute / 1440
        var time = minute % 1440
        while day * 1440 <= last {
            if matches(CalendarDay(days: day), weekday: (day + 4) % 7), let found = nextTime(from: time) {
                let minute = day * 1440 + found
                return minute <= last ? minute : nil
            }
            day += 1
            time = 0
        }
        return nil
    }

    private func matches(_ date: CalendarDay, weekday: Int) -> Bool {
        guard months >> UInt64(date.month) & 1 == 1 else { return false }
        let day = days >> UInt64(date.day) & 1 == 1
        let week = weekdays >> UInt64(weekday) & 1 == 1
        return bothDays ? day && week : day || week
    }

    private func nextTime(from time: Int) -> Int? {
        guard time < 1440 else { return nil }
        for hour in time / 60..<24 where hours >> UInt64(hour) & 1 == 1 {
            let first = hour == time / 60 ? time % 60 : 0
            let rest = minutes >> UInt64(first)
            if rest != 0 { return hour * 60 + first + rest.trailingZeroBitCount }
        }
        return nil
    }

    // MARK: Reading

    private static let monthNames = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    private static let dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func bits(_ field: [UInt8], _ limits: ClosedRange<Int>, _ names: [String] = []) -> UInt64?
    {
        var bits: UInt64 = 0
        for term in field.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let parts = term.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            guard parts.count <= 2, let (range, takesStep) = range(parts[0], limits, names) else {
                return nil
            }
            var step = 1
            if parts.count == 2 {
                guard takesStep, let number = number(parts[1], limits, []), number > 0 else { return nil }
                step = number
            }
            for value in stride(from: range.lowerBound, through: range.upperBound, by: step) {
                bits |= 1 << UInt64(value)
            }
        }
        return bits
    }

    private static func range(
        _ text: ArraySlice<UInt8>, _ limits: ClosedRange<Int>, _ names: [String]
    ) -> (ClosedRange<Int>, takesStep: Bool)? {
        if text.elementsEqual("*".utf8) { return (limits, true) }
        let ends = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let values = ends.compactMap { number($0, limits, names) }
        guard values.count == ends.count, values.allSatisfy(limits.contains) else { return nil }
        switch values.count {
        case 1: return (values[0]...values[0], false)
        case 2: return values[0] <= values[1] ? (values[0]...values[1], true) : nil
        default: return nil
        }
    }

    private static func number(
        _ text: ArraySlice<UInt8>, _ limits: ClosedRange<Int>, _ names: [String]
    ) -> Int? {
        let word = String(decoding: text, as: UTF8.self).lowercased()
        if let place = names.firstIndex(of: word) { return place + limits.lowerBound }
        guard !text.isEmpty, text.count <= 4, text.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(word)
    }
}

/// When the scheduler of an OpenClaw gateway would start a cron job, but for its own delay.
///
/// A model of what its library does: both day fields set mean either, unless one is a bare `*`; a local time that the
/// clock skips is moved by the length of the gap; of an hour that comes twice only the first counts, also for jobs of
/// each hour, so that these are silent for two hours.
/// - Source: openclaw.md 11.2, measured with the gateway's own module and croner 10.0.1.
public struct OpenClawClock: Sendable {
    private let times: DebianTimes

    /// The model for an expression of five fields, of six with seconds 0, or a macro; `nil` for others.
    public init?(_ text: String) {
        guard let times = DebianTimes(openClaw: text) else { return nil }
        self.times = times
    }

    /// The first `count` starts after `moment` in `zone`, looked for over fifty years.
    public func starts(after moment: Moment, in zone: ZoneRules, count: Int) -> [Moment] {
        var found: [Moment] = []
        // A day earlier, so that what a gap moves behind `moment` is found.
        var wall = Int((moment.seconds + Int64(zone.offsetSeconds(at: moment))) / 60) - 1440
        let last = wall + 50 * 366 * 1440
        while found.count < count, let minute = times.next(from: wall, through: last) {
            wall = minute + 1
            let start = Self.moment(ofLocalMinute: minute, in: zone)
            if start > moment, start > found.last ?? .distantPast { found.append(start) }
        }
        return found
    }

    private static func moment(ofLocalMinute minute: Int, in zone: ZoneRules) -> Moment {
        let local = Int64(minute) * 60
        let instants = zone.instants(of: local)
        guard case .gap = instants else { return instants.first }
        // By the offset that held before the gap, so that the time moves by its length.
        let before = zone.offsetSeconds(at: Moment(seconds: instants.first.seconds - 1))
        return Moment(seconds: local - Int64(before))
    }
}
