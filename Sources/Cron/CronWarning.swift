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
