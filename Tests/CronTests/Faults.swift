import Cron
import TestSupport
import Testing
import Timeline

@Suite struct `a fault` {
    @Test(arguments: [
        ("61 * * * *", CronFault.Kind.outOfRange, CronField.minute, 0..<2),
        ("* 24 * * *", .outOfRange, .hour, 2..<4),
        ("* * 0 * *", .outOfRange, .dayOfMonth, 4..<5),
        ("* * 32 * *", .outOfRange, .dayOfMonth, 4..<6),
        ("* * * 13 *", .outOfRange, .month, 6..<8),
        ("* * * * 8", .outOfRange, .dayOfWeek, 8..<9),
        ("60 * * * * *", .outOfRange, .second, 0..<2),
        ("0 0 0 1 1 * 1969", .outOfRange, .year, 12..<16),
        ("0 0 0 1 1 * 2200", .outOfRange, .year, 12..<16),
        ("0 10-70/5 * * *", .outOfRange, .hour, 5..<7),
        ("12345 * * * *", .outOfRange, .minute, 0..<5),
        ("5,61,7 * * * *", .outOfRange, .minute, 2..<4),
        ("0 0 * * 1#6", .outOfRange, .dayOfWeek, 10..<11),
        ("0 0 * * 1#0", .outOfRange, .dayOfWeek, 10..<11),
        ("0 0 L-31 * *", .outOfRange, .dayOfMonth, 6..<8),
        ("5-1 * * * *", .reversedRange, .minute, 0..<3),
        ("* * * DEC-FEB *", .reversedRange, .month, 6..<13),
        ("* * * * 5-0", .reversedRange, .dayOfWeek, 8..<11),
        ("* * * * FRI-MON", .reversedRange, .dayOfWeek, 8..<15),
        ("0 0 0 1 1 * 2030-2025", .reversedRange, .year, 12..<21),
        ("*/0 * * * *", .badStep, .minute, 2..<3),
        ("5/15 * * * *", .badStep, .minute, 0..<4),
        ("*/ * * * *", .badStep, .minute, 1..<2),
        ("*/a * * * *", .badStep, .minute, 1..<2),
        ("1,,2 * * * *", .emptyTerm, .minute, 2..<3),
        (",1 * * * *", .emptyTerm, .minute, 0..<1),
        ("1, * * * *", .emptyTerm, .minute, 1..<2),
        ("* * * JANUARY *", .unknownName, .month, 6..<13),
        ("* * * FOO *", .unknownName, .month, 6..<9),
        ("* * * * MONDAY", .unknownName, .dayOfWeek, 8..<14),
        ("1-2-3 * * * *", .unexpected, .minute, 3..<4),
        ("1- * * * *", .unexpected, .minute, 1..<2),
        ("*-5 * * * *", .unexpected, .minute, 1..<2),
        ("-1 * * * *", .unexpected, .minute, 0..<1),
        ("+1 * * * *", .unexpected, .minute, 0..<1),
        ("1.5 * * * *", .unexpected, .minute, 1..<2),
        ("a * * * *", .unexpected, .minute, 0..<1),
        ("/5 * * * *", .unexpected, .minute, 0..<1),
        ("*/5/5 * * * *", .unexpected, .minute, 3..<4),
        ("? * * * *", .unexpected, .minute, 0..<1),
        ("* L * * *", .unexpected, .hour, 2..<3),
        ("0 5#3 * * *", .unexpected, .hour, 3..<4),
        ("0 0 1#2 * *", .unexpected, .dayOfMonth, 5..<6),
        ("0 0 * * 2W", .unexpected, .dayOfWeek, 9..<10),
        ("0 0 * * MON+", .unexpected, .dayOfWeek, 11..<12),
        ("0 0 * * MON#", .unexpected, .dayOfWeek, 11..<12),
        ("0 0 L1 * *", .unexpected, .dayOfMonth, 5..<6),
        ("0 0 L- * *", .unexpected, .dayOfMonth, 5..<6),
        ("0 0 1,15W * *", .misplaced, .dayOfMonth, 8..<9),
        ("0 0 1-15W * *", .unexpected, .dayOfMonth, 8..<9),
        ("H * * * *", .seedMissing, .minute, 0..<1),
        ("0 0 1 1 H(", .unexpected, .dayOfWeek, 10..<10),
        ("0 0 1 1 H(1", .unexpected, .dayOfWeek, 8..<11),
        ("0 0 1 1 H(1-", .unexpected, .dayOfWeek, 11..<12),
        ("0 0 1 1 H(1-3", .unexpected, .dayOfWeek, 8..<13),
        ("0 0 * * ¹", .unexpected, .dayOfWeek, 8..<10),
        ("٣ * * * *", .unexpected, .minute, 0..<2),
    ]) func `names its field and its bytes`(
        text: String, kind: CronFault.Kind, field: CronField, range: Range<Int>
    ) {
        let error = #expect(throws: CronError.self) { try CronExpression(text) }
        let fault = error?.faults.first
        #expect(error?.faults.count == 1, "\(text): \(String(describing: error))")
        #expect(
            fault?.kind == kind && fault?.field == field && fault?.range == range, "\(text): \(fault as Any)")
        #expect(fault?.message.isEmpty == false)
    }

    @Test(arguments: [
        ("", CronFault.Kind.empty, 0..<0), ("   ", .empty, 0..<3), ("* * * *", .fieldCount, 0..<7),
        ("* * * * * * * *", .fieldCount, 0..<15), ("0 0\u{A0}* * *", .unexpected, 3..<5),
        ("@dayly", .unknownMacro, 0..<6), ("@DAILY", .unknownMacro, 0..<6), ("@daily 5", .unexpected, 7..<8),
        ("@reboot", .notCalendar, 0..<7), ("@every 5m", .notCalendar, 0..<9),
        ("TZ= 0 0 * * *", .unknownZone, 3..<3),
        ("TZ=UTC", .fieldCount, 6..<6), ("CRON_TZ=a;b 0 0 * * *", .unknownZone, 8..<11),
    ]) func `of the whole text has no field`(text: String, kind: CronFault.Kind, range: Range<Int>) {
        let error = #expect(throws: CronError.self) { try CronExpression(text) }
        #expect(
            error?.faults.first?.kind == kind && error?.faults.first?.range == range,
            "\(text): \(error as Any)")
        #expect(error?.faults.first?.field == nil)
    }

    @Test func `does not hide the others`() {
        let error = #expect(throws: CronError.self) { try CronExpression("61 24 0 13 8") }
        #expect(error?.faults.map(\.field) == [.minute, .hour, .dayOfMonth, .month, .dayOfWeek])
        let list = #expect(throws: CronError.self) { try CronExpression("60,x,1-0 * * * FOO") }
        #expect(list?.faults.map(\.kind) == [.outOfRange, .unexpected, .reversedRange, .unknownName])
        #expect(list?.faults.map(\.range) == [0..<2, 3..<4, 5..<8, 15..<18])
    }

    @Test(arguments: [
        ("0 0 * * #1", "# follows one weekday: 1#2 is the second Monday of a month"),
        ("0 0 * * 1-5#2", "# follows one weekday: 1#2 is the second Monday of a month"),
        ("0 0 1#2 * *", "it belongs in the day of week"), ("0 0 * * 2W", "it belongs in the day of month"),
        ("0 0 1-15W * *", "W follows one day: 15W is the working day nearest to the 15th"),
        ("0 0 3L * *", "L is the last day of a month, L-2 the 2nd day before it"),
        ("0 0 * * 1-5L", "L follows one weekday: 5L is the last Friday of a month"),
        ("* L * * *", "it belongs in a day field"), ("0 0 1? * *", "? stands alone in its field; write *"),
    ]) func `never sends a sign to the field where it stands`(text: String, fix: String) {
        let error = #expect(throws: CronError.self) { try CronExpression(text) }
        #expect(error?.faults.first?.fix == fix, "\(String(describing: error))")
    }

    @Test func `comes with its fix`() {
        func fix(_ text: String) -> String? {
            #expect(throws: CronError.self) { try CronExpression(text) }?.faults.first?.fix
        }
        #expect(fix("5/15 * * * *") == "write 5-59/15")
        #expect(fix("0 22-2 * * *") == "write 22-23,0-2")
        #expect(fix("0 0 * * 5-0") == "write 5-7, where 7 is Sunday")
        #expect(fix("0 0 * * MONDAY") == "write MON")
        #expect(fix("0 0 1 1 2025") == "a year needs 7 fields: write the second first")
        #expect(fix("0 24 * * *") == "the hour after 23 is 0")
        #expect(fix("60 0 * * *") == "the minute after 59 is 0")
        #expect(fix("0 0 L15 * *") == "put a - between: L-2 is the 2nd day before the last")
        #expect(fix("0 0 * * L") == "write the day before it: 5L is the last Friday")
        #expect(fix("30- * * * *") == "write 30-59")
        #expect(fix("@reboot now") == "remove the rest")
        #expect(fix("0 0 1 1 * 2025") == "a year needs 7 fields: write the second first")
        #expect(fix("@DAILY") == "write @daily in lower case")
    }

    @Test func `is drawn under the text`() {
        let error = #expect(throws: CronError.self) { try CronExpression("0 25 * * *") }
        #expect(error?.drawing == "0 25 * * *\n  ^^ hour: 25 is outside 0-23 (columns 3-4)")
        let wide = #expect(throws: CronError.self) { try CronExpression("0 é 25 * *") }
        #expect(
            wide?.drawing == """
                0 é 25 * *
                  ^ hour: "é" cannot stand here; write numbers, * or ranges such as 0-23 (column 3)
                """)
        let end = #expect(throws: CronError.self) { try CronExpression("CRON_TZ=UTC") }
        #expect(
            end?.drawing.hasSuffix(
                "\n           ^ a zone alone is no expression; write the fields after it (column 12)") == true
        )
    }

    /// Wherever a program reports a fault, the one who reads it learns what to write; only a number outside its limits
    /// says enough by the limits.
    @Test func `of any kind comes with its fix`() {
        var maker = RandomExpressions(random: SeededGenerator(seed: 12))
        let alphabet = Array("0123456789*/,-?LWH#+ @CRTZ=MONabz.;é".utf8)
        var kinds: Set<CronFault.Kind> = []
        for _ in 0..<20_000 {
            var bytes = Array(maker.expression().utf8)
            for _ in 0..<maker.number(1, 4) {
                bytes.insert(maker.pick(alphabet), at: maker.number(0, bytes.count))
            }
            let check = CronCheck(String(decoding: bytes, as: UTF8.self), knowsZone: { _ in false })
            for fault in check.faults where fault.kind != .outOfRange {
                kinds.insert(fault.kind)
                #expect(fault.fix != nil, "\(check.text): \(fault.message)")
            }
        }
        #expect(kinds.count > 8, "\(kinds)")
    }

    @Test func `of a text far too long is drawn at its place in the beginning`() {
        let text = String(repeating: "1,", count: 5000) + "1 * * * *"
        let lines = CronCheck(text).drawing.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].count == 257 && lines[0].hasSuffix(",…"))
        #expect(lines[1].hasPrefix(String(repeating: " ", count: 256) + "^ an expression has at most"))
        #expect(lines[1].hasSuffix("(columns 257-10009)"))
    }

    @Test func `of a long text is found before anything is expanded`() {
        let long = String(repeating: "1,", count: 5000) + "1 * * * *"
        let error = #expect(throws: CronError.self) { try CronExpression(long) }
        #expect(error?.faults.map(\.kind) == [.tooLong])
        let widest = String(repeating: "*,", count: 123) + "* * * * *"
        #expect(throws: Never.self) { try CronExpression(widest) }
    }
}

