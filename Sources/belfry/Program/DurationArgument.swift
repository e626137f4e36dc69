import ArgumentParser
import Timeline

/// A duration such as `90s`, `15m` or `1h30m`.
struct DurationArgument: ExpressibleByArgument, Hashable {
    let duration: Duration

    init?(argument: String) {
        guard let duration = try? Duration(text: argument) else { return nil }
        self.duration = duration
    }

    var milliseconds: Int64 { duration.milliseconds }
}
