import Cron
import FoundationEssentials
import Timeline

/// Nanoseconds per search and per parse, by the method of the reference tables: 1,000 starts spread over ten
/// years by a 64-bit LCG of seed 42, every search from a start of its own, the least of several rounds.
enum CronBench {
    static let expressions = [
        "* * * * *", "*/5 * * * *", "0 * * * *", "30 2 * * *", "0 9-17 * * 1-5", "*/15 9-17 1,15 * *",
        "0 0 * * 0", "0 0 1 * *", "0 12 13 * 5", "0 0 1 1 *", "0 0 29 2 *", "0 0 L * *", "0 0 * * 5#3",
    ]

    /// Prints the tables: `bench cron`.
    static func run(arguments: [String]) {
        guard let data = try? Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/America/New_York")),
            let newYork = try? ZoneRules(name: "America/New_York", tzif: Array(data))
        else {
            print("cron: no zone data on this machine")
            return
        }
        let parsed = expressions.compactMap { try? CronExpression($0) }
        print("cron: ns per call, least of 15 rounds of 1,000 (the leap day: 200)")
        table(parsed, newYork)
        never()
        million(parsed, newYork)
    }

    private static func table(_ parsed: [CronExpression], _ newYork: ZoneRules) {
        print(column("expression", 22), "next UTC", "prev UTC", " next NY", " prev NY", "   parse")
        var columns = [[Double]](repeating: [], count: 5)
        for (text, expression) in zip(expressions, parsed) {
            let utc = ZoneRules.utc
            let starts = makeStarts(text == "0 0 29 2 *" ? 200 : 1000)
            let figures = [
                time(starts) { expression.next(after: $0, in: utc)?.microseconds ?? 0 },
                time(starts) { expression.previous(before: $0, in: utc)?.microseconds ?? 0 },
                time(starts) { expression.next(after: $0, in: newYork)?.microseconds ?? 0 },
                time(starts) { expression.previous(before: $0, in: newYork)?.microseconds ?? 0 },
                time(starts) { _ in read(text) },
            ]
            for (number, figure) in figures.enumerated() { columns[number].append(figure) }
            print(
                column(text, 22), figures.map { column(rounded($0), 8, right: true) }.joined(separator: " "))
        }
        let means = columns.map { geometricMean($0) }
        print(
            column("geometric mean", 22),
            means.map { column(rounded($0), 8, right: true) }.joined(separator: " "))
        print("limits: next UTC 25, next NY 60, parse 100; previous within 1.3 of next")
    }

    /// 1 when `text` is an expression.
    private static func read(_ text: String) -> Int64 {
        do {
            return try CronExpression(text).neverFires ? 0 : 1
        } catch {
            return 0
        }
    }

    private static func never() {
        for text in ["0 0 31 2 *", "0 0 31 4,6,9,11 *", "0 0 1 * +MON#2"] {
            let starts = makeStarts(1000)
            let parse = time(starts) { _ in read(text) }
            print("never: \(column(text, 18)) parse and decide \(rounded(parse)) ns, limit 1000")
        }
    }

    /// A million schedules, each asked for its next run in a zone.
    private static func million(_ parsed: [CronExpression], _ newYork: ZoneRules) {
        let now = Moment(seconds: 1_780_000_000)
        var schedules: [CronExpression] = []
        for number in 0..<1_000_000 { schedules.append(parsed[number % parsed.count]) }
        let clock = ContinuousClock()
        var best = Duration.seconds(100)
        var sum: Int64 = 0
        for _ in 0..<3 {
            best = min(
                best,
                clock.measure {
                    for schedule in schedules { sum &+= schedule.next(after: now, in: newYork)?.seconds ?? 0 }
                })
        }
        print("1,000,000 schedules recomputed in a zone: \(best.milliseconds) ms, limit 100 (sum \(sum))")
    }

    // MARK: Measuring

    static func makeStarts(_ count: Int) -> [Moment] {
        var state: UInt64 = 42
        let first: Int64 = 1_767_225_600
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Moment(seconds: first + Int64(state >> 33) % 315_532_800)
        }
    }

    /// The least nanoseconds per call over 15 rounds.
    static func time(_ starts: [Moment], _ body: (Moment) -> Int64) -> Double {
        let clock = ContinuousClock()
        var best = Double.infinity
        var sum: Int64 = 0
        for _ in 0..<15 {
            let elapsed = clock.measure {
                for start in starts { sum &+= body(start) }
            }
            let nanoseconds = Double(elapsed.components.attoseconds) / 1e9
            best = min(best, nanoseconds / Double(starts.count))
        }
        precondition(sum != 1)
        return best
    }

    private static func geometricMean(_ values: [Double]) -> Double {
        // Without a logarithm: the product of the nth roots would need one, so halve in pairs of products.
        var product = 1.0
        for value in values { product *= value }
        var low = 0.0
        var high = 1_000_000.0
        for _ in 0..<200 {
            let middle = (low + high) / 2
            var power = 1.0
            for _ in values { power *= middle }
            if power < product { low = middle } else { high = middle }
        }
        return low
    }

    private static func rounded(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func column(_ text: String, _ width: Int, right: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - text.count))
        return right ? blanks + text : text + blanks
    }
}
