extension Moment {
    /// The moment that an ISO 8601 text such as `2026-03-29T03:00:00+02:00` or `2026-03-29T01:00:00Z` names.
    ///
    /// Seconds and a fraction may be left out; digits below a microsecond are dropped. The offset is `Z`,
    /// `+02:00`, `+0200` or `+02`. Between date and time stands `T` or one space. A year of six digits has
    /// a sign.
    /// - Throws: ``TimelineError/Problem/notATime``, also when the text has no offset.
    public init(iso8601 text: some StringProtocol) throws(TimelineError) {
        let parts = try ISO8601Parser.parse(text)
        guard let offset = parts.offset else {
            let end = text.utf8.count
            throw TimelineError(
                .notATime, at: end..<end, "the time has no offset", fix: "add Z or an offset such as +02:00")
        }
        self = try Self.checked(parts.local.localSeconds - Int64(offset), parts.local.microsecond, text)
    }

    /// The moment that an ISO 8601 text names, read as a local time of `zone` when it has no offset.
    ///
    /// Without a time of day it is midnight. A local time that the zone skips becomes the first moment after
    /// the gap; one that happens twice, the first of both.
    /// - Throws: ``TimelineError/Problem/notATime``.
    public init(iso8601 text: some StringProtocol, in zone: ZoneRules) throws(TimelineError) {
        let parts = try ISO8601Parser.parse(text, dateAlone: true)
        if let offset = parts.offset {
            self = try Self.checked(parts.local.localSeconds - Int64(offset), parts.local.microsecond, text)
            return
        }
        // Two days of room, so that no offset leads out of the range.
        _ = try Self.checked(
            parts.local.localSeconds + (parts.local.date.year < 0 ? -1 : 1) * 172_800, 0, text)
        let instants = zone.instants(of: parts.local.localSeconds)
        let isMissing = if case .gap = instants { true } else { false }
        self = instants.first + .microseconds(isMissing ? 0 : parts.local.microsecond)
    }

    /// ISO 8601 in UTC: `2026-03-29T01:00:00Z`, with three or six digits of fraction where it is not zero.
    public var iso8601: String {
        CivilTime(self).iso8601 + "Z"
    }

    /// ISO 8601 with the offset that `zone` has at this moment: `2026-03-29T03:00:00+02:00`.
    ///
    /// An offset of zero is written `+00:00`; seconds of an offset (before about 1900) are written too.
    public func iso8601(in zone: ZoneRules) -> String {
        let offset = zone.offsetSeconds(at: self)
        let size = abs(offset)
        var text = CivilTime(self, in: zone).iso8601 + (offset < 0 ? "-" : "+")
        text += padded(size / 3600, 2) + ":" + padded(size / 60 % 60, 2)
        if size % 60 != 0 { text += ":" + padded(size % 60, 2) }
        return text
    }

    private static func checked(
        _ seconds: Int64, _ microsecond: Int, _ text: some StringProtocol
    ) throws(TimelineError) -> Moment {
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, carry) = whole.addingReportingOverflow(Int64(microsecond))
        guard !overflow, !carry else {
            throw TimelineError(.outOfRange, at: 0..<text.utf8.count, "the year is too far away")
        }
        return Moment(microseconds: sum)
    }
}

extension CivilTime {
    /// ISO 8601 without an offset: `2026-03-29T03:00:00`.
    public var iso8601: String {
        var text = date.iso8601 + "T"
        text += padded(hour, 2) + ":" + padded(minute, 2) + ":" + padded(second, 2)
        if microsecond != 0 {
            text += "." + (microsecond % 1000 == 0 ? padded(microsecond / 1000, 3) : padded(microsecond, 6))
        }
        return text
    }
}

extension CivilDate {
    /// ISO 8601: `2026-03-29`; years outside 0 to 9999 have a sign and six digits.
    public var iso8601: String {
        let yearText =
            (0...9999).contains(year)
            ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
        return yearText + "-" + padded(month, 2) + "-" + padded(day, 2)
    }
}

func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// Reads the ISO 8601 forms that this target writes, and the common ones around them.
enum ISO8601Parser {
    struct Parts {
        var local: CivilTime
        /// Seconds east of UTC; `nil` when the text names none.
        var offset: Int?
    }

