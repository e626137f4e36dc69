import TestSupport
import Testing
import Timeline

@testable import TerminalView

@Suite struct `the columns of a table` {
    @Test func `keep their widths where they fit`() {
        #expect(ColumnFit.widths([4, 10, 6], flexible: [1, 2], columns: 24) == [4, 10, 6])
    }

    @Test(arguments: [
        (23, [4, 9, 6]), (20, [4, 6, 6]),
        // No column below the least, also where the table is too wide then.
        (5, [4, 6, 6]),
    ])
    func `lose cells where they are widest`(columns: Int, widths: [Int]) {
        #expect(ColumnFit.widths([4, 10, 6], flexible: [1, 2], least: 6, columns: columns) == widths)
    }

    @Test func `are cut alike where they are as wide`() {
        #expect(ColumnFit.widths([4, 40, 40, 30], flexible: [1, 2, 3], columns: 80) == [4, 23, 23, 24])
        #expect(
            ColumnFit.widths([90, 20], flexible: [1], columns: 80) == [90, 8], "never the name of the row")
    }

    @Test func `always fit or have nothing left to lose`() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<2000 {
            let natural = (0..<1 + random.below(6)).map { _ in random.below(60) }
            let flexible = Set(natural.indices.filter { _ in random.below(2) == 0 })
            let columns = 1 + random.below(160)
            let widths = ColumnFit.widths(natural, flexible: flexible, columns: columns)
            let total = widths.reduce(0, +) + 2 * (widths.count - 1)
            #expect(total <= columns || flexible.allSatisfy { widths[$0] <= max(8, 0) || natural[$0] <= 8 })
            for column in natural.indices {
                #expect(widths[column] <= natural[column])
                #expect(flexible.contains(column) || widths[column] == natural[column])
            }
        }
    }

    @Test(arguments: [
        ("backup", 6, "backup"), ("backups", 6, "backu…"), ("日本語です", 6, "日本…"), ("日本語", 6, "日本語"),
        ("e\u{301}te\u{301}s d'ici", 5, "e\u{301}te\u{301}s…"),
    ])
    func `are cut by cells, not by characters`(text: String, cells: Int, shown: String) {
        #expect(ColumnFit.cut(text, to: cells) == shown)
        #expect(CellWidth.of(ColumnFit.cut(text, to: cells)) <= cells)
    }
}

@Suite struct `a long sentence` {
    @Test func `is cut at spaces, and what follows is set back`() {
        let text = "channel  hook, webhook: failing since 02:10 (status 500)"
        #expect(
            ColumnFit.wrap(text, hang: 9, columns: 30) == [
                "channel  hook, webhook:", "         failing since 02:10", "         (status 500)",
            ])
        #expect(ColumnFit.wrap(text, hang: 9, columns: 80) == [text])
        #expect(ColumnFit.wrap("  a b", hang: 2, columns: 4) == ["  a", "  b"])
        #expect(ColumnFit.wrap("abcdefgh ij", hang: 2, columns: 4) == ["abcdefgh", "  ij"])
        #expect(ColumnFit.wrap("", hang: 2, columns: 4) == [""])
        // What sets a colour takes no room.
        #expect(ColumnFit.wrap("\u{1B}[32mab\u{1B}[0m c", hang: 0, columns: 4).count == 1)
    }
}

@Suite struct `a time for people` {
    private let now = Moment(seconds: 1_795_413_600)

    @Test func `has its day and its offset`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        #expect(now.iso8601(in: berlin) == "2026-11-23T07:00:00+01:00")
        func full(_ iso: String) throws -> String {
            DisplayTime.full(try Moment(iso8601: iso), in: berlin, at: now)
        }
        #expect(try full("2026-11-24T02:00:00Z") == "Tue 24 Nov 03:00 (+01:00)")
        #expect(try full("2026-07-01T02:00:05Z") == "Wed 1 Jul 04:00:05 (+02:00)")
        #expect(try full("2027-03-28T01:00:00Z") == "Sun 28 Mar 2027 03:00 (+02:00)")
        let newYork = try SystemZones.zone("America/New_York")
        #expect(DisplayTime.full(now, in: newYork, at: now) == "Mon 23 Nov 01:00 (-05:00)")
    }

    @Test func `in a column is as short as it may be`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        func short(_ iso: String) throws -> String {
            DisplayTime.short(try Moment(iso8601: iso), in: berlin, at: now)
        }
        #expect(try short("2026-11-23T02:00:05Z") == "03:00:05")
        // Within twelve hours, and yet tomorrow.
        #expect(try short("2026-11-23T23:30:00Z") == "Tue 24 Nov 00:30")
        #expect(try short("2025-11-23T02:00:00Z") == "Sun 23 Nov 2025 03:00")
    }
}

@Suite struct `the width of a text` {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("ｱ", 1), ("Ａ", 2), ("…", 1), ("█▎·", 3), ("●◆✓✗○◌‖–", 8), ("😀", 2), ("❤\u{FE0F}", 2), ("❤", 1),
        ("👩‍👩‍👧", 2), ("👍🏽", 2), ("🇩🇪", 2), ("🏳️‍🌈", 2), ("1\u{FE0F}\u{20E3}", 2), ("क्ष", 2), ("สวัสดี", 4),
        ("שלום", 4), ("\u{200B}", 0), ("a\u{AD}b", 3), ("\u{20000}", 2), ("〰", 2), ("\u{1F1E9}", 1),
    ])
    func `is what terminals give it, or a cell more`(text: String, cells: Int) {
        #expect(CellWidth.of(text) == cells)
    }

    @Test func `is cut by cells between characters, with an ellipsis`() {
        func cut(_ text: String, _ cells: Int) -> (String, Int) {
            var line = FrameLine(plainColors)
            line.add(text, limit: cells)
            return (String(decoding: line.bytes, as: UTF8.self), line.cells)
        }
        #expect(cut("日本語", 6) == ("日本語", 6))
        #expect(cut("日本語", 5) == ("日本…", 5))
        #expect(cut("日本語", 4) == ("日…", 3))
        #expect(cut("日本語", 1) == ("", 0))
        #expect(cut("ab👩‍👩‍👧cd", 4) == ("ab…", 3))
        #expect(cut("ab👩‍👩‍👧cd", 5) == ("ab👩‍👩‍👧…", 5))
        #expect(cut("e\u{301}e\u{301}e\u{301}", 2) == ("e\u{301}…", 2))
        #expect(cut("abc", 0) == ("", 0))
    }

    @Test func `is one question mark a character where only ASCII is taken`() {
        var line = FrameLine(asciiOnly)
        line.add("日本 ok 👩‍👩‍👧!", limit: 40)
        #expect(String(decoding: line.bytes, as: UTF8.self) == "?? ok ?!")
        #expect(line.cells == 8)
    }
}
