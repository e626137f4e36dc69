import Cron
import TestSupport
import Testing
import Timeline

/// Files of other schedulers are anybody's text: nothing in them may trap, hang or point outside of it.
@Suite struct `texts for import` {
    private static let seed: UInt64 = 31_415

    private static func mutate(_ seeds: [String], _ maker: inout RandomExpressions) -> String {
        let alphabet = Array("0123456789*/,.-~:@#%\\='\" \t\r\n[]$MonFriUTCPATH".utf8)
        var bytes = Array(maker.pick(seeds).utf8)
        for _ in 0..<maker.number(0, 6) {
            let place = maker.number(0, bytes.count)
            switch maker.number(0, 3) {
            case 0 where place < bytes.count: bytes[place] = maker.pick(alphabet)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: bytes[..<place].suffix(maker.number(0, 9)), at: place)
            default:
                bytes.insert(
                    maker.number(0, 19) == 0 ? UInt8(maker.number(0, 255)) : maker.pick(alphabet), at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `of crontabs are read whatever they are`() {
        var maker = RandomExpressions(random: SeededGenerator(seed: Self.seed))
        let seeds = [
            "SHELL=/bin/sh\n0 2 * * * root backup%a\\%b%c\n", "@daily x\n*/5 * * * MON-FRI cd / && y\n",
            "A = 'b c'\r\n# x\n17 *\t* * * www-data /usr/bin/php -q x.php > /dev/null 2>&1\n",
        ]
        var names = CommandNames()
        for round in 0..<50_000 {
            let text = Self.mutate(seeds, &maker)
            let crontab = Crontab(text, form: round % 2 == 0 ? .user : .system)
            let count = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).count
            for line in crontab.lines {
                let isGood =
                    (1...count).contains(line.number) && (line.input != nil || line.shellText == line.command)
                let name = names.name(for: line.command)
                if !isGood || name.isEmpty || name.utf8.count > 63 {
                    Issue.record("seed \(Self.seed), round \(round): \(text.debugDescription)")
                }
                // What cron takes is what the model takes, save for forms that only Belfry has.
                if round % 20 != 0 || line.problem != nil || line.times == "@reboot" { continue }
                _ = DebianClock(line.times)?.starts(after: Moment(seconds: 1_780_000_000), in: .utc, count: 2)
            }
        }
    }

    @Test func `of events are refused with a place, or mean an expression`() {
        var maker = RandomExpressions(random: SeededGenerator(seed: Self.seed))
        let seeds = [
            "Mon..Fri *-*-* 09:30 Europe/Berlin", "*-*~01 00:00:00", "Sat,Sun 2026-1,3..5-* 0/6:00:00",
            "weekly",
            "*:0/15 UTC", "12-24 18:00:00.000",
        ]
        var accepted = 0
        for round in 0..<50_000 {
            let text = Self.mutate(seeds, &maker)
            do throws(CronError) {
                let event = try CalendarEvent(text)
                accepted += 1
                if (try? CronExpression(event.fields)) == nil {
                    Issue.record("seed \(Self.seed), round \(round): \(text) became \(event.fields)")
                }
            } catch {
                let isInside = error.faults.allSatisfy { $0.range.upperBound <= text.utf8.count }
                if !isInside || error.drawing.isEmpty {
                    Issue.record("seed \(Self.seed), round \(round): \(text.debugDescription)")
                }
            }
        }
        #expect(accepted > 5_000)
    }

    @Test func `of units are read whatever they are`() {
        var maker = RandomExpressions(random: SeededGenerator(seed: Self.seed))
        let seeds = ["[Timer]\nOnCalendar=daily\nOnCalendar=\n[Service]\nExecStart=/bin/x \\\n  y\n; z\n\\\n"]
        for _ in 0..<20_000 {
            let text = Self.mutate(seeds, &maker)
            let count = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).count
            let unit = UnitFile(text)
            let isGood = unit.settings.allSatisfy { (1...count).contains($0.line) && !$0.value.isEmpty }
            if !isGood { Issue.record("seed \(Self.seed): \(text.debugDescription)") }
        }
    }
}
