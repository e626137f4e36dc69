import TestSupport
import Testing
import Timeline

@testable import Cron

@Suite struct `several schedules together` {
    let shelf = ZoneShelf()
    let start = Moment(seconds: 1_774_746_000)

    private func cron(_ text: String, _ zone: String = "UTC") throws -> Schedule {
        .cron(try CronExpression(text), zone: zone)
    }

    @Test func `run at the times of all, and once where they coincide`() throws {
        let list = Schedule.several(
            try ScheduleList([try cron("0 9,12 * * *"), try cron("0 12 * * 0"), try cron("30 17 * * 1-5")]))
        let from = try Moment(iso8601: "2026-11-21T00:00:00Z")
        let slots = list.slots(after: from, through: from + .seconds(3 * 86_400), in: .utc, limit: 99)
        let times = slots.map { String($0.iso8601.dropFirst(8).prefix(8)) }
        #expect(
            times == ["21T09:00", "21T12:00", "22T09:00", "22T12:00", "23T09:00", "23T12:00", "23T17:30"])
        #expect(list.slotCount(after: from, through: from + .seconds(3 * 86_400), in: .utc) == 7)
        #expect(list.lastSlot(through: from + .seconds(3 * 86_400), in: .utc) == slots.last)
    }

    @Test func `follow the zone of each`() throws {
        let list = Schedule.several(
            try ScheduleList([
                try cron("0 9 * * *", "Europe/Berlin"), try cron("0 9 * * *", "America/New_York"),
                try cron("TZ=Asia/Tokyo 0 9 * * *", "Europe/Berlin"),
            ]))
        #expect(list.zoneNames == ["Europe/Berlin", "America/New_York", "Asia/Tokyo"])
        let rules = try Dictionary(uniqueKeysWithValues: list.zoneNames.map { ($0, try shelf.zone($0)) })
        let zones = ScheduleZones(of: list, in: rules)
        let from = try Moment(iso8601: "2026-03-09T23:00:00Z")
        let lines = list.preview(after: from, in: zones, count: 3).map(\.moment.iso8601)
        // New York's clocks are ahead already, Berlin's are not.
        #expect(lines == ["2026-03-10T00:00:00Z", "2026-03-10T08:00:00Z", "2026-03-10T13:00:00Z"])
        #expect(
            list.words(in: zones.first)
                == "At 09:00 every day, Europe/Berlin time; at 09:00 every day, America/New_York time; "
                + "at 09:00 every day, Asia/Tokyo time")
    }

    @Test func `show what a clock change does to one of them`() throws {
        let berlin = try shelf.zone("Europe/Berlin")
        let list = Schedule.several(
            try ScheduleList([
                try cron("0 3 * * *", berlin.name), try cron("30 2 * * *", berlin.name),
                try cron("*/20 2 * * *", berlin.name),
            ]))
        let lines = list.preview(after: try Moment(iso8601: "2026-03-28T22:00:00Z"), in: berlin, count: 2)
        // 02:00, 02:20 and 02:40 do not exist; 02:30 runs at 03:00, where another member runs anyway.
        #expect(lines.map(\.isSlot) == [false, true, true])
        #expect(lines[1].moment.iso8601(in: berlin) == "2026-03-29T03:00:00+02:00")
        #expect(lines[1].noteWords == "moved from 02:30, which the clock skips")
        #expect(lines[2].moment.iso8601(in: berlin) == "2026-03-30T02:00:00+02:00")
    }

    /// Lists of two to five members of every kind in two zones, around clock changes: each minute is asked of each
    /// member by itself.
    @Test(arguments: [1 as UInt64, 2, 3, 4]) func `agree with asking every minute`(seed: UInt64) throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: seed))
        for round in 0..<60 {
            let names = [maker.pick(Oracle.zones), maker.pick(Oracle.zones)]
            let rules = try Dictionary(
                names.map { ($0, try shelf.zone($0)) }, uniquingKeysWith: { first, _ in first })
            let year = Moment(
                seconds: CivilDate(year: maker.number(2010, 2035), month: 1, day: 1).localSeconds)
            let middle = rules[names[0]]?.nextTransition(after: year)?.seconds ?? year.seconds
            let from = middle - middle % 60 - 90_000
            let members = try (0..<maker.number(2, 5)).map { place in
                try Member(&maker, zone: maker.pick(names), rules: rules, near: from, isGrid: place == 3)
            }
            guard let list = try? ScheduleList(members.map(\.schedule)) else { continue }
            let schedule = Schedule.several(list)
            let zones = ScheduleZones(of: schedule, in: rules)
            let (first, last) = (Moment(seconds: from), Moment(seconds: from + 180_000))
            let wanted = stride(from: from + 60, through: last.seconds, by: 60)
                .filter { second in members.contains { $0.occurs(second) } }.map(Moment.init(seconds:))
            let words: Comment = "\(schedule.text) around \(middle), round \(round) of seed \(seed)"
            var found: [Moment] = []
            var current = first
            while let slot = schedule.nextSlot(after: current, in: zones), slot <= last {
                found.append(slot)
                current = slot
            }
            #expect(found == wanted, words)
            var backwards: [Moment] = []
            current = last
            while let slot = schedule.lastSlot(through: current, in: zones), slot > first {
                backwards.append(slot)
                current = slot - .microseconds(1)
            }
            #expect(backwards == wanted.reversed(), words)
            #expect(schedule.slotCount(after: first, through: last, in: zones) == wanted.count, words)
            let preview = schedule.preview(after: first, in: zones, count: 20).filter(\.isSlot).map(\.moment)
            #expect(Array(preview.prefix(wanted.count)) == Array(wanted.prefix(20)), words)
            #expect(try Schedule(text: schedule.text) == schedule, words)
        }
    }

    @Test func `are a list only where that has a meaning`() throws {
        let nightly = try cron("30 2 * * *")
        let list = Schedule.several(try ScheduleList([nightly, .startup()]))
        let many = (0..<17).map { Schedule.at(start + .seconds(Int64($0))) }
        let refused: [([Schedule], ScheduleListError.Problem, Int)] = [
            ([], .tooFew, 0), ([nightly], .tooFew, 0), (many, .tooMany, 16), ([nightly, list], .nested, 1),
            ([.after(.seconds(60)), nightly], .after, 0), ([nightly, .manual], .manual, 1),
            ([nightly, .startup(), try cron("30 2 * * *")], .twice, 2),
            ([nightly, .startup(), .startup(delay: .seconds(60))], .twice, 2),
        ]
        for (members, problem, member) in refused {
            let error = #expect(throws: ScheduleListError.self) { try ScheduleList(members) }
            #expect(error?.problem == problem && error?.member == member)
        }
        #expect(try ScheduleList(Array(many.dropLast())).members.count == 16)
    }

    @Test func `have slots by the clock also beside one that has none`() throws {
        let list = Schedule.several(try ScheduleList([.startup(), .at(start)]))
        #expect(list.isClockDriven && list.kind == .several && list.zoneName == nil)
        #expect(list.nextSlot(after: start - .seconds(1), in: .utc) == start)
        #expect(list.nextSlot(after: start, in: .utc) == nil)
        #expect(
            list.words(in: .utc) == "Once after each boot; once, at 2026-03-29T01:00:00+00:00"
        )
    }

    @Test(arguments: [
        ("cron zone=UTC 0 9 * * * + after 15m", 26..<35),
        ("cron zone=UTC 0 9 * * * + cron zone=UTC 61 * * * *", 40..<42),
        ("startup + startup", 10..<17), ("startup + ", 10..<10),
    ]) func `point at what is wrong in their line`(text: String, range: Range<Int>) {
        let error = #expect(throws: CronError.self) { try Schedule(text: text) }
        #expect(error?.faults.first?.range == range)
    }

    @Test func `are what a phrase with several times asks for`() throws {
        let phrase = try Schedule(phrase: "weekdays at 9, 13:00 and 17:30", now: start, in: .utc)
        #expect(
            phrase.members.map(\.text) == ["cron zone=UTC 0 9,13 * * 1-5", "cron zone=UTC 30 17 * * 1-5"])
    }
}

private typealias Oracle = `the search agrees with asking every minute`

/// A member with a plain answer to whether it has a slot in a second.
private struct Member {
    let schedule: Schedule
    let occurs: (Int64) -> Bool

    init(
        _ maker: inout RandomExpressions, zone: String, rules: [String: ZoneRules], near: Int64, isGrid: Bool
    ) throws {
        if isGrid {
            let size = Int64(maker.number(7, 900)) * 60
            let anchor = near - Int64(maker.number(0, 5000)) * 60
            schedule = .every(.seconds(size), anchor: Moment(seconds: anchor))
            occurs = { $0 >= anchor && ($0 - anchor) % size == 0 }
        } else {
            let text =
                maker.number(0, 2) == 0
                ? maker.expression(seconds: false) : "\(maker.number(0, 59)) */\(maker.number(1, 6)) * * *"
            let expression = try CronExpression(text, options: maker.options())
            schedule = .cron(expression, zone: zone)
            let brute = BruteForce(expression, zone: rules[zone] ?? .utc)
            occurs = brute.occurs(at:)
        }
    }
}
