import TestSupport
import Testing
import Timeline

@testable import Cron

@Suite struct `any expression in any zone` {
    static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Antarctica/Troll",
        "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "Pacific/Kiritimati", "Asia/Kathmandu",
    ]

    private func forEachCase(
        _ count: Int, seed: UInt64, _ body: (CronExpression, ZoneRules, Moment, Comment) throws -> Void
    ) throws {
        let zones = try Self.zones.map(SystemZones.zone) + [.utc]
        var maker = RandomExpressions(random: SeededGenerator(seed: seed))
        for _ in 0..<count {
            let text = maker.expression()
            let expression = try CronExpression(text, options: maker.options())
            let zone = maker.pick(zones)
            var moment = Moment(seconds: Int64.random(in: -100_000...7_300_000_000, using: &maker.random))
            if maker.number(0, 1) == 1, let change = zone.nextTransition(after: moment) {
                moment = change + .seconds(maker.number(-8000, 8000))
            }
            if maker.number(0, 3) == 0 { moment = moment + .microseconds(maker.number(1, 999_999)) }
            try body(expression, zone, moment, "\(text) in \(zone.name) at \(moment.iso8601), seed \(seed)")
        }
    }

    @Test func `moves strictly forward and strictly backward`() throws {
        try forEachCase(4000, seed: 1) { expression, zone, moment, words in
            if let next = expression.next(after: moment, in: zone) {
                #expect(next > moment, words)
                #expect(expression.contains(next, in: zone), words)
                let back = expression.previous(before: next, in: zone)
                #expect(back.map { $0 <= moment } ?? true, words)
                #expect(expression.next(after: next - .seconds(1), in: zone) == next, words)
            }
            if let previous = expression.previous(before: moment, in: zone) {
                #expect(previous < moment, words)
                let forth = expression.next(after: previous, in: zone)
                #expect(forth.map { $0 >= moment } ?? true, words)
                #expect(expression.previous(before: previous + .seconds(1), in: zone) == previous, words)
            }
        }
    }

    @Test func `gives backwards what it gave forwards`() throws {
        try forEachCase(1500, seed: 2) { expression, zone, moment, words in
            let forward = Array(expression.occurrences(after: moment, in: zone).prefix(20))
            guard let last = forward.last else { return }
            let backward = expression.occurrences(before: last + .microseconds(1), in: zone).prefix(
                forward.count)
            #expect(Array(backward) == forward.reversed(), words)
            let range = moment + .microseconds(1)..<last + .microseconds(1)
            #expect(expression.count(in: range, zone: zone) == forward.count, words)
        }
    }

    @Test func `is equal to its canonical text`() throws {
        try forEachCase(3000, seed: 3) { expression, _, _, _ in
            let options = CronOptions(gap: expression.gap, overlap: expression.overlap)
            let again = try CronExpression(expression.description, options: options)
            #expect(again.plan.masks == expression.plan.masks, "\(expression.text) became \(expression)")
            #expect(again.description == expression.description)
            let line = Schedule.cron(expression, zone: "UTC")
            #expect(try Schedule(text: line.text) == line, "\(expression.text) became \(line.text)")
        }
    }

    /// Checking reads every field with all care, parsing takes a short cut through plain ones.
    @Test func `means the same to a check as to a parse`() throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: 9))
        let alphabet = Array("0123456789*/,- 7L#\t".utf8)
        for round in 0..<6000 {
            var bytes = Array(maker.expression().utf8)
            if round % 2 == 1 {
                bytes[maker.number(0, bytes.count - 1)] = maker.pick(alphabet)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            var options = maker.options()
            options.dialect = maker.pick([.unix, .unix, .quartz])
            options.isLenient = round % 3 == 0
            let check = CronCheck(text, options: options)
            do {
                let parsed = try CronExpression(text, options: options)
                #expect(check.expression == parsed, "\(text)")
                #expect(check.expression?.isFixedTime == parsed.isFixedTime, "\(text)")
            } catch {
                #expect(check.faults == error.faults, "\(text)")
            }
        }
    }

    @Test func `never fires exactly when no day of 400 years matches`() throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: 4))
        for _ in 0..<1500 {
            let text = "0 0 \(maker.monthDay()) \(maker.field(1, 12, openIn: 2)) \(maker.weekday())"
            let expression = try CronExpression(text)
            let found = expression.next(after: .distantPast, in: .utc)
            #expect((found == nil) == expression.neverFires, "\(text)")
        }
        for _ in 0..<300 {
            let (first, span) = (maker.number(1970, 2190), maker.number(0, 9))
            let days = "\(maker.monthDay()) \(maker.field(1, 12, openIn: 2)) +\(maker.number(0, 6))#5"
            let text = "0 0 0 \(days) \(first)-\(first + span)"
            let expression = try CronExpression(text)
            let found = expression.next(after: .distantPast, in: .utc)
            #expect((found == nil) == expression.neverFires, "\(text)")
        }
        for (text, never) in [
            ("0 0 30 2 *", true), ("0 0 31 2 MON", false), ("0 0 0 29 2 ? 2021-2023", true),
        ] {
            #expect(try CronExpression(text).neverFires == never, "\(text)")
        }
    }

    @Test func `ends for any bytes`() throws {
        var random = SeededGenerator(seed: 5)
        var good = 0
        let alphabet = Array("0123456789*/,-?LWH#+ \t@CRON_TZ=UTCMONJANabz.;\u{A0}é".utf8)
        for _ in 0..<25_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                bytes.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let check = CronCheck(text, options: CronOptions(isLenient: bytes.count % 2 == 0, seed: "x"))
            for fault in check.faults {
                #expect(fault.range.lowerBound >= 0 && fault.range.upperBound <= text.utf8.count, "\(text)")
            }
            #expect((check.expression == nil) != check.faults.isEmpty, "\(text)")
            if let expression = check.expression {
                good += 1
                _ = expression.next(after: Moment(seconds: 1_800_000_000), in: .utc)
            }
        }
        for _ in 0..<10_000 {
            var maker = RandomExpressions(random: random)
            var bytes = Array(maker.expression().utf8)
            random = maker.random
            bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                alphabet[
                    Int.random(in: 0..<alphabet.count, using: &random)]
            let text = String(decoding: bytes, as: UTF8.self)
            if let expression = CronCheck(text).expression {
                good += 1
                _ = expression.next(after: Moment(seconds: 1_800_000_000), in: .utc)
            }
        }
        #expect(good > 500)
    }
}

