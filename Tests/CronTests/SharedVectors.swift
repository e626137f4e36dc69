import Cron
import FoundationEssentials
import TestSupport
import Testing
import Timeline

/// One row of `cron-cases.json`: an expression, a zone, a start, and what follows.
struct SharedVector: Decodable {
    var id: String
    var expr: String
    var tz: String
    var start: String
    var dir: String
    var mode: String
    var expected: [String]?
    var error: Bool?
    var never: Bool?
    var tags: [String]?

    /// The rows of the file beside the checkout; empty where it is absent.
    static let all: [SharedVector] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        for folder in ["../shared/data/", "../../shared/data/"] {
            let file = root.appending(path: folder + "cron-cases.json")
            guard let data = try? Data(contentsOf: file) else { continue }
            return (try? JSONDecoder().decode([SharedVector].self, from: data)) ?? []
        }
        return []
    }()

    static func rows(_ isWanted: (SharedVector) -> Bool) -> [SharedVector] {
        all.filter(isWanted)
    }
}

@Suite(.enabled(if: !SharedVector.all.isEmpty, "cron-cases.json is not beside this checkout"))
struct `the shared vectors` {
    let zones = ZoneShelf()

    @Test func `are all there`() {
        #expect(SharedVector.all.count == 1086)
    }

    @Test func `give the next occurrences`() throws {
        let rows = SharedVector.rows { $0.error != true && $0.never != true && $0.dir == "next" }
        #expect(rows.count == 713)
        for row in rows { try check(row) }
    }

    @Test func `give the previous occurrences`() throws {
        let rows = SharedVector.rows { $0.error != true && $0.never != true && $0.dir == "prev" }
        #expect(rows.count == 111)
        for row in rows { try check(row) }
    }

    @Test func `know what never fires`() throws {
        let rows = SharedVector.rows { $0.never == true }
        #expect(rows.count == 24)
        for row in rows {
            let expression = try read(row)
            // One row's years are in the past when it starts; its dates do occur.
            #expect(expression.neverFires != row.expr.hasSuffix(" 2020-2024"), "\(row.id)")
            try check(row)
        }
    }

    @Test func `refuse what is no expression`() {
        let rows = SharedVector.rows { $0.error == true }
        #expect(rows.count == 238)
        for row in rows {
            let error = #expect(throws: CronError.self, "\(row.id) \(row.expr)") { try read(row) }
            for fault in error?.faults ?? [] {
                #expect(fault.range.upperBound <= row.expr.utf8.count, "\(row.id) \(row.expr)")
            }
        }
    }

    private func read(_ row: SharedVector) throws -> CronExpression {
        try CronExpression(row.expr, options: CronOptions(isLenient: row.mode == "lenient")) { name in
            (try? SystemZones.bytes(name)) != nil
        }
    }

    private func check(_ row: SharedVector) throws {
        let expression = try read(row)
        let zone = try zones.zone(expression.zoneName ?? row.tz)
        let start = try Moment(iso8601: row.start)
        let wanted = try (row.expected ?? []).map { try Moment(iso8601: $0) }
        let occurrences =
            row.dir == "next"
            ? expression.occurrences(after: start, in: zone)
            : expression.occurrences(before: start, in: zone)
        let found = Array(occurrences.prefix(max(1, wanted.count)))
        #expect(
            found == wanted,
            "\(row.id) \(row.expr) in \(row.tz) from \(row.start): \(found.map { $0.iso8601(in: zone) })")
    }
}
