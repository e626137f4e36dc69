import Timeline

/// One word, number or comma of a phrase, in lower case, with its place.
struct PhraseToken {
    var text: String
    var range: Range<Int>

    /// The words of `phrase`; commas stand alone.
    static func split(_ phrase: String) -> [PhraseToken] {
        var tokens: [PhraseToken] = []
        var current: [UInt8] = []
        var start = 0
        func flush(_ end: Int) {
            guard !current.isEmpty else { return }
            tokens.append(PhraseToken(text: String(decoding: current, as: UTF8.self), range: start..<end))
            current = []
        }
        var position = 0
        for byte in phrase.utf8 {
            switch byte {
            case 0x20, 0x09:
                flush(position)
            case UInt8(ascii: ","):
                flush(position)
                tokens.append(PhraseToken(text: ",", range: position..<position + 1))
            default:
                if current.isEmpty { start = position }
                current.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
            }
            position += 1
        }
        flush(position)
        return tokens
    }
}

/// What the clauses of a phrase said, before it is known whether a schedule can say it.
struct PhraseMeaning {
    struct Interval {
        var count: Int
        var unit: PhraseWords.Unit
        var range: Range<Int>
    }

    struct Time: Hashable {
        var hour: Int
        var minute = 0
        var second = 0
        /// An hour from 1 to 12 without am or pm, which "evening" makes one after noon.
        var isOpen = false
        /// Am, pm or the part of the day was said with it.
        var isHalved = false
    }

    struct Window {
        var from: Time
        var to: Time?
        /// "through 17:45": the end itself is meant too.
        var isInclusive: Bool
        var range: Range<Int>
    }

    /// A day that comes once.
    enum Once {
        case today
        case tomorrow
        case next(weekday: Int)
        case this(weekday: Int)
        case date(CivilDate)
        case later(Duration)
    }

    enum Join {
        case or
        case and
    }

    var interval: Interval?
    /// "every day" beside an interval that is shorter.
    var isEveryDay = false
    var times: [Time] = []
    var timesRange = 0..<0
    /// "morning", "afternoon", "evening" or "night", and where it stands.
    var partOfDay: (word: String, range: Range<Int>)?
    var minuteMarks: UInt64 = 0
    var window: Window?
    /// Where counting days or weeks begins, and where the phrase says so.
    var firstDay: (date: CivilDate, range: Range<Int>)?
    /// An hour from 12 to 5 that was said to be at night.
    var smallHours: Range<Int>?
    var weekdays: UInt64 = 0
    /// Terms of the day-of-week field such as `5#2`.
    var weekdayForms: [String] = []
    var monthDays: UInt64 = 0
    /// Terms of the day-of-month field such as `LW`.
    var monthDayForms: [String] = []
    var join: Join?
    var months: UInt64 = 0
    /// A month and a day without a word that says how often.
    var bareDate: Range<Int>?
    var once: Once?
    /// What stands for ``once`` in the phrase.
    var onceRange = 0..<0
    /// The days of the week that "except" takes out, and where it says so.
    var exceptions: (weekdays: UInt64, range: Range<Int>)?
    /// A schedule that is not of the calendar.
    var event: Schedule?

    /// Whether it is every so many days or weeks, more than one.
    var countsDays: Bool {
        guard let interval, interval.count > 1 else { return false }
        return interval.unit == .day || interval.unit == .week
    }

    var hasWeekdays: Bool { weekdays != 0 || !weekdayForms.isEmpty }
    var hasMonthDays: Bool { monthDays != 0 || !monthDayForms.isEmpty }
}

/// What single words of a phrase stand for.
enum PhraseWords {
    /// The unit in seconds; months and years have none of fixed length.
    enum Unit {
        case second, minute, hour, day, week, month, year

        var name: String { "\(self)" }

        /// Whether it is a day or more.
        var isLong: Bool { self != .second && self != .minute && self != .hour }

        /// Seconds of it, where that is always the same.
        var seconds: Int? {
            switch self {
            case .second: 1
            case .minute: 60
            case .hour: 3600
            case .day: 86_400
            case .week: 604_800
            case .month, .year: nil
            }
        }
    }

    static func unit(_ word: String) -> Unit? {
        switch word {
        case "second", "seconds", "sec", "secs": .second
        case "minute", "minutes", "min", "mins", "m": .minute
        case "hour", "hours", "hr", "hrs": .hour
        case "day", "days": .day
        case "week", "weeks": .week
        case "month", "months": .month
        case "year", "years": .year
        default: nil
        }
    }

    private static let numbers = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
    ]

    /// A number in digits or words.
    static func number(_ word: String) -> Int? {
        if word.utf8.count <= 4, word.utf8.allSatisfy({ $0 &- 0x30 < 10 }) { return Int(word) }
        if let ten = tens[word] { return ten }
        if let (ten, rest) = compound(word), let one = numbers.firstIndex(of: rest), one < 10 {
            return ten + one
        }
        return numbers.firstIndex(of: word)
    }

    private static let tens = ["twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60]

    /// `forty-five` as 40 and `five`.
    private static func compound(_ word: String) -> (ten: Int, rest: String)? {
        guard let dash = word.firstIndex(of: "-"), let ten = tens[String(word[..<dash])], ten < 60 else {
            return nil
        }
        let rest = String(word[word.index(after: dash)...])
        return rest == "zero" ? nil : (ten, rest)
    }

    private static let ordinals = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
        "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
        "eighteenth", "nineteenth", "twentieth",
    ]

    /// `1st`, `22nd`, `first`, `twenty-first`.
    static func ordinal(_ word: String) -> Int? {
        if let place = ordinals.firstIndex(of: word) { return place + 1 }
        if word == "thirtieth" { return 30 }
        if let (ten, rest) = compound(word), let one = ordinals.firstIndex(of: rest), one < 9 {
            return ten + one + 1
        }
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        guard digits.utf8.count <= 3, let number = Int(digits) else { return nil }
        return word == CronWords.ordinal(number) ? number : nil
    }

    /// The day of week, 0 is Sunday, of its name, its plural or its usual short forms.
    static func weekday(_ word: String) -> Int? {
        switch word {
        case "tues": return 2
        case "weds": return 3
        case "thur", "thurs": return 4
        default: break
        }
        return CronNames.weekdays.firstIndex { name in
            let name = name.lowercased()
            return word == name || word == name + "s" || word == name.prefix(3)
        }
    }

    /// The month, 1-12, of its name or its first three letters.
    static func month(_ word: String) -> Int? {
        if word == "sept" { return 9 }
        return CronNames.months.firstIndex { $0.lowercased() == word || $0.lowercased().prefix(3) == word }
            .map { $0 + 1 }
    }

    /// `morning` for `mornings`; `nil` when it is no part of the day.
    static func partOfDay(_ word: String) -> String? {
        let single = word.hasSuffix("s") ? String(word.dropLast()) : word
        return ["morning", "afternoon", "evening", "night"].contains(single) ? single : nil
    }

    static func isWeekdays(_ word: String) -> Bool { word == "weekday" || word == "weekdays" }

    static func isWeekend(_ word: String) -> Bool { word == "weekend" || word == "weekends" }
}
