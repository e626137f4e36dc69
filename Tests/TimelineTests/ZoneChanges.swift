import FoundationEssentials
import TestSupport
import Testing
import Timeline

@Suite struct `zone rules` {
    @Test func `know the changes listed in the file`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let spring = try Moment(iso8601: "2026-03-29T01:00:00Z")
        #expect(berlin.offsetSeconds(at: spring - .seconds(1)) == 3600)
        #expect(berlin.offsetSeconds(at: spring) == 7200)
        #expect(berlin.nextTransition(after: spring)?.iso8601 == "2026-10-25T01:00:00Z")
        #expect(berlin.interval(atSeconds: spring.seconds).startSeconds == spring.seconds)
        #expect(berlin.offsetSeconds(at: try Moment(iso8601: "1850-01-01T00:00:00Z")) == 3208)
    }

    @Test func `follow the rule of the footer after the last listed change`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        for year in [2038, 2100, 2199, 2200, 2201, 2202, 2203, 9999] {
            let summer = try Moment(iso8601: "\(year)-07-01T00:00:00Z")
            let winter = try Moment(iso8601: "\(year)-12-01T00:00:00Z")
            #expect(berlin.offsetSeconds(at: summer) == 7200)
            #expect(berlin.offsetSeconds(at: winter) == 3600)
            let change = try #require(berlin.nextTransition(after: summer))
            let date = CivilTime(change).date
            #expect(date.year == year && date.month == 10 && date.weekday == 0 && date.day > 24)
        }
    }

    @Test func `find the local times that are missing or come twice`() throws {
        let newYork = try SystemZones.zone("America/New_York")
        let spring = CivilTime(CivilDate(year: 2025, month: 3, day: 9), hour: 2, minute: 30)
        let transition = try Moment(iso8601: "2025-03-09T07:00:00Z")
        #expect(newYork.instants(of: spring) == .gap(transition: transition, size: .seconds(3600)))
        let autumn = CivilTime(CivilDate(year: 2025, month: 11, day: 2), hour: 1, minute: 30)
        let first = try Moment(iso8601: "2025-11-02T05:30:00Z")
        #expect(newYork.instants(of: autumn) == .overlap(first: first, second: first + .seconds(3600)))
        let noon = CivilTime(CivilDate(year: 2025, month: 11, day: 2), hour: 12)
        #expect(newYork.instants(of: noon) == .unique(try Moment(iso8601: "2025-11-02T17:00:00Z")))
    }

    @Test(arguments: [
        ("Australia/Lord_Howe", "2026-10-04T02:15", 1800), ("Pacific/Chatham", "2026-09-27T03:00", 3600),
        ("Antarctica/Troll", "2026-03-29T02:30", 7200), ("America/Sao_Paulo", "2018-11-04T00:00", 3600),
        ("Pacific/Apia", "2011-12-30T12:00", 86_400), ("Pacific/Kiritimati", "1994-12-31T12:00", 86_400),
    ]) func `have gaps of any size`(name: String, local: String, size: Int) throws {
        let zone = try SystemZones.zone(name)
        let time = CivilTime(try Moment(iso8601: local + "Z"))
        guard case .gap(_, let found) = zone.instants(of: time) else {
            Issue.record("\(local) exists in \(name)")
            return
        }
        #expect(found == .seconds(size))
    }

    @Test func `agree with themselves on every local time around every change of every zone`() throws {
        for name in [
            "Europe/Dublin", "Africa/Casablanca", "America/New_York", "Asia/Gaza", "Pacific/Apia",
            "Australia/Lord_Howe", "America/Scoresbysund",
        ] {
            let zone = try SystemZones.zone(name)
            var moment = Moment(seconds: -3_000_000_000)
            while let change = zone.nextTransition(after: moment), change.seconds < 8_000_000_000 {
                moment = change
                for delta in stride(from: Int64(-100_000), through: 100_000, by: 901) {
                    let instant = Moment(seconds: change.seconds + delta)
                    let local = CivilTime(instant, in: zone)
                    switch zone.instants(of: local) {
                    case .unique(let only): #expect(only == instant)
                    case .overlap(let first, let second): #expect(first == instant || second == instant)
                    case .gap: Issue.record("\(instant.iso8601) in \(name) has a missing local time")
                    }
                }
            }
        }
    }

    @Test func `have intervals that touch each other`() throws {
        for name in ["Europe/Berlin", "Africa/Casablanca", "Asia/Tehran", "UTC", "Etc/GMT+5"] {
            let zone = try SystemZones.zone(name)
            var interval = zone.interval(atSeconds: .min)
            var count = 0
            while interval.endSeconds != .max, interval.endSeconds < 9_000_000_000 {
                let next = zone.interval(atSeconds: interval.endSeconds)
                #expect(next.startSeconds == interval.endSeconds && next.endSeconds > next.startSeconds)
                #expect(next.offsetSeconds != interval.offsetSeconds)
                interval = next
                count += 1
            }
            #expect(count < 700)
        }
    }

    @Test func `can be made of a POSIX rule`() throws {
        let rule = try ZoneRules(name: "rule", posix: "CET-1CEST,M3.5.0,M10.5.0/3")
        let berlin = try SystemZones.zone("Europe/Berlin")
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let moment = Moment(seconds: Int64.random(in: 1_000_000_000...9_000_000_000, using: &random))
            #expect(rule.offsetSeconds(at: moment) == berlin.offsetSeconds(at: moment))
        }
    }

    @Test func `stay in daylight time when the rule says all year`() throws {
        let zone = try ZoneRules(name: "always", posix: "XXX3EDT4,0/0,J365/23")
        #expect(zone.offsetSeconds(at: Moment(seconds: 1_800_000_000)) == -14_400)
        #expect(zone.nextTransition(after: Moment(seconds: 1_800_000_000)) == nil)
    }
}

