import Cron
import TestSupport
import Testing
import Timeline

/// The occurrences after a local time, as local times: `next("0 0 * * 5-7", "2025-01-01T00:00", 3)`.
func next(
    _ text: String, _ start: String, _ count: Int = 3, zone name: String = "UTC",
    options: CronOptions = CronOptions()
) throws -> [String] {
    try occurrences(start, count, zone: name) {
        try CronExpression(text, options: options).occurrences(after: $0, in: $1)
    }
}

/// The occurrences before a local time, latest first.
func previous(
    _ text: String, _ start: String, _ count: Int = 3, zone name: String = "UTC",
    options: CronOptions = CronOptions()
) throws -> [String] {
    try occurrences(start, count, zone: name) {
        try CronExpression(text, options: options).occurrences(before: $0, in: $1)
    }
}

private func occurrences(
    _ start: String, _ count: Int, zone name: String,
    _ find: (Moment, ZoneRules) throws -> CronOccurrences
) throws -> [String] {
    let zone = name == "UTC" ? ZoneRules.utc : try SystemZones.zone(name)
    return try find(Moment(iso8601: start, in: zone), zone).prefix(count).map { shown($0, zone) }
}

/// `2025-01-03 00:00`, with seconds and offset only where they say something.
private func shown(_ moment: Moment, _ zone: ZoneRules) -> String {
    let local = CivilTime(moment, in: zone)
    var text = local.date.iso8601 + " " + local.iso8601.dropFirst(local.date.iso8601.count + 1).prefix(5)
    if local.second != 0 { text += ":" + (local.second < 10 ? "0" : "") + String(local.second) }
    return zone.name == "UTC" ? text : text + moment.iso8601(in: zone).suffix(6)
}

/// Zones read once and kept, for suites that use the same few often.
final class ZoneShelf {
    private var zones: [String: ZoneRules] = [:]

    func zone(_ name: String) throws -> ZoneRules {
        if let zone = zones[name] { return zone }
        let zone = name == "UTC" ? .utc : try SystemZones.zone(name)
        zones[name] = zone
        return zone
    }
}

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
