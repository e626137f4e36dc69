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
