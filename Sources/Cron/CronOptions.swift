/// One field of an expression.
public enum CronField: String, CaseIterable, Hashable, Sendable {
    /// Second of the minute, 0-59; the first of 6 or 7 fields.
    case second
    /// Minute of the hour, 0-59.
    case minute
    /// Hour of the day, 0-23.
    case hour
    /// Day of the month, 1-31.
    case dayOfMonth
    /// Month of the year, 1-12 or `JAN`-`DEC`.
    case month
    /// Day of the week, 0-7 or `SUN`-`SAT`; 0 and 7 are Sunday.
    case dayOfWeek
    /// Year, 1970-2199; the last of 7 fields.
    case year

    /// What people call it: `day of month`.
    public var title: String {
        switch self {
        case .second, .minute, .hour, .month, .year: rawValue
        case .dayOfMonth: "day of month"
        case .dayOfWeek: "day of week"
        }
    }

    /// The smallest value.
    var minimum: Int {
        switch self {
        case .second, .minute, .hour, .dayOfWeek: 0
        case .dayOfMonth, .month: 1
        case .year: 1970
        }
    }

    /// The largest value that a star stands for; a day of week may also be written 7.
    var maximum: Int {
        switch self {
        case .second, .minute: 59
        case .hour: 23
        case .dayOfMonth: 31
        case .month: 12
        case .dayOfWeek: 6
        case .year: 2199
        }
    }

    /// How many values there are.
    var width: Int { maximum - minimum + 1 }

    /// Its number in the published hash of `H`; frozen for ever.
    var number: UInt8 {
        switch self {
        case .second: 0
        case .minute: 1
        case .hour: 2
        case .dayOfMonth: 3
        case .month: 4
        case .dayOfWeek: 5
        case .year: 6
        }
    }
}

/// The names of months and days of the week, in the three letters that expressions use.
enum CronNames {
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    ]

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// The month, 1-12, of three letters packed by ``pack(_:_:_:)``.
    static func month(_ code: UInt32) -> Int? {
        switch code {
        case 0x6A616E: 1
        case 0x666562: 2
        case 0x6D6172: 3
        case 0x617072: 4
        case 0x6D6179: 5
        case 0x6A756E: 6
        case 0x6A756C: 7
        case 0x617567: 8
        case 0x736570: 9
        case 0x6F6374: 10
        case 0x6E6F76: 11
        case 0x646563: 12
        default: nil
        }
    }

    /// The day of the week, 0-6 from Sunday, of three letters packed by ``pack(_:_:_:)``.
    static func weekday(_ code: UInt32) -> Int? {
        switch code {
        case 0x73756E: 0
        case 0x6D6F6E: 1
        case 0x747565: 2
        case 0x776564: 3
        case 0x746875: 4
        case 0x667269: 5
        case 0x736174: 6
        default: nil
        }
    }

    /// Three letters as one number, in lower case.
    @inline(__always)
    static func pack(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt32 {
        UInt32(first | 0x20) &<< 16 | UInt32(second | 0x20) &<< 8 | UInt32(third | 0x20)
    }
}

/// How an expression is read, and how its local times become moments.
///
/// The defaults are Debian's cron. OCPS 1.4 recommends `gap: .skip`; ours departs from it because the lost
/// run is what people report as a bug.
public struct CronOptions: Hashable, Sendable {
    /// Which program's notation the text is in; never guessed.
    public enum Dialect: String, CaseIterable, Hashable, Sendable {
        /// crontab(5) with the forms of OCPS.
        case unix
        /// Quartz: 6 or 7 fields, 1 is Sunday, exactly one day field is `?`; wrapped ranges are allowed.
        case quartz
    }

    /// When both day fields must match, and when one is enough.
    public enum DayRule: String, CaseIterable, Hashable, Sendable {
        /// A field that begins with `*` is open, as in Debian's cron: `*/2` too.
        case vixie
        /// Only a bare `*` or `?` is open, as OCPS may be read.
        case ocps
    }

    /// What happens to a fixed-time run whose local time the clock skips.
    public enum Gap: String, CaseIterable, Hashable, Sendable {
        /// It runs once, at the first moment after the gap. A gap of more than three hours replays nothing.
        case runAfter = "run-after"
        /// It does not run.
        case skip
    }

    /// What happens to a fixed-time run whose local time comes twice.
    public enum Overlap: String, CaseIterable, Hashable, Sendable {
        /// It runs the first time.
        case first
        /// It runs the second time.
        case last
        /// It runs both times.
        case both
    }

    /// Which jobs follow the wall clock closely, so that a skipped time is no run and a repeated one is two.
    public enum JobClass: String, CaseIterable, Hashable, Sendable {
        /// Those whose second, minute or hour begins with `*` are wildcard jobs, the others fixed-time jobs.
        case vixie
        /// Every job is a fixed-time job.
        case fixed
        /// Every job is a wildcard job.
        case wildcard
    }

    /// The notation of the text.
    public var dialect: Dialect

    /// Accepts what other programs write: `22-2`, `5/15`, lists of `15W`, lower-case `l` and `w`, `?` in any
    /// field, full names.
    public var isLenient: Bool

    /// What `H` is derived from, usually the job's name.
    public var seed: String?

    /// Lets `@daily` and its like use the seed, as if written with `H`.
    public var spreadsMacros: Bool

    /// How the two day fields combine.
    public var dayRule: DayRule

    /// What happens to skipped local times.
    public var gap: Gap

    /// What happens to repeated local times.
    public var overlap: Overlap

    /// Which jobs the two policies above apply to.
    public var jobClass: JobClass

    /// Options with Debian's behaviour where nothing else is given.
    public init(
        dialect: Dialect = .unix, isLenient: Bool = false, seed: String? = nil, spreadsMacros: Bool = false,
        dayRule: DayRule = .vixie, gap: Gap = .runAfter, overlap: Overlap = .first,
        jobClass: JobClass = .vixie
    ) {
        self.dialect = dialect
        self.isLenient = isLenient
        self.seed = seed
        self.spreadsMacros = spreadsMacros
        self.dayRule = dayRule
        self.gap = gap
        self.overlap = overlap
        self.jobClass = jobClass
    }
}

extension CronOptions {
    /// Whether a job is a fixed-time job, given whether its second, minute or hour begins with a star.
    @inline(__always)
    borrowing func isFixed(_ followsClock: Bool) -> Bool {
        switch jobClass {
        case .vixie: !followsClock
        case .fixed: true
        case .wildcard: false
        }
    }
}
