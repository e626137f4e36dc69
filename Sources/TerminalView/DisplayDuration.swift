/// Durations as people read them beside a bar.
package enum DisplayDuration {
    /// At most two units, cut and not rounded: `42s`, `3m12s`, `1h05m`, `2d3h`.
    ///
    /// Negative ones are `0s`.
    package static func text(_ duration: Duration) -> String {
        text(seconds: max(0, duration.components.seconds))
    }

    /// Rounded to what an estimate is worth: 5 s below a minute, 15 s below 5, a minute below an hour, then
    /// 5 minutes; never below 5 s.
    package static func rounded(_ duration: Duration) -> Duration {
        let seconds = max(0, duration.components.seconds)
        let step: Int64 =
            switch seconds {
            case ..<60: 5
            case ..<300: 15
            case ..<3600: 60
            default: 300
            }
        return .seconds(max(5, (seconds + step / 2) / step * step))
    }

    static func text(seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds / 60)m\(two(seconds % 60))s"
        case ..<86400:
            seconds % 3600 / 60 == 0
                ? "\(seconds / 3600)h" : "\(seconds / 3600)h\(two(seconds % 3600 / 60))m"
        default:
            seconds % 86400 / 3600 == 0
                ? "\(seconds / 86400)d" : "\(seconds / 86400)d\(seconds % 86400 / 3600)h"
        }
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
