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
