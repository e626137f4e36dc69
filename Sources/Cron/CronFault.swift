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
