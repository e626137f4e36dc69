/// One word, number or comma of a phrase, in lower case, with its place.
struct PhraseToken {
    var text: String
    var range: Range<Int>

    /// What people write for a word that the clauses know.
    private static let spellings = [
        "-": "to", "thru": "through", "till": "until", "til": "until", "'til": "until", "oclock": "o'clock",
        "bi-weekly": "biweekly", "m-f": "mon-fri",
    ]

    /// The words of `phrase`; commas stand alone, `&` is `and`, long dashes are short ones.
    static func split(_ phrase: String) -> [PhraseToken] {
        var tokens: [PhraseToken] = []
        var current: [UInt8] = []
        var start = 0
        func add(_ text: String, _ range: Range<Int>) {
            tokens.append(PhraseToken(text: spellings[text] ?? text, range: range))
        }
        func flush(_ end: Int) {
            guard !current.isEmpty else { return }
            add(String(decoding: current, as: UTF8.self), start..<end)
            current = []
        }
        let bytes = Array(phrase.utf8)
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            var width = 1
            switch byte {
            case 0x20, 0x09:
                flush(position)
            case UInt8(ascii: ","), UInt8(ascii: "&"):
                flush(position)
                add(byte == UInt8(ascii: "&") ? "and" : ",", position..<position + 1)
            default:
                if current.isEmpty { start = position }
                if let plain = plainMark(bytes[position...]) {
                    current.append(plain)
                    width = 3
                } else {
                    current.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
                }
            }
            position += width
        }
        flush(position)
        dropFullStop(&tokens)
        return tokens
    }

    /// `-` or `'` where typesetting made a longer mark of it.
    private static func plainMark(_ bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes.starts(with: [0xE2, 0x80]) else { return nil }
        switch bytes.dropFirst(2).first {
        case 0x92, 0x93, 0x94: return UInt8(ascii: "-")
        case 0x99: return UInt8(ascii: "'")
        default: return nil
        }
    }

    /// Takes the mark that ends a sentence off the last word.
    private static func dropFullStop(_ tokens: inout [PhraseToken]) {
        guard let last = tokens.last, let mark = last.text.last, ".!?".contains(mark),
            last.text != "a.m.", last.text != "p.m."
        else { return }
        tokens.removeLast()
        guard last.text.utf8.count > 1 else { return }
        tokens.append(
            PhraseToken(
                text: String(last.text.dropLast()),
                range: last.range.lowerBound..<last.range.upperBound - 1))
    }
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

/// Finds the name somebody meant.
package enum NearestName {
    /// The name of `names` that is closest to `name`, when it is close enough to be meant.
    ///
    /// Close enough is one slip (a letter more, less, other, or two swapped) for every three letters, and never as
    /// many as the name has letters. Else the shortest that begins with `name` and a mark, as `check.sh` with `check`.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let limit = max(1, name.count / 3)
        let distances = names.map { (name: $0, distance: distance(name, $0)) }
        let nearest = distances.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        let near = nearest.flatMap { name, distance in
            distance > 0 && distance <= limit && distance < name.utf8.count ? name : nil
        }
        return near ?? longer(name, among: distances.map(\.name))
    }

    private static func longer(_ name: String, among names: [String]) -> String? {
        guard name.utf8.count > 1 else { return nil }
        let longer = names.filter { other in
            other.hasPrefix(name) && other.dropFirst(name.count).first.map { ".-_".contains($0) } == true
        }
        return longer.min { ($0.count, $0) < ($1.count, $1) }
    }

    /// The zone that is closest to `name`, also where it is named by its town or in other letters.
    package static func ofZone(_ name: String, among zones: [String]) -> String? {
        let wanted = String(name.lowercased().map { $0 == " " ? "_" : $0 })
        let same = zones.first { $0.lowercased() == wanted || $0.lowercased().hasSuffix("/" + wanted) }
        if let near = same ?? of(name, among: zones) { return near }
        let towns = zones.map {
            (town: $0.lowercased().split(separator: "/").last.map(String.init) ?? "", zone: $0)
        }
        let near = of(wanted, among: towns.map(\.town))
        return towns.first { $0.town == near }?.zone
    }

    /// `Did you mean "backup"?`, when something like it exists.
    package static func hint(_ name: String, among names: some Sequence<String>) -> String? {
        of(name, among: names).map { "Did you mean \"\($0)\"?" }
    }

    /// The number of slips between two names.
    ///
    /// - Source: Damerau 1964, in the form that edits no letter twice (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
