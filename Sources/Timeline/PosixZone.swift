/// The rule that a zone follows for ever: the footer of a TZif file, or the value of `TZ`.
///
/// - Source: POSIX.1-2024 section 8.3 with the extension of RFC 9636 section 3.3.2 (hours -167 to 167).
struct PosixZone: Hashable, Sendable {
    /// When in a year the clock changes, in seconds after local midnight of its day.
    struct Change: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            /// Day 1 to 365; 29 February is never counted.
            case withoutLeapDay(Int)
            /// Day 0 to 365; 29 February is counted.
            case zeroBased(Int)
            /// The `week`th (5: last) `weekday` of `month`.
            case weekday(month: Int, week: Int, weekday: Int)
        }

        var day: Day
        var seconds: Int

        /// Local seconds since the epoch at which the change happens in `year`.
        func localSeconds(in year: Int) -> Int64 {
            Int64(dayNumber(in: year)) * 86_400 + Int64(seconds)
        }

        private func dayNumber(in year: Int) -> Int {
            let newYear = CivilDate(year: year, month: 1, day: 1).daysSinceEpoch
            switch day {
            case .withoutLeapDay(let number):
                return newYear + number - 1 + (CivilDate.isLeap(year) && number >= 60 ? 1 : 0)
            case .zeroBased(let number):
                return newYear + number
            case .weekday(let month, let week, let weekday):
                let first = CivilDate(year: year, month: month, day: 1)
                let length = CivilDate.days(inMonth: month, of: year)
                var day = 1 + (weekday - first.weekday + 7) % 7 + (week - 1) * 7
                if day > length { day -= 7 }
                return first.daysSinceEpoch + day - 1
            }
        }
    }

    /// Seconds east of UTC in standard time.
    var standard: Int32
    var daylight: (offset: Int32, start: Change, end: Change)?

    /// The changes of `year` in order of time: the moment in seconds and the offset from then on.
    ///
    /// Two at one moment (daylight time all year) become one, the daylight one.
    func changes(in year: Int) -> [(at: Int64, offset: Int32)] {
        guard let daylight else { return [] }
        let start = (
            at: daylight.start.localSeconds(in: year) - Int64(standard), offset: daylight.offset
        )
        let end = (at: daylight.end.localSeconds(in: year) - Int64(daylight.offset), offset: standard)
        if start.at == end.at { return [start] }
        return start.at < end.at ? [start, end] : [end, start]
    }

    /// Whether daylight time ends at the moment at which it begins again, every year.
    var isAlwaysDaylight: Bool {
        guard let daylight else { return false }
        return (2023...2024).allSatisfy { year in
            daylight.end.localSeconds(in: year) - Int64(daylight.offset)
                == daylight.start.localSeconds(in: year + 1) - Int64(standard)
        }
    }

    /// The offset that applies at `seconds`, and the stretch around it in which it does not change.
    func interval(at seconds: Int64) -> ZoneInterval {
        let year = CivilTime(localSeconds: seconds).date.year
        var found = ZoneInterval(startSeconds: .min, endSeconds: .max, offsetSeconds: standard)
        for (at, offset) in PosixZone.merged((year - 2...year + 2).flatMap(changes(in:))) {
            if at <= seconds {
                found.startSeconds = at
                found.offsetSeconds = offset
            } else {
                found.endSeconds = at
                break
            }
        }
        return found
    }

    /// Without the changes that change nothing, of two at one moment the daylight one kept.
    static func merged(_ changes: [(at: Int64, offset: Int32)]) -> [(at: Int64, offset: Int32)] {
        var result: [(at: Int64, offset: Int32)] = []
        for change in changes {
            if let last = result.last, last.at >= change.at {
                // The end of the old year meets the start of the new one: daylight time continues.
                result.removeLast()
            }
            if let last = result.last, last.offset == change.offset { continue }
            result.append(change)
        }
        return result
    }

    static func == (left: PosixZone, right: PosixZone) -> Bool {
        left.standard == right.standard && left.daylight?.offset == right.daylight?.offset
            && left.daylight?.start == right.daylight?.start && left.daylight?.end == right.daylight?.end
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(standard)
        hasher.combine(daylight?.offset)
    }
}

