public import Timeline

extension Schedule {
    /// One line that ``init(text:)`` reads back to an equal schedule.
    ///
    /// ```
    /// cron zone=Europe/Berlin gap=skip 30 2 * * *
    /// calendar zone=Europe/Berlin 2w fri 17:00 from 2026-11-27
    /// every 15m from 2026-01-01T00:00:00Z
    /// after 15m
    /// at 2026-03-29T01:00:00Z
    /// startup
    /// manual
    /// cron zone=UTC 0 9 * * * + every 15m from 2026-01-01T00:00:00Z
    /// ```
    public var text: String {
        switch self {
        case .cron(let expression, let zone):
            let jobClass = expression.classToSay.map { " class=\($0.rawValue)" } ?? ""
            let rules = Self.text(expression.gap, expression.overlap)
            return "cron zone=\(zone)\(rules)\(jobClass) \(expression)"
        case .calendar(let grid, let zone):
            return "calendar zone=\(zone)\(Self.text(grid.gap, grid.overlap)) \(grid.rule.text)"
        case .every(let interval, let anchor):
            return "every \(interval.text) from \(anchor.iso8601)"
        case .after(let interval):
            return "after \(interval.text)"
        case .at(let moment):
            return "at \(moment.iso8601)"
        case .startup, .manual:
            return kind.rawValue
        case .several(let list):
            return list.members.map(\.text).joined(separator: Self.separator)
        }
    }

    /// Between the members of a list; no member holds it.
    private static let separator = " + "

    /// The rules for gaps and folds where they are not the default.
    private static func text(_ gap: CronOptions.Gap, _ overlap: CronOptions.Overlap) -> String {
        (gap == .runAfter ? "" : " gap=\(gap.rawValue)")
            + (overlap == .first ? "" : " fold=\(overlap.rawValue)")
    }

    /// The schedule of a line that ``text`` wrote.
    ///
    /// - Throws: ``CronError`` with the place in `text`.
    public init(text: String) throws(CronError) {
        guard text.contains(Self.separator) else {
            self = try Self.readMember(text)
            return
        }
        self = try Self.readList(text)
    }

    private static func readList(_ text: String) throws(CronError) -> Schedule {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
        var members: [Schedule] = []
        var start = 0
        for part in parts {
            do {
                members.append(try readMember(part))
            } catch {
                throw error.moved(by: start, in: text)
            }
            start += part.utf8.count + separator.utf8.count
        }
        do throws(ScheduleListError) {
            return .several(try ScheduleList(members))
        } catch {
            throw error.fault(in: parts, separator: separator)
        }
    }

    private static func readMember(_ text: String) throws(CronError) -> Schedule {
        let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = words.count > 1 ? words[1] : text[text.endIndex...]
        let start = text.utf8.count - rest.utf8.count
        switch words.first {
        case "cron":
            return try readCron(rest, in: text)
        case "calendar":
            return try readCalendar(rest, in: text)
        case "every":
            return try readEvery(rest, in: text)
        case "after":
            return .after(try readInterval(rest, at: start, in: text))
        case "at":
            return .at(try readMoment(rest, at: start, in: text))
        case "startup" where words.count == 1:
            return .startup
        case "manual" where words.count == 1:
            return .manual
        default:
            throw CronError(
                text: text,
                CronFault(
                    .notUnderstood, at: 0..<text.utf8.count, "this is not a schedule",
                    fix: "begin with one of cron calendar every after at startup manual"))
        }
    }

    private static func readCron(_ rest: Substring, in text: String) throws(CronError) -> Schedule {
        var rest = rest
        let (options, zone) = try readOptions(&rest, allowsClass: true, in: text)
        do {
            return .cron(try CronExpression(String(rest), options: options), zone: zone)
        } catch {
            throw error.moved(by: text.utf8.count - rest.utf8.count, in: text)
        }
    }

    private static func readCalendar(_ rest: Substring, in text: String) throws(CronError) -> Schedule {
        var rest = rest
        let (options, zone) = try readOptions(&rest, allowsClass: false, in: text)
        let rule: CalendarRule
        do {
            rule = try CalendarRule(text: String(rest))
        } catch {
            throw error.moved(by: text.utf8.count - rest.utf8.count, in: text)
        }
        guard let first = rule.first,
            let grid = CalendarGrid(
                days: rule.days, firstDay: first, secondOfDay: rule.secondOfDay, gap: options.gap,
                overlap: options.overlap)
        else {
            let end = text.utf8.count
            throw CronError(
                text: text,
                CronFault(.badMoment, at: end..<end, "the first day is missing", fix: "add from 2026-11-27"))
        }
        return .calendar(grid, zone: zone)
    }

