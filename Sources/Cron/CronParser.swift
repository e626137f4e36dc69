/// Reads an expression once from left to right into masks, and keeps every fault it meets.
///
/// Good text costs no allocation: faults and warnings are made only when there are any, and warnings only
/// when they are asked for.
struct CronParser {
    let dialect: CronOptions.Dialect
    let isLenient: Bool
    let dayRule: CronOptions.DayRule
    let seed: String?
    let spreadsMacros: Bool
    let collectsWarnings: Bool

    var masks = CronMasks()
    /// Whether second, minute or hour begins with a star.
    var followsClock = false
    /// `nil` as long as nothing is wrong, so that good text touches no array.
    private(set) var faultsFound: [CronFault]?
    private(set) var warningsFound: [CronWarning]?

    /// The largest text that is looked at.
    static let longest = 256

    @inline(__always)
    init(options: CronOptions, collectsWarnings: Bool = false) {
        dialect = options.dialect
        isLenient = options.isLenient || options.dialect == .quartz
        dayRule = options.dayRule
        seed = options.seed
        spreadsMacros = options.spreadsMacros
        self.collectsWarnings = collectsWarnings
    }

    /// Reads `bytes`; the result is in `masks` when `faults` stays empty.
    mutating func parse(_ bytes: Span<UInt8>, knowsZone: ((String) -> Bool)?) {
        guard bytes.count <= CronParser.longest else {
            return fail(
                .tooLong, at: CronParser.longest..<bytes.count,
                "an expression has at most \(CronParser.longest) bytes",
                fix: "make several schedules of it")
        }
        var end = bytes.count
        while end > 0, isBlank(bytes[end - 1]) { end -= 1 }
        var position = skipBlanks(bytes, 0, end)
        guard position < end else {
            return fail(
                .empty, at: 0..<bytes.count, "there is no expression",
                fix: "write five fields, such as 30 2 * * *")
        }
        if bytes[position] | 0x20 == 0x74 || bytes[position] | 0x20 == 0x63,
            let afterZone = parseZone(bytes, position, end, knowsZone)
        {
            position = skipBlanks(bytes, afterZone, end)
            guard position < end else {
                return fail(
                    .fieldCount, at: end..<end, "a zone alone is no expression",
                    fix: "write the fields after it")
            }
        }
        if bytes[position] == UInt8(ascii: "@") { return parseMacro(bytes, position, end) }
        parseFields(bytes, position, end)
        masks.normalise()
    }

    private mutating func parseFields(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
        var count = 0
        var position = start
        var lastField = start
        while position < end {
            lastField = position
            count += 1
            while position < end, !isBlank(bytes[position]) { position += 1 }
            position = skipBlanks(bytes, position, end)
        }
        guard count >= 5, count <= 7, dialect == .unix || count != 5 else {
            if failOddBlank(bytes, start, end) { return }
            let asked = dialect == .quartz ? "6 or 7" : "5, 6 or 7"
            return fail(
                .fieldCount, at: start..<end, "expected \(asked) fields, found \(count)",
                fix: dialect == .quartz
                    ? "write second, minute, hour, day of month, month, day of week"
                    : "write minute, hour, day of month, month, day of week")
        }
        position = start
        if count >= 6 {
            let second = parseField(.second, bytes, &position, end)
            masks.seconds = second.bits
            followsClock = second.flags.contains(.starred)
        }
        let minute = parseField(.minute, bytes, &position, end)
        let hour = parseField(.hour, bytes, &position, end)
        masks.minutes = minute.bits
        masks.hours = hour.bits
        followsClock = followsClock || minute.flags.contains(.starred) || hour.flags.contains(.starred)
        let monthDayStart = position
        let monthDay = parseField(.dayOfMonth, bytes, &position, end)
        masks.months = parseField(.month, bytes, &position, end).bits
        let weekdayStart = position
        let weekday = parseField(.dayOfWeek, bytes, &position, end)
        if count == 7 { _ = parseField(.year, bytes, &position, end) }
        masks.monthDays = monthDay.bits
        masks.nthWeekdays |= weekday.bits &* CronMasks.everyWeek
        masks.eitherDay =
            !(monthDay.isOpen(dayRule) || weekday.isOpen(dayRule) || weekday.flags.contains(.forced))
        if count < 7, !isFaultless { hintYear(bytes, lastField, end) }
        if dialect == .quartz, monthDay.flags.contains(.question) == weekday.flags.contains(.question) {
            fail(
                .dialect, in: .dayOfWeek, at: weekdayStart..<end,
                "Quartz needs a ? in exactly one of the two day fields",
                fix: "write ? in the one that says nothing")
        }
        guard collectsWarnings, isFaultless else { return }
        warnOfDays(monthDay, weekday, at: monthDayStart..<end)
    }

    /// A last field that looks like a year, in a text where it is the day of week.
    private mutating func hintYear(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
        guard end - start == 4, bytes[start] == 0x31 || bytes[start] == 0x32 else { return }
        faultsFound = faults.map { fault in
            var fault = fault
            if fault.range == start..<end { fault.fix = "a year needs 7 fields: write the second first" }
            return fault
        }
    }

    // MARK: Bytes

    @inline(__always)
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    @inline(__always)
    func skipBlanks(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var position = start
        while position < end, isBlank(bytes[position]) { position += 1 }
        return position
    }

    func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        var copy: [UInt8] = []
        for place in range { copy.append(bytes[place]) }
        return String(decoding: copy, as: UTF8.self)
    }

    // MARK: Findings

    var faults: [CronFault] { faultsFound ?? [] }
    var warnings: [CronWarning] { warningsFound ?? [] }
    var isFaultless: Bool { faultsFound == nil }

    @inline(never)
    mutating func fail(
        _ kind: CronFault.Kind, in field: CronField? = nil, at range: Range<Int>, _ message: String,
        fix: String? = nil
    ) {
        faultsFound = faults + [CronFault(kind, in: field, at: range, message, fix: fix)]
    }

    @inline(never)
    mutating func warn(
        _ kind: CronWarning.Kind, in field: CronField? = nil, at range: Range<Int>, _ message: String
    ) {
        guard collectsWarnings else { return }
        warningsFound = warnings + [CronWarning(kind, in: field, at: range, message)]
    }
}