@Suite struct `a warning` {
    @Test(arguments: [
        ("*/45 * * * *", CronWarning.Kind.unevenStep, CronField?.some(.minute), 0..<4),
        ("0 */5 * * *", .unevenStep, .hour, 2..<5),
        ("0 0 1 */5 *", .unevenStep, .month, 6..<9),
        ("*/90 * * * *", .stepExceedsField, .minute, 0..<4),
        ("0 0 */100,1-7 * MON", .stepExceedsField, .dayOfMonth, 4..<9),
        ("0 0 13 * 5", .bothDaysOr, nil, 4..<10),
        ("0 12 */2 * 1", .starStepDay, .dayOfMonth, 5..<12),
        ("0 12 1 * */2", .starStepDay, .dayOfWeek, 5..<12),
        ("0 0 30 2 *", .neverFires, nil, 0..<10),
        ("0 0 * * 7", .sunday7, .dayOfWeek, 8..<9),
        ("* * * * * *", .tooDense, .second, 0..<11),
    ]) func `shows what is often not meant`(
        text: String, kind: CronWarning.Kind, field: CronField?, range: Range<Int>
    ) {
        let check = CronCheck(text)
        let warning = check.warnings.first { $0.kind == kind }
        #expect(warning != nil, "\(text): \(check.warnings)")
        #expect(warning?.field == field && warning?.range == range, "\(text): \(warning as Any)")
    }

