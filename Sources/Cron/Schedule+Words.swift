public import Timeline

extension CronExpression {
    /// What it means, in English: `At 02:30 on Monday through Friday`.
    ///
    /// Made of the meaning and not of the text, so `*/45` is not "every 45 minutes". OR and AND of the two
    /// day fields are said in capitals.
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
            "Every \(interval.words) of elapsed time, counted from \(anchor.iso8601(in: zone))"
        case .after(let interval):
            "\(interval.words) after the last run has ended"
        case .at(let moment):
            "Once, at \(moment.iso8601(in: zone))"
        case .startup:
            "Once after each start of the machine"
        case .manual:
            "Only when asked"
        }
    }
}

extension Schedule {
    /// The schedule that a phrase such as `every weekday at 9:30` or `in 20 minutes` asks for.
    ///
    /// Hours without am or pm are those of a 24-hour clock, except at night, where 12 and 1 to 5 are midnight and
    /// the hours after it. A day without a time begins at midnight. Limits such as `between 9 and 17` never include
    /// their end; `through 17` does. What no expression can say becomes a calendar, a grid or a moment
    /// (`every other day at 6pm`), or is refused with the reason; so is a phrase that is only half understood.
    ///
    /// - Parameters:
    ///   - phrase: At most 256 bytes of English.
    ///   - now: What "tomorrow" and "in 20 minutes" start from; also the anchor of grids.
    ///   - zone: Whose days and hours are meant; its name becomes the schedule's.
    /// - Throws: ``CronError`` with the words that were not understood.
    public init(phrase: String, now: Moment, in zone: ZoneRules) throws(CronError) {
        self = try PhraseAnswer(phrase, now: now, in: zone).schedule
    }
}

/// What a phrase asks for, and how a part of it was understood that people read in two ways.
package struct PhraseAnswer: Sendable {
    /// The schedule.
    package let schedule: Schedule

    /// How limits such as `between 9 and 17` were understood; `nil` when the phrase has none.
    package let note: String?

    /// Whether the phrase names the first day of a calendar, so that it means the same whenever it is read.
    package let namesFirstDay: Bool

    /// Reads a phrase as `Schedule.init(phrase:now:in:)` does.
    package init(_ phrase: String, now: Moment, in zone: ZoneRules) throws(CronError) {
        var reader = PhraseReader(phrase)
        let meaning = try reader.read()
        schedule = try PhraseComposer(
            phrase: phrase, meaning: meaning, zoneName: zone.name, zone: zone, now: now
        ).schedule()
        namesFirstDay = meaning.firstDay != nil
        note = meaning.window.flatMap { window in
            window.to.map { Self.note(on: $0, isInclusive: window.isInclusive) }
        }
    }

    private static func note(on end: PhraseMeaning.Time, isInclusive: Bool) -> String {
        let clock = CronWords.clock(end.hour, end.minute)
        return isInclusive ? "\(clock) is included" : "\(clock) is not included; \"through\" would include it"
    }
}

extension Duration {
    /// `2 days`, `1 hour 30 minutes`.
    fileprivate var words: String {
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
        return parts.joined(separator: " ")
    }
}
