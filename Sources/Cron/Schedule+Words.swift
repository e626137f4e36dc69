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
            "Every \(interval.text) of elapsed time, counted from \(anchor.iso8601(in: zone))"
        case .after(let interval):
            "\(interval.text) after the last run has ended"
        case .at(let moment):
            "Once, at \(moment.iso8601(in: zone))"
        case .startup:
            "Once after each start of the machine"
        case .manual:
            "Only when asked"
        }
    }
}
