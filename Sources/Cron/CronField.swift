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
