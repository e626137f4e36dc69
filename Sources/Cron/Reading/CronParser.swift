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
        let (count, lastField) = countFields(bytes, start, end)
        guard count >= 5, count <= 7, dialect == .unix || count != 5 else {
            return failFieldCount(count, bytes, start, end)
        }
        var position = start
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

    /// How many fields there are, and where the last of them begins.
    @inline(__always)
    private func countFields(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> (count: Int, last: Int) {
        var count = 0
        var position = start
        var last = start
        while position < end {
            last = position
            count += 1
            while position < end, !isBlank(bytes[position]) { position += 1 }
            position = skipBlanks(bytes, position, end)
        }
        return (count, last)
    }

    private mutating func failFieldCount(_ count: Int, _ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
        if failOddBlank(bytes, start, end) { return }
        let asked = dialect == .quartz ? "6 or 7" : "5, 6 or 7"
        fail(
            .fieldCount, at: start..<end, "expected \(asked) fields, found \(count)",
            fix: dialect == .quartz
                ? "write second, minute, hour, day of month, month, day of week"
                : "write minute, hour, day of month, month, day of week")
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

extension CronParser {
    /// Reads `CRON_TZ=Zone` or `TZ=Zone`; the position after it, or `nil` when the text begins otherwise.
    mutating func parseZone(
        _ bytes: Span<UInt8>, _ start: Int, _ end: Int, _ knowsZone: ((String) -> Bool)?
    ) -> Int? {
        var equals = start
        while equals < end, bytes[equals] != UInt8(ascii: "="), equals - start < 8 { equals += 1 }
        guard equals < end, bytes[equals] == UInt8(ascii: "=") else { return nil }
        let key = text(bytes, start..<equals)
        guard key == "CRON_TZ" || key == "TZ" else { return nil }
        var stop = equals + 1
        while stop < end, !isBlank(bytes[stop]) { stop += 1 }
        let name = text(bytes, equals + 1..<stop)
        if name.isEmpty || !name.utf8.allSatisfy(CronParser.isZoneByte) {
            fail(
                .unknownZone, at: equals + 1..<stop,
                name.isEmpty ? "the zone is missing" : "this is no zone's name",
                fix: "write one such as \(key)=Europe/Berlin")
        } else if let knowsZone, !knowsZone(name) {
            fail(
                .unknownZone, at: equals + 1..<stop, "there is no zone \"\(name)\"",
                fix: "write one such as \(key)=Europe/Berlin")
        }
        return stop
    }

    /// The zone that the beginning of a good text names, if there is one.
    static func zoneName(in text: String) -> String? {
        let rest = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == UInt8(ascii: "C") || rest.first == UInt8(ascii: "T"),
            let equals = rest.firstIndex(of: UInt8(ascii: "="))
        else { return nil }
        return String(rest[rest.index(after: equals)...].prefix { $0 != 0x20 && $0 != 0x09 })
    }

    static func isZoneByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "/")
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
    }

    /// Reads `@daily` and its like.
    mutating func parseMacro(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
        var stop = start
        while stop < end, !isBlank(bytes[stop]) { stop += 1 }
        let name = text(bytes, start..<stop)
        let usesSeed = spreadsMacros && seed != nil
        let fields: String
        switch name {
        case "@yearly", "@annually": fields = usesSeed ? "H H H H *" : "0 0 1 1 *"
        case "@monthly": fields = usesSeed ? "H H H * *" : "0 0 1 * *"
        case "@weekly": fields = usesSeed ? "H H * * H" : "0 0 * * 0"
        case "@daily", "@midnight": fields = usesSeed ? "H H * * *" : "0 0 * * *"
        case "@hourly": fields = usesSeed ? "H * * * *" : "0 * * * *"
        case "@reboot" where skipBlanks(bytes, stop, end) < end:
            fields = ""
        case "@reboot":
            return fail(
                .notCalendar, at: start..<stop, "@reboot is an event and has no times",
                fix: "use it as the schedule of a job")
        case "@every":
            return fail(
                .notCalendar, at: start..<end, "@every is an interval, not times of a calendar",
                fix: "use it as the schedule of a job, such as @every 15m")
        default:
            let known = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]
            let near = known.first { $0 == name.lowercased() }
            return fail(
                .unknownMacro, at: start..<stop, "\(name) is not known",
                fix: near.map { "write \($0) in lower case" } ?? "use one of \(known.joined(separator: " "))")
        }
        let rest = skipBlanks(bytes, stop, end)
        guard rest == end else {
            return fail(.unexpected, at: rest..<end, "nothing may follow \(name)", fix: "remove the rest")
        }
        var inner = CronParser(
            options: CronOptions(seed: seed, dayRule: dayRule))
        let expansion = fields
        inner.parse(expansion.utf8.span, knowsZone: nil)
        masks = inner.masks
        followsClock = inner.followsClock
    }

    mutating func warnOfStep(_ term: Term, _ field: CronField, _ range: Range<Int>) {
        let values = term.high - term.low + 1
        if term.step > values {
            warn(
                .stepExceedsField, in: field, at: range,
                "the step is larger than the field, so only \(term.low) is left")
        } else if values == field.width, field != .year, field != .dayOfMonth, values % term.step != 0 {
            let last = term.low + (values - 1) / term.step * term.step
            warn(
                .unevenStep, in: field, at: range,
                "\(term.step) does not divide \(values): after \(last) comes \(term.low) again, \(values - last + term.low) later"
            )
        }
    }

    mutating func warnOfDays(_ monthDay: Field, _ weekday: Field, at range: Range<Int>) {
        let bothSet = !masks.hasAnyMonthDay && !masks.hasAnyWeekday
        if masks.eitherDay, bothSet {
            warn(
                .bothDaysOr, at: range,
                "it fires when the day of month matches, and also when the day of week does")
        }
        let differs =
            !weekday.flags.contains(.forced)
            && (monthDay.isOpen(.vixie) || weekday.isOpen(.vixie))
                != (monthDay.isOpen(.ocps) || weekday.isOpen(.ocps))
        if differs, bothSet || dayRule == .ocps {
            warn(
                .starStepDay,
                in: monthDay.flags.contains(.bare) || !monthDay.flags.contains(.starred)
                    ? .dayOfWeek : .dayOfMonth,
                at: range,
                "a star with a step beside another day field: here \(masks.eitherDay ? "one" : "both") must match, other programs disagree"
            )
        }
        if masks.seconds == CronMasks.allSeconds, masks.minutes == CronMasks.allSeconds {
            warn(.tooDense, in: .second, at: 0..<range.upperBound, "it fires every second")
        }
    }
}