    static func parse(
        _ text: some StringProtocol, dateAlone: Bool = false
    ) throws(TimelineError) -> Parts {
        guard text.utf8.count <= 64 else {
            throw TimelineError(.notATime, at: 0..<text.utf8.count, "the text is too long for a time")
        }
        var reader = ByteReader(text)
        var parts = Parts(local: CivilTime(try date(&reader)), offset: nil)
        if reader.isAtEnd, dateAlone { return parts }
        guard reader.skip(UInt8(ascii: "T")) || reader.skip(UInt8(ascii: "t")) || reader.skip(0x20) else {
            throw missing("a T and a time of day", in: reader)
        }
        parts.local.hour = try field(&reader, named: "hour", 0...23)
        try expect(UInt8(ascii: ":"), in: &reader)
        parts.local.minute = try field(&reader, named: "minute", 0...59)
        if reader.skip(UInt8(ascii: ":")) {
            parts.local.second = try field(&reader, named: "second", 0...59)
            if reader.skip(UInt8(ascii: ".")) || reader.skip(UInt8(ascii: ",")) {
                parts.local.microsecond = try fraction(&reader)
            }
        }
        parts.offset = try offset(&reader)
        guard reader.isAtEnd else {
            throw TimelineError(
                .notATime, at: reader.position..<reader.bytes.count, "nothing may follow the time")
        }
        return parts
    }

    private static func date(_ reader: inout ByteReader) throws(TimelineError) -> CivilDate {
        let start = reader.position
        let isNegative = reader.current == UInt8(ascii: "-")
        let width = reader.skip(UInt8(ascii: "-")) || reader.skip(UInt8(ascii: "+")) ? 6 : 4
        guard let year = reader.number(limit: width), year.digits == width else {
            throw TimelineError(
                .notATime, at: start..<reader.position, "a time begins with a year of \(width) digits",
                fix: "write it as 2026-03-29T03:00:00+02:00")
        }
        try expect(UInt8(ascii: "-"), in: &reader)
        let month = try field(&reader, named: "month", 1...12)
        try expect(UInt8(ascii: "-"), in: &reader)
        let signed = isNegative ? -year.value : year.value
        let length = CivilDate.days(inMonth: month, of: signed)
        return CivilDate(year: signed, month: month, day: try field(&reader, named: "day", 1...length))
    }

    private static func field(
        _ reader: inout ByteReader, named name: String, _ limits: ClosedRange<Int>
    ) throws(TimelineError) -> Int {
        let start = reader.position
        guard let number = reader.number(limit: 2), number.digits == 2 else {
            throw TimelineError(.notATime, at: start..<reader.position, "the \(name) needs two digits")
        }
        guard limits.contains(number.value) else {
            throw TimelineError(
                .notATime, at: start..<reader.position,
                "\(name) \(number.value) is outside \(limits.lowerBound)-\(limits.upperBound)")
        }
        return number.value
    }

    private static func fraction(_ reader: inout ByteReader) throws(TimelineError) -> Int {
        let start = reader.position
        guard let number = reader.number(limit: 9) else { throw missing("digits of a fraction", in: reader) }
        guard !reader.current.isDigit else {
            throw TimelineError(.notATime, at: start..<reader.position, "a fraction has at most 9 digits")
        }
        var value = number.value
        for _ in number.digits..<9 { value *= 10 }
        return value / 1000
    }

    private static func offset(_ reader: inout ByteReader) throws(TimelineError) -> Int? {
        if reader.isAtEnd { return nil }
        if reader.skip(UInt8(ascii: "Z")) || reader.skip(UInt8(ascii: "z")) { return 0 }
        let isNegative = reader.current == UInt8(ascii: "-")
        guard reader.skip(UInt8(ascii: "+")) || reader.skip(UInt8(ascii: "-")) else {
            throw missing("Z or an offset such as +02:00", in: reader)
        }
        var seconds = try field(&reader, named: "offset's hour", 0...25) * 3600
        if reader.skip(UInt8(ascii: ":")) || reader.current.isDigit {
            seconds += try field(&reader, named: "offset's minute", 0...59) * 60
            if reader.skip(UInt8(ascii: ":")) {
                seconds += try field(&reader, named: "offset's second", 0...59)
            }
        }
        return isNegative ? -seconds : seconds
    }

    private static func expect(_ byte: UInt8, in reader: inout ByteReader) throws(TimelineError) {
        guard reader.skip(byte) else {
            throw missing("'\(Character(UnicodeScalar(byte)))'", in: reader)
        }
    }

    private static func missing(_ what: String, in reader: ByteReader) -> TimelineError {
        TimelineError(
            .notATime, at: reader.position..<min(reader.position + 1, reader.bytes.count),
            "expected \(what) at byte \(reader.position)")
    }
}

