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
