public import Timeline

/// A text that is not a schedule, with everything that is wrong in it.
public struct CronError: Error, Hashable, Sendable {
    /// The text that was read.
    public var text: String

    /// All faults, in order of their place; never empty.
    public var faults: [CronFault]

    init(text: String, faults: [CronFault]) {
        self.text = text
        self.faults = faults
    }

    init(text: String, _ fault: CronFault) {
        self.init(text: text, faults: [fault])
    }

    /// The text with a line of carets and words under it for each fault.
    ///
    /// ```
    /// 0 25 * * *
    ///   ^^ hour: 25 is outside 0-23 (columns 3-4)
    /// ```
    public var drawing: String {
        ([Self.shown(text)] + faults.map { Self.draw($0.range, Self.sentence(about: $0), under: text) })
            .joined(separator: "\n")
    }

    /// How many characters of a text are shown; anything may have been given.
    private static let shownCharacters = 256

    /// The beginning of `text`, all of it where it is not far too long.
    static func shown(_ text: String) -> String {
        let start = text.prefix(shownCharacters)
        return start.endIndex == text.endIndex ? text : start + "…"
    }

    /// One line of carets under `range` of `text`, followed by `words` and the columns.
    ///
    /// An empty range is shown as one caret where something is missing. Columns count characters from 1.
    static func draw(_ range: Range<Int>, _ words: String, under text: String) -> String {
        let bytes = Array(text.utf8)
        func column(_ offset: Int) -> Int {
            String(decoding: bytes[..<min(offset, bytes.count)], as: UTF8.self).count
        }
        let start = column(range.lowerBound)
        let width = max(1, column(range.upperBound) - start)
        let carets = max(1, min(width, shownCharacters + 1 - start))
        let place = width == 1 ? "column \(start + 1)" : "columns \(start + 1)-\(start + width)"
        return String(repeating: " ", count: min(start, shownCharacters))
            + String(repeating: "^", count: carets)
            + " \(words) (\(place))"
    }

    private static func sentence(about fault: CronFault) -> String {
        let place = fault.field.map { "\($0.title): " } ?? ""
        return place + fault.message + (fault.fix.map { "; \($0)" } ?? "")
    }
}

extension CronError: CustomStringConvertible {
    /// The faults as one line, without the drawing.
    public var description: String { faults.map(Self.sentence).joined(separator: "; ") }
}

/// One thing that is wrong in a text, with its place and its fix.
public struct CronFault: Hashable, Sendable {
    /// What is wrong; the name is what programs may compare.
    public enum Kind: String, Hashable, Sendable {
        /// There is no text, or only blanks.
        case empty
        /// More than 256 bytes.
        case tooLong
        /// Neither 5, 6 nor 7 fields.
        case fieldCount
        /// A byte that no rule allows here.
        case unexpected
        /// A comma with nothing on one of its sides.
        case emptyTerm
        /// A number outside its field's limits, or of more than four digits.
        case outOfRange
        /// `a-b` with a larger than b.
        case reversedRange
        /// A step of zero, without a number, or without a range before it.
        case badStep
        /// Letters that are not a month or a day of the week.
        case unknownName
        /// A form such as `15W` where it may not stand.
        case misplaced
        /// An `@word` that is not a macro.
        case unknownMacro
        /// A macro that names an event or an interval, not times of a calendar.
        case notCalendar
        /// `CRON_TZ=` without a zone that exists.
        case unknownZone
        /// `H` without a seed.
        case seedMissing
        /// What the dialect asks for and the text lacks.
        case dialect
        /// A phrase, or a part of one, that was not understood.
        case notUnderstood
        /// Understood, but no schedule can say it.
        case notExpressible
        /// A duration that cannot be read, or is zero.
        case badInterval
        /// A moment that cannot be read.
        case badMoment
    }

    /// What kind of fault it is.
    public var kind: Kind

    /// The field it is in; `nil` when it concerns the whole text.
    public var field: CronField?

    /// The bytes at fault, as UTF-8 offsets in the text; empty where something is missing.
    public var range: Range<Int>

    /// One sentence without a full stop.
    public var message: String

    /// What to write instead, where that is known.
    public var fix: String?

    init(
        _ kind: Kind, in field: CronField? = nil, at range: Range<Int>, _ message: String, fix: String? = nil
    ) {
        self.kind = kind
        self.field = field
        self.range = range
        self.message = message
        self.fix = fix
    }
}

/// Something that is allowed but is often not what was meant.
public struct CronWarning: Hashable, Sendable {
    /// What is odd; the name is what programs may compare.
    public enum Kind: String, Hashable, Sendable {
        /// No date of the calendar matches.
        case neverFires
        /// A step that does not divide its field, such as `*/45`: the last stretch is shorter.
        case unevenStep
        /// A step larger than its field, such as `*/90`: only the first value is left.
        case stepExceedsField
        /// `*/n` in a day field beside another one: other programs read OR where this is AND.
        case starStepDay
        /// Both day fields are set: either is enough.
        case bothDaysOr
        /// It fires at local times that the zone's clock change skips or repeats.
        case zoneGapAffected
        /// The text's own zone is used instead of the one given beside it.
        case zonePrefixOverrides
        /// 7 is Sunday here, and something else in Quartz.
        case sunday7
        /// It fires every second.
        case tooDense
    }

    /// What kind of warning it is.
    public var kind: Kind

    /// The field it is about; `nil` when it concerns the whole text.
    public var field: CronField?

    /// The bytes it is about, as UTF-8 offsets in the text.
    public var range: Range<Int>

    /// One sentence without a full stop.
    public var message: String

    init(_ kind: Kind, in field: CronField? = nil, at range: Range<Int>, _ message: String) {
        self.kind = kind
        self.field = field
        self.range = range
        self.message = message
    }
}

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
