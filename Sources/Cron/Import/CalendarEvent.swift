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

/// Reads the three parts of a calendar event into fields of an expression.
struct CalendarReader {
    /// Year, month and day of the month.
    struct Day {
        var year = "*"
        var month = "*"
        var day = "*"
    }

    /// Midnight where no time is given.
    struct Time {
        var hour = "0"
        var minute = "0"
        var second = "0"
    }

    /// The whole event, for the places of faults.
    let text: String

    /// `Mon,Wed..Fri`: the numbers of the weekdays.
    func weekdays(_ word: Substring) throws(CronError) -> String {
        var days: Set<Int> = []
        // systemd allows a comma behind the last day.
        let list = word.last == "," ? word.dropLast() : word
        for term in list.split(separator: ",", omittingEmptySubsequences: false) {
            let dots = term.firstRange(of: "..")
            let dash = dots == nil ? term.firstIndex(of: "-") : nil
            let low = dots.map { term[..<$0.lowerBound] } ?? dash.map { term[..<$0] } ?? term
            let high =
                dots.map { term[$0.upperBound...] } ?? dash.map { term[term.index(after: $0)...] } ?? term
            let first = try weekday(low)
            let last = try weekday(high)
            guard first <= last else { throw refuse(term, "the weekdays run backwards") }
            days.formUnion(first...last)
        }
        if days.count == 7 { return "*" }
        // Monday is 1 and Sunday 7 here; an expression calls Sunday 0.
        let numbers = days.sorted()
        if let first = numbers.first, let last = numbers.last, numbers.count > 2,
            last - first + 1 == numbers.count, last < 7
        {
            return "\(first)-\(last)"
        }
        return numbers.map { $0 % 7 }.sorted().map(String.init).joined(separator: ",")
    }

    private func weekday(_ word: Substring) throws(CronError) -> Int {
        let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        let name = word.lowercased()
        guard let place = names.firstIndex(where: { $0 == name || $0.prefix(3) == name }) else {
            throw refuse(word, "\"\(word)\" is no day of the week")
        }
        return place + 1
    }

    /// `2026-*-01`, `12-24`, `*-02~01`.
    func date(_ word: Substring) throws(CronError) -> Day {
        let tilde = word.firstIndex(of: "~")
        var parts = word.split(separator: "-", omittingEmptySubsequences: false)
        if let tilde {
            parts = word[..<tilde].split(separator: "-", omittingEmptySubsequences: false)
            parts.append(word[word.index(after: tilde)...])
        }
        guard parts.count == 2 || parts.count == 3 else { throw refuse(word, "this is no date") }
        var day = Day()
        if parts.count == 3 { day.year = try field(parts.removeFirst(), 1970...2199, isYear: true) }
        day.month = try field(parts[0], 1...12)
        day.day = try tilde == nil ? field(parts[1], 1...31) : lastDays(parts[1])
        return day
    }

    /// Days counted from the end of the month: 1 is the last one.
    private func lastDays(_ word: Substring) throws(CronError) -> String {
        var forms: [String] = []
        for term in word.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = number(term), (1...31).contains(number) else {
                throw refuse(term, "no expression can say this part of a month's end", .notExpressible)
            }
            forms.append(number == 1 ? "L" : "L-\(number - 1)")
        }
        return forms.joined(separator: ",")
    }

    /// `09:30`, `*:0/15:30`.
    func time(_ word: Substring) throws(CronError) -> Time {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { throw refuse(word, "this is no time of day") }
        var time = Time()
        time.hour = try field(parts[0], 0...23)
        time.minute = try field(parts[1], 0...59)
        guard parts.count == 3 else { return time }
        var second = parts[2]
        // A fraction of zero changes nothing; another one can't be expressed.
        if let dot = second.firstIndex(of: "."), second.firstRange(of: "..") == nil {
            guard second[dot...].dropFirst().allSatisfy({ $0 == "0" }) else {
                throw refuse(second, "no expression has parts of a second", .notExpressible)
            }
            second = second[..<dot]
        }
        time.second = try field(second, 0...59)
        return time
    }

    /// `*`, or a list of `5`, `1..5`, `0/15` and `1..9/2`.
    private func field(
        _ word: Substring, _ limits: ClosedRange<Int>, isYear: Bool = false
    ) throws(CronError) -> String {
        if word == "*" { return "*" }
        var terms: [String] = []
        for term in word.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = term.split(separator: "/", omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count) else { throw refuse(term, "this is no value") }
            let step = parts.count == 2 ? number(parts[1]) : 1
            guard let step, step > 0 else { throw refuse(parts[1], "this is no step") }
            let dots = parts[0].firstRange(of: "..")
            let low = try value(dots.map { parts[0][..<$0.lowerBound] } ?? parts[0], limits, isYear)
            var high = parts.count == 2 ? limits.upperBound : low
            if let dots { high = try value(parts[0][dots.upperBound...], limits, isYear) }
            guard low <= high else { throw refuse(term, "the range runs backwards") }
            switch (low == high, step) {
            case (true, _): terms.append("\(low)")
            case (false, 1): terms.append("\(low)-\(high)")
            case (false, _):
                // A larger step means the first value alone, and an expression's step has its limits.
                terms.append(step > high - low ? "\(low)" : "\(low)-\(high)/\(step)")
            }
        }
        return terms.joined(separator: ",")
    }

    private func value(
        _ word: Substring, _ limits: ClosedRange<Int>, _ isYear: Bool
    ) throws(CronError) -> Int {
        guard var value = number(word) else { throw refuse(word, "\"\(word)\" is no number") }
        if isYear, word.utf8.count <= 2 { value += value < 70 ? 2000 : 1900 }
        guard limits.contains(value) else {
            throw refuse(
                word, "\(value) is outside \(limits.lowerBound)-\(limits.upperBound)", .outOfRange)
        }
        return value
    }

    private func number(_ word: Substring) -> Int? {
        let isNumber =
            !word.isEmpty && word.utf8.count <= 4 && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? Int(word) : nil
    }

    /// The refusal of `word`, a part of ``text``.
    func refuse(_ word: Substring, _ message: String, _ kind: CronFault.Kind = .notUnderstood) -> CronError {
        let start = text.utf8.distance(from: text.startIndex, to: word.startIndex)
        return CronError(
            text: text, CronFault(kind, at: start..<start + word.utf8.count, message))
    }
}
