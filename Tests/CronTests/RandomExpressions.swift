import Cron
import TestSupport

/// Makes expressions by the grammar, most of them sensible and some of them odd.
struct RandomExpressions {
    var random: SeededGenerator

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }

    mutating func number(_ low: Int, _ high: Int) -> Int { Int.random(in: low...high, using: &random) }

    mutating func term(_ low: Int, _ high: Int) -> String {
        let first = number(low, high)
        switch number(0, 9) {
        case 0...4: return "\(first)"
        case 5: return "*/\(number(1, high))"
        case 6: return "\(first)-\(number(first, high))"
        case 7: return "\(low)-\(high)"
        default: return "\(first)-\(number(first, high))/\(number(1, max(1, (high - low) / 2)))"
        }
    }

    mutating func field(_ low: Int, _ high: Int, openIn ten: Int) -> String {
        if number(0, 9) < ten { return "*" }
        return (0..<pick([1, 1, 1, 2, 3])).map { _ in term(low, high) }.joined(separator: ",")
    }

    mutating func monthDay() -> String {
        switch number(0, 19) {
        case 0: return "L"
        case 1: return "L-\(number(0, 30))"
        case 2: return "\(number(1, 31))W"
        case 3: return "LW"
        case 4: return "L-\(number(0, 30))W"
        case 5: return "?"
        case 6: return "L,\(number(1, 31))"
        default: return field(1, 31, openIn: 5)
        }
    }

    mutating func weekday() -> String {
        switch number(0, 19) {
        case 0: return "\(number(0, 7))L"
        case 1: return "\(number(0, 7))#\(number(1, 5))"
        case 2: return "+\(number(0, 6))"
        case 3: return "MON#\(number(1, 5)),FRI#L"
        case 4: return "\(pick(["SUN", "MON", "FRI"]))-\(pick(["SAT", "SUN"]))"
        default: return field(0, 7, openIn: 5)
        }
    }

    /// An expression of 5 fields, or of 6 and 7 when `seconds` allows it.
    mutating func expression(seconds: Bool = true) -> String {
        var fields = [
            field(0, 59, openIn: 2), field(0, 23, openIn: 3), monthDay(), field(1, 12, openIn: 7), weekday(),
        ]
        guard seconds, number(0, 9) < 4 else { return fields.joined(separator: " ") }
        fields.insert(number(0, 9) < 5 ? "0" : field(0, 59, openIn: 1), at: 0)
        if number(0, 9) < 3 { fields.append("\(number(1990, 2030))-\(number(2031, 2199))/\(number(1, 4))") }
        return fields.joined(separator: " ")
    }

    mutating func options() -> CronOptions {
        CronOptions(
            dayRule: pick([.vixie, .vixie, .ocps]), gap: pick([.runAfter, .runAfter, .skip]),
            overlap: pick([.first, .first, .last, .both]),
            jobClass: pick([.vixie, .vixie, .fixed, .wildcard]))
    }
}
