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
