/// Reads a POSIX `TZ` rule such as `CET-1CEST,M3.5.0,M10.5.0/3` or `<+1030>-10:30<+11>-11,M10.1.0,M4.1.0`.
struct PosixZoneParser {
    private var reader: ByteReader
    /// Where the rule begins in the bytes that the error's range speaks of.
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
