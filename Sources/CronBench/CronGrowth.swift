import Cron
import Timeline

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