/// Reads a POSIX `TZ` rule such as `CET-1CEST,M3.5.0,M10.5.0/3` or `<+1030>-10:30<+11>-11,M10.1.0,M4.1.0`.
struct PosixZoneParser {
    private var reader: ByteReader
    /// Where the rule begins in the bytes that the error's range refers to.
    private let base: Int

    private init(bytes: [UInt8], base: Int) {
        reader = ByteReader(bytes: bytes)
        self.base = base
    }

    static func parse(_ bytes: [UInt8], base: Int = 0) throws(TimelineError) -> PosixZone {
        var parser = PosixZoneParser(bytes: bytes, base: base)
        return try parser.zone()
    }

    private mutating func zone() throws(TimelineError) -> PosixZone {
        try name()
        var zone = PosixZone(standard: Int32(-(try time(hours: 24))))
        if reader.isAtEnd { return zone }
        try name()
        var offset = zone.standard + 3600
        if reader.current != UInt8(ascii: ",") { offset = Int32(-(try time(hours: 24))) }
        guard reader.skip(UInt8(ascii: ",")) else { throw error("a rule of change is missing") }
        let start = try change()
        guard reader.skip(UInt8(ascii: ",")) else { throw error("the second rule of change is missing") }
        zone.daylight = (offset, start, try change())
        guard reader.isAtEnd else { throw error("nothing may follow the rule") }
        return zone.isAlwaysDaylight ? PosixZone(standard: offset) : zone
    }

    private mutating func name() throws(TimelineError) {
        let start = reader.position
        if reader.skip(UInt8(ascii: "<")) {
            while reader.current.isLetter || reader.current.isDigit || reader.current == UInt8(ascii: "+")
                || reader.current == UInt8(ascii: "-")
            {
                reader.position += 1
            }
            guard reader.skip(UInt8(ascii: ">")) else { throw error("a name in < > is not closed") }
            return
        }
        while reader.current.isLetter { reader.position += 1 }
        guard reader.position - start >= 3 else { throw error("a name has at least three letters") }
    }

    /// Hours, optional minutes and seconds, with a sign, as seconds.
    private mutating func time(hours limit: Int) throws(TimelineError) -> Int {
        let isNegative = reader.current == UInt8(ascii: "-")
        if !reader.skip(UInt8(ascii: "-")) { _ = reader.skip(UInt8(ascii: "+")) }
        var seconds = try number(0...limit) * 3600
        if reader.skip(UInt8(ascii: ":")) {
            seconds += try number(0...59) * 60
            if reader.skip(UInt8(ascii: ":")) { seconds += try number(0...59) }
        }
        return isNegative ? -seconds : seconds
    }

    private mutating func change() throws(TimelineError) -> PosixZone.Change {
        let day: PosixZone.Change.Day
        if reader.skip(UInt8(ascii: "M")) {
            let month = try number(1...12)
            guard reader.skip(UInt8(ascii: ".")) else { throw error("a '.' is missing after the month") }
            let week = try number(1...5)
            guard reader.skip(UInt8(ascii: ".")) else { throw error("a '.' is missing after the week") }
            day = .weekday(month: month, week: week, weekday: try number(0...6))
        } else if reader.skip(UInt8(ascii: "J")) {
            day = .withoutLeapDay(try number(1...365))
        } else {
            day = .zeroBased(try number(0...365))
        }
        return .init(day: day, seconds: reader.skip(UInt8(ascii: "/")) ? try time(hours: 167) : 7200)
    }

    private mutating func number(_ limits: ClosedRange<Int>) throws(TimelineError) -> Int {
        guard let number = reader.number(limit: 3), limits.contains(number.value) else {
            throw error("a number from \(limits.lowerBound) to \(limits.upperBound) is expected")
        }
        return number.value
    }

    private func error(_ message: String) -> TimelineError {
        let at = base + reader.position
        return TimelineError(.notAZoneRule, at: at..<at, message)
    }
}
