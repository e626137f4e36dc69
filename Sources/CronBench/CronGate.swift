import Cron
import Timeline

/// What continuous integration holds `Cron` to: allocations, and the ratio to a peer in the same run; never
/// time by itself.
package enum CronGate {
    /// Measures, prints every limit, and says whether all are kept.
    package static func isKept() -> Bool {
        let kept = [keepsAllocations(), keepsSize(), keepsRatio()]
        return !kept.contains(false)
    }

    /// A good text is read without the heap.
    private static func keepsAllocations() -> Bool {
        // Else zero could mean that the meter is blind.
        let control = HeapMeter.growth { withExtendedLifetime([UInt8](repeating: 7, count: 100)) {} }
        guard control > 0 else {
            print("gate: the meter does not see an allocation")
            return false
        }
        let moment = Moment(seconds: 1_780_000_000)
        let used = (CronTables.expressions + unusual).filter { text in
            // Once before, for what is made at its first use.
            _ = try? CronExpression(text)
            guard HeapMeter.growth({ _ = try? CronExpression(text) }) == 0 else { return true }
            guard let expression = try? CronExpression(text) else { return true }
            func search() {
                _ = expression.next(after: moment, in: .utc)
                _ = expression.previous(before: moment, in: .utc)
            }
            // The search is generic: the runtime keeps what it makes of that at the first use.
            search()
            return HeapMeter.growth(search) > 0
        }
        print("gate: parse and search without the heap: \(used.isEmpty ? "kept" : "NOT KEPT by \(used)")")
        return used.isEmpty
    }

    /// Beside the common ones: seconds, a year, day forms, names.
    private static let unusual = [
        "*/10 * * * * *", "0 0 0 1 1 * 2030-2040/2", "0 9 15W * *", "0 9 L-3W * *", "30 9 * JAN-JUN MON-FRI",
        "0 12 */100,1-7 * MON", "0 0 * * +5L",
    ]

    /// A schedule has at most 80 bytes in line.
    private static func keepsSize() -> Bool {
        let size = MemoryLayout<Schedule>.stride
        print("gate: bytes a schedule, in line: \(size), \(size <= 80 ? "kept" : "NOT KEPT") (80)")
        return size <= 80
    }

    /// At least twenty times as fast as cronsim, search and parse; and backwards about as fast as forwards.
    private static func keepsRatio() -> Bool {
        guard let peer = CronPeers.measure(isBrief: true).first else {
            print("gate: NOT KEPT, there is nothing to compare with: config/test installs cronsim")
            return false
        }
        let ours = CronTables.gateFigures()
        let ratios = [
            ("next in UTC", peer.utc.reduce(0, +) / ours.next),
            ("parse", peer.parse.reduce(0, +) / ours.parse),
        ]
        for (name, ratio) in ratios {
            print(
                "gate: \(name): \(Int(ratio)) times as fast as cronsim, \(ratio >= 20 ? "kept" : "NOT KEPT") (20)"
            )
        }
        let back = ours.previous / ours.next
        let backText = "\(Int((back * 100).rounded())) %"
        print("gate: previous in UTC: \(backText) of next, \(back <= 1.5 ? "kept" : "NOT KEPT") (150 %)")
        return back <= 1.5 && ratios.allSatisfy { $0.1 >= 20 }
    }
}

/// How the time of a parser grows with the length of what it reads: a text four times as long, made so that a
/// careless reader would take sixteen times as long, should take about four times.
enum CronGrowth {
    private static var shapes: [(name: String, make: (Int) -> String, read: (String) -> Void)] {
        [
            ("crontab, settings and jobs", { lines($0) { "V\($0)=1\n@daily x\n" } }, crontab),
            ("crontab, equal commands", { lines($0) { _ in "@daily x\n" } }, crontab),
            ("crontab, percent signs", { "@daily x" + String(repeating: "%\\", count: $0) }, crontab),
            ("crontab, one long word", { "@daily " + String(repeating: "/", count: $0) }, crontab),
            ("crontab, quotes", { lines($0) { _ in "'a\"='\n" } }, crontab),
            (
                "crontab, ends of input",
                { "@daily x" + lines($0) { "%END_OF_INPUT" + String(repeating: "_", count: $0 % 300) } },
                crontab
            ),
            ("unit, a line that goes on", { "[S]\nA=" + String(repeating: "a\\\n", count: $0 / 3) }, unit),
            ("unit, values taken back", { "[S]\n" + lines($0) { "A\($0)=1\nB\($0)=\n" } }, unit),
            ("unit, blanks", { "[S]\nA=" + String(repeating: " \t", count: $0 / 2) + "x" }, unit),
            (
                "expression", { String(repeating: "1,", count: $0 / 2) + "1 * * * *" },
                { _ = CronCheck($0).drawing }
            ),
            ("phrase", { lines($0) { _ in "every day at 9 and " } }, phrase),
            ("event", { lines($0) { _ in "Mon," } }, { _ = try? CalendarEvent($0) }),
            (
                "time", { "2026-03-29T03:00:00." + String(repeating: "1", count: $0) },
                { _ = try? Moment(iso8601: $0) }
            ),
            ("duration", { String(repeating: "1", count: $0) + "h" }, { _ = try? Duration(text: $0) }),
            (
                "zone rule", { "EST" + String(repeating: "5", count: $0) },
                { _ = try? ZoneRules(name: "x", posix: $0) }
            ),
        ]
    }

    /// Prints for each shape how many times as long the fourfold text takes.
    static func run() {
        for shape in shapes {
            let (short, long) = (shape.make(1 << 15), shape.make(1 << 17))
            let ratio = seconds { shape.read(long) } / max(seconds { shape.read(short) }, 20e-6)
            let verdict = ratio <= 9 ? "within" : "OVER"
            print(
                "fuzz: \(shape.name): \((ratio * 10).rounded() / 10) times for 4 times, \(verdict) the limit of 9"
            )
        }
    }

    /// About `bytes` of what `line` gives for 0, 1, 2 and so on.
    private static func lines(_ bytes: Int, _ line: (Int) -> String) -> String {
        var text = ""
        var number = 0
        while text.utf8.count < bytes {
            text += line(number)
            number += 1
        }
        return text
    }

    private static func crontab(_ text: String) {
        var names = CommandNames()
        for line in Crontab(text, form: .user).lines {
            _ = names.name(for: line.command)
            _ = line.shellText
        }
        _ = Crontab.form(of: text) { $0 == "root" }
    }

    private static func unit(_ text: String) { _ = UnitFile(text) }

    private static func phrase(_ text: String) {
        _ = try? Schedule(phrase: text, now: Moment(seconds: 1_780_000_000), in: .utc)
    }

    /// The least of three.
    private static func seconds(_ body: () -> Void) -> Double {
        (0..<3).map { _ in
            let (seconds, attoseconds) = ContinuousClock().measure(body).components
            return Double(seconds) + Double(attoseconds) / 1e18
        }.min() ?? 0
    }
}