    /// Takes `zone=Europe/Berlin gap=skip ` from the beginning of `rest`.
    private static func readOptions(
        _ rest: inout Substring, allowsClass: Bool, in text: String
    ) throws(CronError) -> (CronOptions, zone: String) {
        var options = CronOptions()
        var zone: String?
        while let blank = rest.firstIndex(of: " "), let equals = rest[..<blank].firstIndex(of: "=") {
            let key = rest[..<equals]
            // The expression's own zone begins the expression.
            guard key != "CRON_TZ", key != "TZ" else { break }
            let value = String(rest[rest.index(after: equals)..<blank])
            let start = text.utf8.count - rest.utf8.count
            let policies = (CronOptions.Gap(rawValue: value), CronOptions.Overlap(rawValue: value))
            switch key {
            case "zone": zone = value
            case "gap" where policies.0 != nil: options.gap = policies.0 ?? .runAfter
            case "fold" where policies.1 != nil: options.overlap = policies.1 ?? .first
            case "class" where allowsClass && CronOptions.JobClass(rawValue: value) != nil:
                options.jobClass = CronOptions.JobClass(rawValue: value) ?? .vixie
            default:
                throw CronError(
                    text: text,
                    CronFault(
                        .notUnderstood, at: start..<start + rest[..<blank].utf8.count,
                        "\"\(rest[..<blank])\" is not an option of a schedule"))
            }
            rest = rest[rest.index(after: blank)...]
        }
        guard let zone else {
            let start = text.utf8.count - rest.utf8.count
            throw CronError(text: text, CronFault(.unknownZone, at: start..<start, "the zone is missing"))
        }
        return (options, zone)
    }

    private static func readEvery(_ rest: Substring, in text: String) throws(CronError) -> Schedule {
        let parts = rest.split(separator: " ", omittingEmptySubsequences: false)
        let start = text.utf8.count - rest.utf8.count
        guard parts.count == 3, parts[1] == "from" else {
            throw CronError(
                text: text,
                CronFault(
                    .badInterval, at: start..<text.utf8.count, "expected an interval, from and a moment"))
        }
        let anchor = try readMoment(parts[2], at: text.utf8.count - parts[2].utf8.count, in: text)
        return .every(try readInterval(parts[0], at: start, in: text), anchor: anchor)
    }

    /// An interval larger than zero.
    static func readInterval(
        _ word: Substring, at start: Int, in text: String
    ) throws(CronError) -> Duration {
        let range = start..<start + word.utf8.count
        do {
            let interval = try Duration(text: word)
            if interval > .zero { return interval }
        } catch {
            let place = start + error.range.lowerBound..<start + error.range.upperBound
            throw CronError(text: text, CronFault(.badInterval, at: place, error.message, fix: error.fix))
        }
        throw CronError(text: text, CronFault(.badInterval, at: range, "an interval must be at least 1s"))
    }

    private static func readMoment(
        _ word: Substring, at start: Int, in text: String
    ) throws(CronError) -> Moment {
        do {
            return try Moment(iso8601: word)
        } catch {
            let place = start + error.range.lowerBound..<start + error.range.upperBound
            throw CronError(text: text, CronFault(.badMoment, at: place, error.message, fix: error.fix))
        }
    }
}

extension CronExpression {
    /// The class that its canonical text does not say by itself.
    fileprivate var classToSay: CronOptions.JobClass? {
        var parser = CronParser(options: CronOptions())
        let text = description
        parser.parse(text.utf8.span, knowsZone: nil)
        guard parser.followsClock == isFixedTime else { return nil }
        return isFixedTime ? .fixed : .wildcard
    }
}

extension CronError {
    /// The same faults, `distance` bytes further on in a text that holds the one read.
    func moved(by distance: Int, in whole: String) -> CronError {
        CronError(
            text: whole,
            faults: faults.map { fault in
                var fault = fault
                fault.range = fault.range.lowerBound + distance..<fault.range.upperBound + distance
                return fault
            })
    }
}

extension CronExpression {
    /// What it means, in English: `At 02:30 on Monday through Friday`.
    ///
    /// Made of the meaning and not of the text, so `*/45` is not "every 45 minutes".
    public var words: String {
        let sentence = CronWords(masks: plan.masks).sentence
        return zoneName.map { "\(sentence), \($0) time" } ?? sentence
    }
}

extension Schedule {
    /// What it means, in English, moments as local times of `zone`.
    public func words(in zone: ZoneRules) -> String {
        switch self {
        case .cron(let expression, _):
            expression.words
        case .calendar(let grid, _):
            grid.words
        case .every(let interval, let anchor):
            // A day has other lengths where the clock changes.
            "Every \(interval.words(each: true))\(interval < .seconds(86_400) ? "" : " of elapsed time")"
                + ", counted from \(anchor.iso8601(in: zone))"
        case .after(let interval):
            "\(interval.words(each: false)) after the previous run ended"
        case .at(let moment):
            "Once, at \(moment.iso8601(in: zone))"
        case .startup:
            "Once after each boot"
        case .manual:
            "Only when you start it"
        case .several(let list):
            list.words(in: zone)
        }
    }
}

extension Duration {
    /// `2 days`, `1 hour 30 minutes`; behind "every" also `hour`.
    fileprivate func words(each: Bool) -> String {
        let units = [
            "d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond", "us": "microsecond",
        ]
        var parts: [String] = []
        var rest = text[...]
        while let first = rest.first, first.isNumber {
            let digits = rest.prefix { $0.isNumber }
            let unit = rest.dropFirst(digits.count).prefix { $0.isLetter }
            parts.append("\(digits) \(units[String(unit)] ?? String(unit))\(digits == "1" ? "" : "s")")
            rest = rest.dropFirst(digits.count + unit.count)
        }
        let words = parts.joined(separator: " ")
        return each && parts.count == 1 && words.hasPrefix("1 ") ? String(words.dropFirst(2)) : words
    }
}
