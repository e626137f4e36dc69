import FoundationEssentials
import TestSupport
import Testing
import Timeline

/// What the landing page shows, line by line: it compiles, and gives what the page says.
@Suite struct `the landing page of Timeline` {
    @Test func `shows code that is here`() throws {
        let page = try LandingPage(of: "Timeline")
        #expect(page.lines.count > 15)
        #expect(try page.missing(in: #filePath) == [])
    }

    @Test func `starts with a zone`() throws {
        let file = URL(filePath: "/usr/share/zoneinfo/Europe/Berlin")
        let berlin = try ZoneRules(name: "Europe/Berlin", tzif: Array(Data(contentsOf: file)))
        let newYork = try ZoneRules(name: "New York", posix: "EST5EDT,M3.2.0,M11.1.0")

        let moment = try Moment(iso8601: "2026-03-29T01:00:00Z")
        _ = moment.iso8601(in: berlin)
        _ = moment.iso8601(in: newYork)
        _ = berlin.nextTransition(after: moment)?.iso8601
        _ = CivilTime(moment, in: berlin).date.iso8601
        _ = try Moment(iso8601: "2026-07-01T12:00", in: berlin)
        _ = try Duration(text: "1h30m")
        #expect(moment.iso8601(in: berlin) == "2026-03-29T03:00:00+02:00")
        #expect(moment.iso8601(in: newYork) == "2026-03-28T21:00:00-04:00")
        #expect(berlin.nextTransition(after: moment)?.iso8601 == "2026-10-25T01:00:00Z")
        #expect(CivilTime(moment, in: berlin).date.iso8601 == "2026-03-29")
        #expect(try Moment(iso8601: "2026-07-01T12:00", in: berlin).iso8601 == "2026-07-01T10:00:00Z")
        #expect(try Duration(text: "1h30m") == .seconds(5400))
    }

    @Test func `continues with a local time that does not exist`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let skipped = CivilTime(CivilDate(year: 2026, month: 3, day: 29), hour: 2, minute: 30)
        switch berlin.instants(of: skipped) {
        case .unique(let moment): print("once, at \(moment.iso8601)")
        case .overlap(let first, let second): print("twice, at \(first.iso8601) and \(second.iso8601)")
        case .gap(let transition, _): print("never, the clock jumps at \(transition.iso8601)")
        }
        guard case .gap(let transition, let size) = berlin.instants(of: skipped) else {
            Issue.record("02:30 exists in Berlin that day")
            return
        }
        #expect(transition.iso8601 == "2026-03-29T01:00:00Z" && size == .seconds(3600))
    }
}