extension Duration {
    /// The duration that a text such as `90s`, `15m`, `1h30m` or `2d` names.
    ///
    /// Units are `w d h m s ms us`, each at most once, large before small, without blanks or signs.
    /// - Throws: ``TimelineError/Problem/notADuration`` with the bytes at fault.
    public init(text: some StringProtocol) throws(TimelineError) {
        var reader = ByteReader(text)
        guard !reader.isAtEnd else {
            throw TimelineError(.notADuration, at: 0..<0, "the duration is empty", fix: "write 15m or 1h30m")
        }
        guard reader.bytes.count <= 64 else {
            throw TimelineError(
                .notADuration, at: 0..<reader.bytes.count, "the text is too long for a duration")
        }
        var total: Int64 = 0
        var smallest = Int64.max
        while !reader.isAtEnd {
            let start = reader.position
            let amount = try Self.amount(&reader)
            let (unit, microseconds) = try Self.unit(&reader, amount: amount, from: start)
            guard microseconds < smallest else {
                throw TimelineError(
                    .notADuration, at: start..<reader.position,
                    "\(unit) stands after a unit that is not larger",
                    fix: "write large units first, each once")
            }
            smallest = microseconds
            let (part, tooLarge) = Int64(amount).multipliedReportingOverflow(by: microseconds)
            let (sum, overflow) = total.addingReportingOverflow(part)
            // A hundred years: beyond it sums with moments could overflow, and nobody means it.
            guard !tooLarge, !overflow, sum <= 100 * 366 * 86_400_000_000 else {
                throw TimelineError(
                    .outOfRange, at: start..<reader.position, "the duration is longer than 100 years")
            }
            total = sum
        }
        self = .microseconds(total)
    }

    /// The shortest text that ``init(text:)`` reads back: `1h30m`, `2d`, `250ms`; `0s` for zero.
    ///
    /// Parts below a microsecond are dropped; a negative duration has a leading `-`. Weeks are written as days.
    public var text: String {
        var rest = microseconds.magnitude
        guard rest > 0 else { return "0s" }
        var text = microseconds < 0 ? "-" : ""
        for (name, size) in Self.units where name != "w" && rest >= size {
            text += "\(rest / UInt64(size))\(name)"
            rest %= UInt64(size)
        }
        return text
    }

    private static let units: [(name: String, microseconds: Int64)] = [
        ("w", 604_800_000_000), ("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000),
        ("s", 1_000_000), ("ms", 1000), ("us", 1),
    ]

    private static func amount(_ reader: inout ByteReader) throws(TimelineError) -> Int {
        let start = reader.position
        guard let number = reader.number(limit: 12) else {
            let end = min(start + 1, reader.bytes.count)
            throw TimelineError(
                .notADuration, at: start..<end, "a number is expected here", fix: "write 15m or 1h30m")
        }
        return number.value
    }

    private static func unit(
        _ reader: inout ByteReader, amount: Int, from start: Int
    ) throws(TimelineError) -> (name: String, microseconds: Int64) {
        let begin = reader.position
        while reader.current.isLetter { reader.position += 1 }
        let name = String(decoding: reader.bytes[begin..<reader.position], as: UTF8.self)
        if let unit = units.first(where: { $0.name == name }) { return unit }
        guard !name.isEmpty else {
            throw TimelineError(
                .notADuration,
                at: start..<min(reader.position + (reader.isAtEnd ? 0 : 1), reader.bytes.count),
                reader.isAtEnd ? "\(amount) has no unit" : "only digits and units belong in a duration",
                fix: "add one of w d h m s ms us, such as \(amount)s")
        }
        throw TimelineError(
            .notADuration, at: begin..<reader.position, "\"\(name)\" is not a unit",
            fix: "use one of w d h m s ms us")
    }
}

extension Duration {
    /// The duration as people read it, in its two largest units, cut and not rounded: `3 h 5 min`, `40 s`, `2 d`.
    ///
    /// Below a second it is `under 1 s`; a negative one counts as none.
    package var words: String {
        let total = max(0, microseconds / 1_000_000)
        guard total > 0 else { return "under 1 s" }
        return switch total {
        case ..<60: Self.words(total, " s", 0, "")
        case ..<3600: Self.words(total / 60, " min", total % 60, " s")
        case ..<86_400: Self.words(total / 3600, " h", total / 60 % 60, " min")
        default: Self.words(total / 86_400, " d", total / 3600 % 24, " h")
        }
    }

    /// Drawn many times a second, so without a list or an interpolation.
    private static func words(_ large: Int64, _ unit: String, _ small: Int64, _ smallUnit: String) -> String {
        var text = String(large)
        text += unit
        guard small > 0 else { return text }
        text += " "
        text += String(small)
        text += smallUnit
        return text
    }

    /// The duration as a limit that somebody set: ``words``, or `1500 ms` where it has a part of a second.
    package var limitWords: String {
        microseconds % 1_000_000 == 0 ? words : "\(microseconds / 1000) ms"
    }
}
