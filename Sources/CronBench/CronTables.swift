import CLinux
import Cron
import Glibc
import Host
import Timeline

/// Nanoseconds per search and per parse, by the method of the reference tables: 1,000 starts spread over ten
/// years by a 64-bit LCG of seed 42, every search from a start of its own, the least of several rounds.
package enum CronTables {
    static let expressions = [
        "* * * * *", "*/5 * * * *", "0 * * * *", "30 2 * * *", "0 9-17 * * 1-5", "*/15 9-17 1,15 * *",
        "0 0 * * 0", "0 0 1 * *", "0 12 13 * 5", "0 0 1 1 *", "0 0 29 2 *", "0 0 L * *", "0 0 * * 5#3",
    ]

    /// Prints the tables of our figures and of the peers installed here: `bench cron`.
    package static func run() {
        guard let newYork = try? ZoneFiles().rules(of: "America/New_York") else {
            print("cron: no zone data on this machine")
            return
        }
        let parsed = expressions.compactMap { try? CronExpression($0) }
        let peers = CronPeers.measure()
        print(
            "cron: ns per call, least of 15 rounds of 1,000 (the leap day: 200); ! = another answer than ours"
        )
        let utc = search(parsed, in: .utc, "UTC", peers.map { ($0.name, $0.utc, $0.utcSums) })
        let named = search(
            parsed, in: newYork, "New York", peers.map { ($0.name, $0.newYork, $0.newYorkSums) })
        let parse = parses(peers)
        judge("next in UTC", utc.next, limit: 25)
        judge("next in New York", named.next, limit: 60)
        judge("previous in New York", named.previous, limit: named.next * 1.3)
        judge("parse", parse, limit: 100)
        never()
        million(parsed, newYork)
        for peer in peers {
            let mean = geometricMean(peer.newYork.filter { $0 > 0 })
            print("cron: \(rounded(mean / named.next)) times as fast as \(peer.name) in New York")
        }
        print("cron: bytes a schedule, with all it holds on the heap: \(ScheduleBytes.measured)")
        for peer in peers where peer.bytes > 0 {
            print("cron: bytes an entry of \(peer.name): \(Int(peer.bytes))")
        }
    }

    private static func search(
        _ parsed: [CronExpression], in zone: ZoneRules, _ name: String,
        _ peers: [(name: String, figures: [Double], sums: [Int64])]
    ) -> (next: Double, previous: Double) {
        print("\n" + row(name, ["next", "previous"] + peers.map(\.name)))
        var next: [Double] = []
        var previous: [Double] = []
        for (number, expression) in parsed.enumerated() {
            let starts = makeStarts(expressions[number] == "0 0 29 2 *" ? 200 : 1000)
            var sum: Int64 = 0
            for start in starts { sum &+= expression.next(after: start, in: zone)?.seconds ?? 0 }
            next.append(time(starts) { expression.next(after: $0, in: zone)?.microseconds ?? 0 })
            previous.append(time(starts) { expression.previous(before: $0, in: zone)?.microseconds ?? 0 })
            let others = peers.map { peer in
                peer.figures[number] == 0
                    ? "-" : rounded(peer.figures[number]) + (peer.sums[number] == sum ? " " : "!")
            }
            print(row(expressions[number], [rounded(next[number]), rounded(previous[number])] + others))
        }
        let means = [geometricMean(next), geometricMean(previous)]
        let others = peers.map { rounded(geometricMean($0.figures.filter { $0 > 0 })) + " " }
        print(row("geometric mean", means.map(rounded) + others))
        return (means[0], means[1])
    }

    private static func parses(_ peers: [CronPeers.Figures]) -> Double {
        print("\n" + row("parse", ["Belfry"] + peers.map(\.name)))
        let starts = makeStarts(1000)
        let ours = expressions.map { text in time(starts) { _ in read(text) } }
        for (number, text) in expressions.enumerated() {
            print(row(text, [rounded(ours[number])] + peers.map { rounded($0.parse[number]) }))
        }
        let others = peers.map { rounded(geometricMean($0.parse.filter { $0 > 0 })) }
        print(row("geometric mean", [rounded(geometricMean(ours))] + others) + "\n")
        return geometricMean(ours)
    }

    /// 1 when `text` is an expression that fires.
    private static func read(_ text: String) -> Int64 {
        do {
            return try CronExpression(text).neverFires ? 0 : 1
        } catch {
            return 0
        }
    }

    /// The sums over all expressions of nanoseconds a search each way in UTC and a parse, for the gate.
    static func gateFigures() -> (next: Double, previous: Double, parse: Double) {
        let starts = makeStarts(1000)
        var sums = (next: 0.0, previous: 0.0, parse: 0.0)
        for text in expressions {
            guard let expression = try? CronExpression(text) else { continue }
            sums.next += time(starts) { expression.next(after: $0, in: .utc)?.microseconds ?? 0 }
            sums.previous += time(starts) { expression.previous(before: $0, in: .utc)?.microseconds ?? 0 }
            sums.parse += time(starts) { _ in read(text) }
        }
        return sums
    }

    private static func never() {
        for text in ["0 0 31 2 *", "0 0 31 4,6,9,11 *", "0 0 1 * +MON#2"] {
            judge("never, parse and decide \(text)", time(makeStarts(1000)) { _ in read(text) }, limit: 1000)
        }
    }

    /// A million schedules, each asked for its next run in a zone.
    private static func million(_ parsed: [CronExpression], _ newYork: ZoneRules) {
        let now = Moment(seconds: 1_780_000_000)
        let schedules = (0..<1_000_000).map { parsed[$0 % parsed.count] }
        var best = Duration.seconds(100)
        var sum: Int64 = 0
        for _ in 0..<3 {
            let elapsed = ContinuousClock().measure {
                for schedule in schedules { sum &+= schedule.next(after: now, in: newYork)?.seconds ?? 0 }
            }
            best = min(best, elapsed)
        }
        precondition(sum > 0)
        let milliseconds = Double(best.components.attoseconds / 1_000_000_000_000) / 1000
        judge("a million schedules recomputed in New York, ms", milliseconds, limit: 100)
    }

    // MARK: Measuring

    private static func makeStarts(_ count: Int) -> [Moment] {
        var state: UInt64 = 42
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Moment(seconds: 1_767_225_600 + Int64(state >> 33) % 315_532_800)
        }
    }

    /// The least nanoseconds per call over 15 rounds.
    private static func time(_ starts: [Moment], _ body: (Moment) -> Int64) -> Double {
        var best = Double.infinity
        var sum: Int64 = 0
        for _ in 0..<15 {
            let elapsed = ContinuousClock().measure {
                for start in starts { sum &+= body(start) }
            }
            best = min(best, Double(elapsed.components.attoseconds) / 1e9 / Double(starts.count))
        }
        precondition(sum != 1)
        return best
    }

    /// The root of the product, found by halving.
    private static func geometricMean(_ values: [Double]) -> Double {
        var (low, high) = (0.0, values.max() ?? 0)
        for _ in 0..<100 {
            let middle = (low + high) / 2
            if values.reduce(1.0, { $0 * middle / $1 }) < 1 { low = middle } else { high = middle }
        }
        return low
    }

    // MARK: Printing

    private static func judge(_ what: String, _ figure: Double, limit: Double) {
        let verdict = figure <= limit ? "within" : "OVER"
        print("cron: \(what): \(rounded(figure)), \(verdict) the limit of \(rounded(limit))")
    }

    private static func row(_ title: String, _ cells: [String]) -> String {
        func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
        return title + blanks(20 - title.count)
            + cells.map { blanks(11 - $0.count) + $0 }.joined()
    }

    private static func rounded(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// What many schedules weigh in memory.
enum ScheduleBytes {
    /// `72 in line, 72.0 each of 1,000,000 with texts of their own`.
    static var measured: String {
        let count = 1_000_000
        let before = HeapMeter.bytes
        let schedules = make(count)
        let each = Double(HeapMeter.bytes - before) / Double(count)
        return withExtendedLifetime(schedules) {
            "\(MemoryLayout<Schedule>.stride) in line, \((each * 10).rounded() / 10) each of \(count)"
        }
    }

    /// `17 3 * * 1` and its like: times spread over the week, every text its own.
    private static func make(_ count: Int) -> [Schedule] {
        var schedules: [Schedule] = []
        schedules.reserveCapacity(count)
        for number in 0..<count {
            let text = "\(number % 60) \(number / 60 % 24) * * \(number / 1440 % 7)"
            guard let expression = try? CronExpression(text) else { continue }
            schedules.append(.cron(expression, zone: "Europe/Berlin"))
        }
        return schedules
    }
}

/// Sees whether anything was taken from the heap, also when it was given back at once.
///
/// The thread's cache of the C library is emptied first. What is freed then fills the cache, and the library
/// counts a cached piece as in use; so one allocation of up to about a kilobyte shows as growth.
enum HeapMeter {
    static func growth(_ body: () -> Void) -> Int {
        var held: [UnsafeMutableRawPointer] = unsafe []
        unsafe held.reserveCapacity(64 * 8)
        for size in stride(from: 16, through: 1024, by: 16) {
            for _ in 0..<8 {
                unsafe held.append(UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1))
            }
        }
        let before = mallinfo2().uordblks
        body()
        let after = mallinfo2().uordblks
        unsafe held.forEach { unsafe $0.deallocate() }
        return Int(after) - Int(before)
    }

    /// The bytes that are taken from the heap now.
    static var bytes: Int { Int(mallinfo2().uordblks) + Int(mallinfo2().hblkhd) }
}
