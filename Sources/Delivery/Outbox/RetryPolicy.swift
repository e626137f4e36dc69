package import Timeline

/// How often an outbox entry is tried, and how long it waits in between.
///
/// - Source: Standard Webhooks 1.0.0, the recommended schedule; Svix for the jitter and the clamp.
package struct RetryPolicy: Hashable, Codable, Sendable {
    /// The waits after each failed attempt, the first one first; after the last of them it is dead.
    package var schedule: [Duration]
    /// The part, 0...1, by which each wait is made longer or shorter, so that many do not return at once.
    package var jitter: Double
    /// The least wait after an answer that says "too many".
    package var leastAfterThrottle: Duration
    /// A server may ask for a longer wait than scheduled: up to twice that, or up to this.
    package var longestAsked: Duration

    /// A policy; left out, that of Standard Webhooks: 10 attempts within 76 hours, jitter 20 %.
    package init(
        schedule: [Duration] = RetryPolicy.standardSchedule, jitter: Double = 0.2,
        leastAfterThrottle: Duration = .seconds(60), longestAsked: Duration = .seconds(3600)
    ) {
        self.schedule = schedule
        self.jitter = jitter
        self.leastAfterThrottle = leastAfterThrottle
        self.longestAsked = longestAsked
    }

    /// 5 s, 5 min, 30 min, then 2, 5, 10, 14, 20 and 24 hours.
    package static let standardSchedule: [Duration] = [
        .seconds(5), .seconds(300), .seconds(1800), .seconds(7200), .seconds(18_000), .seconds(36_000),
        .seconds(50_400), .seconds(72_000), .seconds(86_400),
    ]

    /// The longest wait there can be; a timer further away was left behind by a clock that was set.
    package var longestWait: Duration {
        let scheduled = (schedule.max() ?? .zero) * (1 + jitter)
        return max(scheduled, leastAfterThrottle * (1 + jitter), longestAsked, (schedule.max() ?? .zero) * 2)
    }

    /// How long to wait after `attempt` (from 1) failed; `nil` when no attempt is left.
    ///
    /// - Parameters:
    ///   - attempt: which attempt it was, from 1.
    ///   - error: why it failed, and what the other side asked for.
    ///   - random: where in the jitter's range to land, 0..<1.
    /// - Returns: never less than what was asked for, as far as that is heeded.
    package func wait(afterAttempt attempt: Int, _ error: DeliveryError, random: Double) -> Duration? {
        guard schedule.indices.contains(attempt - 1) else { return nil }
        let scheduled = schedule[attempt - 1]
        let base = error.reason == .throttled ? max(scheduled, leastAfterThrottle) : scheduled
        let spread = base * (1 + jitter * (2 * random - 1))
        guard case .retry(_, let asked?, _, _) = error else { return spread }
        return max(spread, min(asked, max(scheduled * 2, longestAsked)))
    }
}

/// Entries that fail although their channel works: a success of others must not hurry them at full speed.
///
/// When a channel works again, all that waits for it becomes due at once. An entry that its receiver refuses with
/// an answer like an outage's (500 for this one only) makes each of its failures look like an outage, and each
/// success of another like the end of one. It gets less of that the more often it fails while the channel works,
/// and in the end only its own schedule.
///
/// Kept by the channel, so that a restart does not hurry them again.
package struct Stragglers: Hashable, Codable, Sendable {
    private struct Entry: Hashable, Codable {
        var failures: Int
        var last: Moment
    }

    private var entries: [String: Entry] = [:]

    /// How long an entry is left alone after its second, third and fourth such failure; after that it is not hurried.
    private static let pauses: [Duration] = [.seconds(30), .seconds(300), .seconds(1800)]

    /// Nobody yet.
    package init() {}

    /// The entries that failed while the channel worked.
    package var ids: Set<String> { Set(entries.keys) }

    /// Notes a failure of an entry that is to be tried again.
    ///
    /// Only one that was sent while the channel worked speaks against the entry.
    package mutating func failed(_ id: String, whileWorking: Bool, at now: Moment) {
        guard whileWorking || entries[id] != nil else { return }
        entries[id] = Entry(failures: (entries[id]?.failures ?? 0) + (whileWorking ? 1 : 0), last: now)
    }

    /// Forgets an entry that came to its end.
    package mutating func settled(_ id: String) { entries[id] = nil }

    /// The entries that do not become due at once when the channel works again, with their earliest moment;
    /// nil: their own.
    package func notBefore() -> [String: Moment?] {
        entries.filter { $0.value.failures > 1 }.mapValues { entry in
            let place = entry.failures - 2
            return place < Self.pauses.count ? entry.last + Self.pauses[place] : nil
        }
    }
}
