package import Timeline
import Tracking

/// The next slots in words, for views that have nothing else to show.
package enum NextSlots {
    /// `next: backup 03:00, in 9 h`.
    ///
    /// - Parameters:
    ///   - job: the job's name.
    ///   - at: its next slot.
    ///   - zone: where the reader is.
    ///   - now: the moment it is shown.
    /// - Returns: one line.
    package static func line(_ job: String, _ at: Moment, in zone: ZoneRules, at now: Moment) -> String {
        "next: \(entry(job, at, in: zone, at: now))"
    }

    /// `backup 03:00, in 9 h`, with the day where it is not today or tomorrow within 12 hours.
    package static func entry(_ job: String, _ at: Moment, in zone: ZoneRules, at now: Moment) -> String {
        let left = at > now ? "in \((at - now).words)" : "due"
        return "\(CleanText.line(job, limit: 64)) \(time(at, in: zone, at: now)), \(left)"
    }

    private static func time(_ at: Moment, in zone: ZoneRules, at now: Moment) -> String {
        guard at - now > .seconds(43_200) else { return DisplayTime.clock(at, in: zone) }
        return DisplayTime.short(at, in: zone, at: now)
    }
}