@Suite struct `a schedule in memory` {
    @Test func `takes 72 bytes, whatever it is`() {
        #expect(MemoryLayout<Schedule>.stride == 72)
    }

    @Test(arguments: [
        "* * * * *", "0 0 31 2 *", "*/10 * * * * *", "59 59 23 31 12 7 2199", "0 0 0 1 1 * 1970,2025",
        "0 0 0 1 1 * 1970-2199/3", "0 0 0 1 1 * 2000-2055", "0 0 0 1 1 * 2000-2056", "0 0 L,L-30 * *",
        "0 0 31W * *", "0 0 LW * *", "0 0 L-30W * *", "0 0 L,LW,15W * *", "5 0 0 L * *", "0 0 0 L * * 2030",
        "5 0 0 1 * * 2030", "0 0 1-31 * 0#5,5L", "0 0 13 * +FRI", "0 0 13 * FRI",
    ]) func `means what was read`(text: String) throws {
        try expectSame(text)
    }

    @Test func `means what was read, for random texts and policies`() throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: 72))
        for _ in 0..<5000 { try expectSame(maker.expression(), maker.options()) }
    }

    private func expectSame(_ text: String, _ options: CronOptions = CronOptions(isLenient: true)) throws {
        var parser = CronParser(options: options)
        parser.parse(text.utf8.span, knowsZone: nil)
        let expression = try CronExpression(text, options: options)
        #expect(expression.plan.masks == parser.masks, "\(text)")
        #expect(expression.plan.shape == CronPlan.Shape(of: parser.masks), "\(text)")
        #expect(expression.gap == options.gap && expression.overlap == options.overlap, "\(text)")
        #expect(try expression == CronExpression("  " + text, options: options), "\(text)")
    }
}
