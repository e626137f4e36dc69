public import Timeline

/// Everything that is known of a text as an expression: what it means, what is wrong, what is odd.
public struct CronCheck: Sendable {
    /// The text that was read.
    public let text: String

    /// The expression; `nil` when there are faults.
    public let expression: CronExpression?

    /// All faults, in order of their place.
    public let faults: [CronFault]

    /// What is allowed but often not meant, in order of its place.
    public let warnings: [CronWarning]

    /// Reads `text` as ``CronExpression/init(_:options:knowsZone:)`` does, and looks for oddities as well.
    ///
    /// - Parameters:
    ///   - text: At most 256 bytes.
    ///   - options: The notation, and the rules for days and clock changes.
    ///   - zoneName: The zone given beside the text, to be compared with the text's own.
    ///   - knowsZone: Says whether a zone of that name exists.
    public init(
        _ text: String, options: CronOptions = CronOptions(), zoneName: String? = nil,
        knowsZone: ((String) -> Bool)? = nil
    ) {
        self.text = text
        var parser = CronParser(options: options, collectsWarnings: true)
        parser.parse(text.utf8.span, knowsZone: knowsZone)
        faults = parser.faults
        guard parser.isFaultless else {
            expression = nil
            warnings = []
            return
        }
        let expression = CronExpression(text, parser, options)
        let whole = 0..<text.utf8.count
        if let own = expression.zoneName, let zoneName, own != zoneName {
            parser.warn(
                .zonePrefixOverrides, at: whole, "the text's own zone \(own) is used, not \(zoneName)")
        }
        if expression.neverFires {
            parser.warn(.neverFires, at: whole, "no date matches, so it never fires")
        }
        self.expression = expression
        warnings = parser.warnings.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// What the clock changes of `zone` in the ten years after `moment` do to it; `nil` when nothing.
    ///
    /// A job that follows the clock through every hour is not affected: it loses and repeats what the clock
    /// does.
    public func clockChangeWarning(in zone: ZoneRules, after moment: Moment) -> CronWarning? {
        guard let changes = expression?.clockChanges(after: moment, in: zone) else { return nil }
        return CronWarning(.zoneGapAffected, at: 0..<text.utf8.count, changes.sentence)
    }

    /// The text with a line of carets and words under it for each fault and each warning.
    public var drawing: String {
        let odd = warnings.map { warning in
            let field = warning.field.map { "\($0.title): " } ?? ""
            return CronError.draw(warning.range, "\(field)\(warning.message)", under: text)
        }
        guard faults.isEmpty else { return CronError(text: text, faults: faults).drawing }
        return ([CronError.shown(text)] + odd).joined(separator: "\n")
    }
}
