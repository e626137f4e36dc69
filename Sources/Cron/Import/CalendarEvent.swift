/// A calendar event of systemd, as far as an expression can say it.
///
/// ```
/// Mon..Fri *-*-* 09:30 Europe/Berlin  -->  CRON_TZ=Europe/Berlin 30 9 * * 1-5
/// *-*~01 00:00:00                     -->  0 0 L * *
/// ```
/// In systemd day of the month and day of the week must both match, so where both are set the expression
/// begins its weekdays with `+`.
/// - Source: systemd.time(7), "Calendar Events".
public struct CalendarEvent: Hashable, Sendable {
    /// The fields of the expression, without a zone.
    public let fields: String

    /// The zone at its end, if it has one.
    public let zoneName: String?

    private static let shorthands = [
        "minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00",
        "weekly": "Mon *-*-* 00:00:00", "monthly": "*-*-01 00:00:00", "yearly": "*-01-01 00:00:00",
        "annually": "*-01-01 00:00:00", "quarterly": "*-01,04,07,10-01 00:00:00",
        "semiannually": "*-01,07-01 00:00:00", "semi-annually": "*-01,07-01 00:00:00",
        "bi-annually": "*-01,07-01 00:00:00", "biannually": "*-01,07-01 00:00:00",
    ]

    /// Reads an event.
    ///
    /// - Throws: ``CronError`` with the words that were not understood, or that no expression can say.
    public init(_ text: String) throws(CronError) {
        guard text.utf8.count <= 256 else {
            throw CronError(
                text: text, CronFault(.tooLong, at: 256..<text.utf8.count, "an event has at most 256 bytes"))
        }
        var words = text.split(separator: " ")
        guard let first = words.first else {
            throw CronError(text: text, CronFault(.empty, at: 0..<0, "the event is empty"))
        }
        let reader = CalendarReader(text: text)
        zoneName = Self.zone(&words)
        if words.count == 1, let full = Self.shorthands[first.lowercased()] {
            let meaning = CalendarReader(text: full)
            let parts = full.split(separator: " ")
            let hasDays = parts.count == 3
            fields = Self.join(
                time: try meaning.time(parts[parts.count - 1]),
                date: try meaning.date(parts[parts.count - 2]),
                weekdays: hasDays ? try meaning.weekdays(parts[0]) : "*")
            return
        }
        var weekdays = "*"
        if let word = words.first, let letter = word.utf8.first, letter | 0x20 >= 0x61, letter < 0x7B {
            weekdays = try reader.weekdays(words.removeFirst())
        }
        var date = CalendarReader.Day()
        if let word = words.first, word.contains("-") || word.contains("~") {
            date = try reader.date(words.removeFirst())
        }
        var time = CalendarReader.Time()
        if let word = words.first, word.contains(":") { time = try reader.time(words.removeFirst()) }
        if let word = words.first { throw reader.refuse(word, "this is no part of an event") }
        fields = Self.join(time: time, date: date, weekdays: weekdays)
    }

    /// Takes the zone off the end: `UTC`, or a word with a slash between letters.
    private static func zone(_ words: inout [Substring]) -> String? {
        guard words.count > 1, let last = words.last, let first = last.utf8.first, first < 0x7B,
            (0x41...0x5A).contains(first)
        else { return nil }
        guard last == "UTC" || last == "GMT" || last.contains("/") else { return nil }
        words.removeLast()
        return String(last)
    }

    private static func join(
        time: CalendarReader.Time, date: CalendarReader.Day, weekdays: String
    ) -> String {
        // Both must match; a star in front would say so too, and `+` always does.
        let mustForce = weekdays != "*" && date.day != "*"
        var fields = [time.minute, time.hour, date.day, date.month, (mustForce ? "+" : "") + weekdays]
        if date.year != "*" {
            fields = [time.second] + fields + [date.year]
        } else if time.second != "0" {
            fields = [time.second] + fields
        }
        return fields.joined(separator: " ")
    }
}
