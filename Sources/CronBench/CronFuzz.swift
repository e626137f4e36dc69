import Cron
import Glibc
import Host
import Timeline

/// Random and mutated inputs for the parsers of `Timeline` and `Cron`.
///
/// Nothing may trap, hang, point outside its text or take the square of its length. A crash ends the program, so
/// reaching the end is the result: `bench fuzz [COUNT [SEED]]`.
package enum CronFuzz {
    /// Runs `arguments[0]` rounds (a million unless said) of each input with the seed `arguments[1]`.
    package static func run(arguments: [String]) {
        let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
        let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        print("fuzz: \(count) rounds each, seed \(seed)")
        var random = SeededNumbers(seed: seed)
        report("expressions", count) { expression(&random) }
        report("phrases", count) { phrase(&random) }
        report("schedules", count) { schedule(&random) }
        report("times and durations", count) { time(&random) }
        report("calendar events", count) { event(&random) }
        report("crontabs", count) { crontab(&random) }
        let files = ["America/New_York", "Europe/Dublin", "Africa/Casablanca", "Asia/Kolkata", "Etc/UTC"]
            .compactMap { try? ZoneFiles().bytes(of: $0) }
        report("zone files", count) { zone(files, &random) }
        report("zone rules", count) { rule(&random) }
        CronGrowth.run()
    }

    private static func report(_ name: String, _ count: Int, _ round: () -> Bool) {
        var accepted = 0
        let elapsed = ContinuousClock().measure {
            for _ in 0..<count where round() { accepted += 1 }
        }
        let seconds = elapsed.components.seconds
        print("fuzz: \(name): \(count) inputs, \(accepted) accepted, \(seconds) s")
    }

    private static let fields = Array("0123456789*/,-?LWH#+ \t@()CRON_TZ=".utf8) + Array("monjanSUNe".utf8)

    private static func expression(_ random: inout SeededNumbers) -> Bool {
        let seeds =
            CronTables.expressions + [
                "0 0 L-3W * MON#2", "H(0-9)/3 H * * FRI-SUN", "TZ=UTC @daily", "* * * * * * */2",
            ]
        let text = random.mutate(seeds, fields)
        let options = CronOptions(
            dialect: random.below(4) == 0 ? .quartz : .unix, isLenient: random.below(2) == 0,
            seed: random.below(2) == 0 ? "seed" : nil, dayRule: random.below(2) == 0 ? .ocps : .vixie)
        let check = CronCheck(text, options: options)
        require(check.faults.allSatisfy { $0.range.upperBound <= text.utf8.count }, text)
        _ = check.drawing
        guard let expression = check.expression else { return false }
        let start = Moment(seconds: Int64(random.below(7_200_000_000)))
        let next = expression.next(after: start, in: .utc)
        require(next.map { $0 > start && expression.contains($0, in: .utc) } ?? true, text)
        require(expression.previous(before: start, in: .utc).map { $0 < start } ?? true, text)
        let again = try? CronExpression(expression.description, options: CronOptions(isLenient: true))
        require(again?.description == expression.description, text)
        return !expression.words.isEmpty
    }

    private static func phrase(_ random: inout SeededNumbers) -> Bool {
        let words = [
            "every", "other", "at", "on", "in", "the", "of", "month", "monday", "friday", "9", "17:30", "6pm",
            "noon", ",", "and", "or", "last", "first", "second", "day", "15", "minutes", "between", "from",
            "to",
            "through", "hour", "hours", "weekdays", "december", "13th", "tomorrow", "if", "it", "is", "a",
            "past",
            "1h30m", "half", "quarter", "morning", "evening", "night", "tonight", "now", "working", "nearest",
            "next", "week", "year", "-", "mon-fri", "9-17",
        ]
        let seeds = [(0..<1 + random.below(9)).map { _ in random.pick(words) }.joined(separator: " ")]
        let text =
            random.below(3) == 0 ? random.mutate(seeds, Array("abcdeimnorsty 0123456789:,-".utf8)) : seeds[0]
        do {
            let schedule = try Schedule(phrase: text, now: Moment(seconds: 1_780_000_000), in: .utc)
            return !schedule.text.isEmpty
        } catch {
            require(error.faults.allSatisfy { $0.range.upperBound <= text.utf8.count }, text)
            return false
        }
    }

    private static func schedule(_ random: inout SeededNumbers) -> Bool {
        let seeds = [
            "cron zone=UTC gap=skip 30 2 * * *", "every 15m from 2026-01-01T00:00:00Z", "after 1h30m",
            "manual",
        ]
        let text = random.mutate(seeds, fields + Array("zonegapskipevryfm:".utf8))
        guard let schedule = try? Schedule(text: text) else { return false }
        _ = schedule.slots(after: Moment(seconds: 1_780_000_000), through: .distantFuture, in: .utc, limit: 3)
        return (try? Schedule(text: schedule.text)) == schedule
    }

    private static func time(_ random: inout SeededNumbers) -> Bool {
        let text = random.mutate(
            ["2026-03-29T03:00:00.5+02:00", "1969-12-31T23:59:59Z", "1h30m", "90s", "2w3d"],
            Array("0123456789-+:.TZwdhmsu ".utf8))
        let moment = try? Moment(iso8601: text)
        require(moment.map { (try? Moment(iso8601: $0.iso8601)) == $0 } ?? true, text)
        let duration = try? Duration(text: text)
        require(duration.map { (try? Duration(text: $0.text)) == $0 } ?? true, text)
        return moment != nil || duration != nil
    }

    private static func event(_ random: inout SeededNumbers) -> Bool {
        let seeds = [
            "Mon..Fri *-*-* 09:30 Europe/Berlin", "*-*~01 00:00:00", "Sat,Sun 2026-1,3..5-* 0/6:00", "weekly",
        ]
        let text = random.mutate(seeds, Array("0123456789*/,.-~:MonFriUTC ".utf8))
        do throws(CronError) {
            let fields = try CalendarEvent(text).fields
            require((try? CronExpression(fields)) != nil, text)
            return true
        } catch {
            require(error.faults.allSatisfy { $0.range.upperBound <= text.utf8.count }, text)
            return false
        }
    }

    private static func crontab(_ random: inout SeededNumbers) -> Bool {
        let seeds = [
            "SHELL=/bin/sh\n0 2 * * * root backup%a\\%b%c\n", "@daily x\n*/5 * * * MON-FRI cd / && y\n",
            "[Timer]\nOnCalendar=daily\n[Service]\nExecStart=/bin/x \\\n  y\n; z\n",
        ]
        let text = random.mutate(seeds, fields + Array("=%\\'\"\n\r#[]".utf8))
        _ = UnitFile(text)
        let lines = Crontab(text, form: random.below(2) == 0 ? .user : .system).lines
        var names = CommandNames()
        for line in lines {
            let name = names.name(for: line.command)
            require((1...63).contains(name.utf8.count), text)
            require(line.input != nil || line.shellText == line.command, text)
        }
        return lines.contains { $0.problem == nil }
    }

    private static func rule(_ random: inout SeededNumbers) -> Bool {
        let seeds = [
            "CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "EST5EDT4,J60,300/25:59:59",
        ]
        let text = random.mutate(seeds, Array("0123456789<>+-,./:JMESTCD".utf8))
        guard let zone = try? ZoneRules(name: "x", posix: text) else { return false }
        let seconds = Int64(random.below(9_000_000_000))
        require(zone.interval(atSeconds: seconds).contains(seconds: seconds), text)
        return true
    }

    private static func zone(_ files: [[UInt8]], _ random: inout SeededNumbers) -> Bool {
        guard !files.isEmpty else { return false }
        var bytes = random.pick(files)
        for _ in 0..<1 + random.below(6) {
            switch random.below(3) {
            case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
            case 1: bytes = Array(bytes[..<(1 + random.below(bytes.count))])
            default: bytes[max(0, bytes.count - 1 - random.below(40))] = UInt8(random.below(128))
            }
        }
        guard let zone = try? ZoneRules(name: "x", tzif: bytes) else { return false }
        let seconds = Int64(random.below(9_000_000_000))
        require(zone.interval(atSeconds: seconds).contains(seconds: seconds), "zone")
        _ = zone.instants(of: seconds)
        return true
    }

    private static func require(_ holds: Bool, _ text: String) {
        guard !holds else { return }
        // A release would not print the words of a precondition.
        print("fuzz: FAILED by \(text.debugDescription)")
        exit(1)
    }
}

extension SeededNumbers {
    fileprivate mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    fileprivate mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }

    /// A good text with a few bytes changed, inserted, doubled or removed, or random bytes altogether.
    fileprivate mutating func mutate(_ seeds: [String], _ alphabet: [UInt8]) -> String {
        var bytes = below(10) == 0 ? [] : Array(pick(seeds).utf8)
        for _ in 0..<below(bytes.isEmpty ? 60 : 5) {
            let place = below(bytes.count + 1)
            switch below(4) {
            case 0 where place < bytes.count: bytes[place] = pick(alphabet)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2 where !bytes.isEmpty:
                bytes.insert(contentsOf: bytes[..<place].suffix(below(9)), at: place)
            default: bytes.insert(below(20) == 0 ? UInt8(below(256)) : pick(alphabet), at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Numbers that look random and come again with the same seed.
///
/// - Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
package struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