    @Test(arguments: [
        "* * * * *", "*/15 * * * *", "0 */6 * * *", "30 2 * * 1-5", "0 0 1 * *", "0 0 13 * +5", "0 0 1 */3 *",
        "0 0 L * *", "0 0 */2 * *", "0 0 * * 0", "0-59/15 9-17 * * *",
    ]) func `is not given for what is common`(text: String) {
        #expect(CronCheck(text).warnings.isEmpty)
    }

    @Test func `names the zone that is used`() {
        let check = CronCheck("CRON_TZ=Asia/Tokyo 0 0 * * *", zoneName: "Europe/Berlin")
        #expect(check.warnings.map(\.kind) == [.zonePrefixOverrides])
        #expect(CronCheck("CRON_TZ=Asia/Tokyo 0 0 * * *", zoneName: "Asia/Tokyo").warnings.isEmpty)
    }

    @Test(arguments: [
        ("30 2 * * *", true), ("30 3 * * *", false), ("30 2 * * 1", false), ("*/15 * * * *", false),
        ("*/15 2 * * *", true), ("0 0 * * *", false), ("30 1 1 1 *", false),
    ]) func `explains what clock changes do to it`(text: String, isAffected: Bool) throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let warning = CronCheck(text).clockChangeWarning(in: berlin, after: .init(seconds: 1_780_000_000))
        #expect((warning != nil) == isAffected)
        #expect(warning.map { $0.kind == .zoneGapAffected } ?? true)
    }

    @Test func `is drawn like a fault`() {
        #expect(
            CronCheck("*/45 * * * *").drawing == """
                */45 * * * *
                ^^^^ minute: 45 does not divide 60: after 45 comes 0 again, 15 later (columns 1-4)
                """)
    }
}
