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
