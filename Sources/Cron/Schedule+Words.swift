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
    /// Hours without am or pm are those of a 24-hour clock. A day without a time begins at midnight. Between two
    /// full hours, minutes run up to the second one and hours include it. What an expression can't say
    /// becomes a grid or a moment (`every other day at 6pm`), or is refused with the reason; a phrase that is
    /// only half understood is refused.
    ///
    /// - Parameters:
    ///   - phrase: At most 256 bytes of English.
    ///   - now: What "tomorrow" and "in 20 minutes" start from; also the anchor of grids.
    ///   - zone: Whose days and hours are meant; its name becomes the schedule's.
    /// - Throws: ``CronError`` with the words that were not understood.
    public init(phrase: String, now: Moment, in zone: ZoneRules) throws(CronError) {
        var reader = PhraseReader(phrase)
        let meaning = try reader.read()
        self = try PhraseComposer(
            phrase: phrase, meaning: meaning, zoneName: zone.name, zone: zone, now: now
        ).schedule()
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