@Suite struct `the decoder of zone files` {
    @Test func `reads every zone of the system`() throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: SystemZones.folder)
        var read = 0
        for name in names where !name.hasPrefix("right/") && !name.hasPrefix("posix/") {
            let isFolder =
                (try? FileManager.default.contentsOfDirectory(atPath: SystemZones.folder + "/" + name)) != nil
            guard !isFolder, let bytes = try? SystemZones.bytes(name), bytes.starts(with: "TZif".utf8) else {
                continue
            }
            let zone = try ZoneRules(name: name, tzif: bytes)
            #expect(abs(zone.offsetSeconds(at: Moment(seconds: 1_780_000_000))) <= 50_400)
            read += 1
        }
        #expect(read > 300)
    }

    @Test func `refuses every file that ends too early, and shows where`() throws {
        let bytes = try SystemZones.bytes("Europe/Berlin")
        for length in 0..<bytes.count {
            let error = #expect(throws: TimelineError.self) {
                try ZoneRules(name: "cut", tzif: Array(bytes[..<length]))
            }
            #expect((error?.range.upperBound ?? .max) <= length)
        }
    }

    @Test func `survives bytes changed at random`() throws {
        let bytes = try SystemZones.bytes("America/New_York")
        var random = SeededGenerator(seed: 11)
        var refused = 0
        for _ in 0..<3000 {
            var broken = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                broken[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            do {
                let zone = try ZoneRules(name: "broken", tzif: broken)
                for seconds in stride(from: Int64(-9_000_000_000), to: 9_000_000_000, by: 500_000_001) {
                    #expect(zone.interval(atSeconds: seconds).contains(seconds: seconds))
                }
            } catch {
                refused += 1
            }
        }
        #expect(refused > 100)
    }

    @Test func `refuses files that count leap seconds`() throws {
        guard let bytes = try? SystemZones.bytes("right/UTC") else { return }
        #expect(throws: TimelineError.self) { try ZoneRules(name: "right", tzif: bytes) }
    }
}
