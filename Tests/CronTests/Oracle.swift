import TestSupport
import Testing
import Timeline

@testable import Cron

@Suite struct `the search agrees with asking every minute` {
    static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Antarctica/Troll",
        "America/Sao_Paulo", "Africa/Casablanca", "Europe/Dublin", "Pacific/Apia", "Asia/Beirut", "UTC",
    ]

    /// Two years of minutes with both changes, for a handful of expressions, both ways.
    @Test(arguments: [
        "0,30 1-3 * * *", "*/20 * * * *", "15 2 1-7 * 1", "59 23 L * *",
    ]) func `over two years`(text: String) throws {
        let zone = try SystemZones.zone("America/New_York")
        let expression = try CronExpression(text)
        let brute = BruteForce(expression, zone: zone)
        let start = try Moment(iso8601: "2025-01-01T00:00:00Z").seconds
        let end = try Moment(iso8601: "2027-01-01T00:00:00Z").seconds
        let wanted = stride(from: start, to: end, by: 60).filter(brute.occurs(at:)).map(Moment.init(seconds:))
        let first = Moment(seconds: start - 1)
        let found = Array(expression.occurrences(after: first, in: zone).prefix { $0.seconds < end })
        #expect(found == wanted)
        let backwards = expression.occurrences(before: Moment(seconds: end), in: zone)
        #expect(Array(backwards.prefix { $0.seconds >= start }) == wanted.reversed())
        #expect(
            expression.count(in: Moment(seconds: start)..<Moment(seconds: end), zone: zone) == wanted.count)
    }

    /// Three days around clock changes, second by second where the expression has seconds.
    @Test(arguments: zones) func `around the clock changes`(name: String) throws {
        let zone = name == "UTC" ? ZoneRules.utc : try SystemZones.zone(name)
        let seed: UInt64 = 20_261
        var maker = RandomExpressions(random: SeededGenerator(seed: seed ^ UInt64(name.utf8.count)))
        for _ in 0..<50 {
            let text = maker.expression(seconds: false)
            let expression = try CronExpression(text, options: maker.options())
            let year = maker.number(2008, 2040)
            let around = zone.nextTransition(
                after: Moment(seconds: CivilDate(year: year, month: 1, day: 1).localSeconds))
            let middle = around?.seconds ?? CivilDate(year: year, month: 6, day: 1).localSeconds
            try compare(
                expression, zone, from: middle - 90_000, through: middle + 90_000, step: 60, seed: seed)
        }
        for _ in 0..<6 {
            let expression = try CronExpression(
                "\(maker.field(0, 59, openIn: 0)) \(maker.expression(seconds: false))",
                options: maker.options())
            let around = zone.nextTransition(after: Moment(seconds: 1_740_000_000))
            let middle = around?.seconds ?? 1_740_000_000
            try compare(expression, zone, from: middle - 8000, through: middle + 8000, step: 1, seed: seed)
        }
    }

    private func compare(
        _ expression: CronExpression, _ zone: ZoneRules, from: Int64, through: Int64, step: Int64,
        seed: UInt64
    ) throws {
        let brute = BruteForce(expression, zone: zone)
        // Clock changes lie on whole minutes in these years, so minutes of the epoch are enough.
        let start = from - from % 60
        let wanted = stride(from: start, to: through, by: Int(step)).filter(brute.occurs(at:))
        let words: Comment = "\(expression.text) in \(zone.name) around \(from), seed \(seed)"
        let forward = expression.occurrences(after: Moment(seconds: start - 1), in: zone)
        #expect(forward.prefix { $0.seconds < through }.map(\.seconds) == wanted, words)
        let backward = expression.occurrences(before: Moment(seconds: through), in: zone)
        #expect(backward.prefix { $0.seconds >= start }.map(\.seconds) == wanted.reversed(), words)
        let range = Moment(seconds: start)..<Moment(seconds: through)
        #expect(expression.count(in: range, zone: zone) == wanted.count, words)
        if let last = wanted.last { #expect(expression.contains(Moment(seconds: last), in: zone), words) }
    }
}

extension CivilDate {
    /// Local seconds of its midnight.
    var localSeconds: Int64 { CivilTime(self).localSeconds }
}

/// The rules of occurrence said once more, as slowly and plainly as possible: every second of a local day is
/// asked, every clock change is looked up by walking.
struct BruteForce {
    let masks: CronMasks
    let isFixed: Bool
    let gap: CronOptions.Gap
    let overlap: CronOptions.Overlap
    let zone: ZoneRules

    init(_ expression: CronExpression, zone: ZoneRules) {
        masks = expression.plan.masks
        isFixed = expression.isFixedTime
        gap = expression.gap
        overlap = expression.overlap
        self.zone = zone
    }

    /// Whether a clock that shows `time` shows a matching one.
    func matches(_ time: CivilTime) -> Bool {
        func has(_ bits: UInt64, _ value: Int) -> Bool { bits >> UInt64(value) & 1 == 1 }
        return has(masks.seconds, time.second) && has(masks.minutes, time.minute)
            && has(masks.hours, time.hour) && has(masks.months, time.date.month)
            && masks.years.contains(time.date.year) && matches(time.date)
    }

    private func matches(_ date: CivilDate) -> Bool {
        let length = CivilDate.days(inMonth: date.month, of: date.year)
        func has(_ bits: UInt64, _ value: Int) -> Bool { value >= 0 && bits >> UInt64(value) & 1 == 1 }
        var byDate = has(masks.monthDays, date.day) || has(masks.lastDays, length - date.day)
        for target in 1...length
        where has(masks.nearestDays, target) || has(masks.nearestLastDays, length - target) {
            byDate = byDate || nearestWorkday(to: target, like: date, length: length) == date.day
        }
        let isLast = date.day + 7 > length
        let byWeekday =
            has(masks.nthWeekdays, (date.day - 1) / 7 * 7 + date.weekday)
            || isLast && has(masks.lastWeekdays, date.weekday)
        return masks.eitherDay ? byDate || byWeekday : byDate && byWeekday
    }

    private func nearestWorkday(to target: Int, like date: CivilDate, length: Int) -> Int? {
        // In order of nearness; of two equally near ones the earlier cannot occur (a weekend is two days).
        for distance in 0...2 {
            for day in [target - distance, target + distance] where day >= 1 && day <= length {
                let weekday = CivilDate(year: date.year, month: date.month, day: day).weekday
                if weekday != 0, weekday != 6 { return day }
            }
        }
        return nil
    }

    /// Whether the second `seconds` after the epoch is an occurrence.
    func occurs(at seconds: Int64) -> Bool {
        let offset = Int64(zone.offsetSeconds(at: Moment(seconds: seconds)))
        let local = seconds + offset
        if matches(CivilTime(localSeconds: local)) {
            guard isFixed else { return true }
            switch zone.instants(of: local) {
            case .overlap(let first, let second):
                switch overlap {
                case .both: return true
                case .first: if first.seconds == seconds { return true }
                case .last: if second.seconds == seconds { return true }
                }
            case .unique, .gap:
                return true
            }
        }
        guard isFixed, gap == .runAfter else { return false }
        let before = Int64(zone.offsetSeconds(at: Moment(seconds: seconds - 1)))
        let jump = offset - before
        guard jump > 0, jump <= 3 * 3600 else { return false }
        return (0..<jump).contains { matches(CivilTime(localSeconds: seconds + before + $0)) }
    }
}
