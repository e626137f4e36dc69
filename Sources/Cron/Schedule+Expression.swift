public import Timeline

extension Schedule {
    /// The schedule of what stands where an expression is expected: fields, `@daily`, `@reboot`, `@every 15m`.
    ///
    /// - Parameters:
    ///   - text: At most 256 bytes.
    ///   - zone: The zone's name, for an expression that names none.
    ///   - anchor: Where the grid of `@every` begins.
    ///   - options: The notation, and the rules for days and clock changes.
    ///   - knowsZone: Says whether a zone of that name exists.
    /// - Throws: ``CronError`` with every fault of the text.
    public init(
        expression text: String, zone: String, anchor: Moment, options: CronOptions = CronOptions(),
        knowsZone: ((String) -> Bool)? = nil
    ) throws(CronError) {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        let words = trimmed.split { $0 == " " || $0 == "\t" }
        if words == ["@reboot"] {
            self = .startup
        } else if words.count == 2, words[0] == "@every" {
            let start = text.utf8.distance(from: text.startIndex, to: words[1].startIndex)
            self = .every(try Self.readInterval(words[1], at: start, in: text), anchor: anchor)
        } else {
            self = .cron(
                try CronExpression(text, options: options, knowsZone: knowsZone), zone: zone)
        }
    }
}
