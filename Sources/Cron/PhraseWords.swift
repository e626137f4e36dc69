/// What single words of a phrase stand for.
enum PhraseWords {
    /// The unit in seconds; months and years have none of fixed length.
    enum Unit {
        case second, minute, hour, day, week, month, year

        var name: String { "\(self)" }

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
        switch word {
        case "thirty": return 30
        case "forty": return 40
        case "fifty": return 50
        case "sixty": return 60
        default: return numbers.firstIndex(of: word)
        }
    }

    private static let ordinals = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
        "ninth", "tenth",
    ]

    /// `1st`, `22nd`, `first`.
    static func ordinal(_ word: String) -> Int? {
        if let place = ordinals.firstIndex(of: word) { return place + 1 }
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

    static func isWeekdays(_ word: String) -> Bool { word == "weekday" || word == "weekdays" }

    static func isWeekend(_ word: String) -> Bool { word == "weekend" || word == "weekends" }
}
