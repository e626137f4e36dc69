package import Timeline

/// How many requests an address takes: so many at once, and one more in each interval after that.
package struct EndpointRate: Hashable, Codable, Sendable {
    /// So many at once, 1 or more.
    package let burst: Int
    /// A request is given back after this long.
    package let interval: Duration

    /// So many at once, and then one in each interval.
    package init(burst: Int, interval: Duration) {
        precondition(burst > 0 && interval > .zero, "a rate allows something")
        (self.burst, self.interval) = (burst, interval)
    }

    /// So many in each period.
    package init(_ count: Int, in period: Duration) {
        self.init(burst: count, interval: period / count)
    }

    /// Reads `20/m`, `1/s`, `5/2s`: a number, and the period in which so many are sent.
    ///
    /// Nil for anything else, for more than 1,000 a second, and for less than one a day.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...100_000).contains(count) else { return nil }
        let period = parts[1].first?.isNumber == true ? parts[1] : "1\(parts[1])"
        guard let length = try? Duration(text: period), length > .zero else { return nil }
        let interval = length / count
        guard interval >= .milliseconds(1), interval <= .seconds(86_400) else { return nil }
        self.init(burst: count, interval: interval)
    }
}

/// How much of their rates addresses have used: what all channels to one address share.
package struct EndpointRates: Sendable {
    /// More addresses than these are not remembered one by one.
    private static let most = 4096

    /// When the address takes a whole burst again, on the clock since boot.
    private var fullAt: [String: Duration] = [:]

    /// Nothing was sent yet.
    package init() {}

    /// How long to wait before the next request to the address; zero: none.
    package func wait(for endpoint: String, _ rate: EndpointRate, at now: Duration) -> Duration {
        let full = max(fullAt[endpoint] ?? now, now)
        return max(.zero, full + rate.interval - now - rate.interval * rate.burst)
    }

    /// Notes a request to the address.
    package mutating func take(for endpoint: String, _ rate: EndpointRate, at now: Duration) {
        if fullAt[endpoint] == nil, fullAt.count >= Self.most { fullAt = fullAt.filter { $0.value > now } }
        fullAt[endpoint] = max(fullAt[endpoint] ?? now, now) + rate.interval
    }
}

/// What an entry that is not settled takes up, and how much it matters.
package struct OutboxWeight: Hashable, Sendable {
    /// The entry's id.
    package let id: String
    /// The event's type.
    package let type: String
    /// Its state.
    package let state: OutboxState
    /// How often it was tried.
    package let attempts: Int
    /// When it was made.
    package let createdAt: Moment
    /// The bytes of its body.
    package let bytes: Int

    /// An entry that waits.
    package init(
        id: String, type: String, state: OutboxState, attempts: Int, createdAt: Moment, bytes: Int
    ) {
        (self.id, self.type, self.state) = (id, type, state)
        (self.attempts, self.createdAt, self.bytes) = (attempts, createdAt, bytes)
    }

    /// How much somebody misses it, 0...3.
    package var rank: Int {
        switch EventType(rawValue: type) {
        case .runProgress, .runStarted, .messageRead, .itemDismissed, .itemActed: 0
        case .runFailed, .runLost, .runBlocked, .questionAsked, .channelFailing, .channelDisabled,
            .ledgerFull,
            .expectLate:
            3
        case .runMissed, .runRecovered, .runStuck, .messagePosted, .messageGroup, .questionAnswered,
            .questionExpired, .questionWithdrawn, .channelRestored, .configPartial, .jobLeftOut, .botStatus,
            .botBudget, .gatewayJob, .expectRecovered, .ledgerRestored, .clockBack:
            2
        default: 1
        }
    }
}

/// How much may wait for one channel.
package struct OutboxRoom: Hashable, Sendable {
    /// So many entries.
    package let rows: Int
    /// So many bytes of their bodies.
    package let bytes: Int

    /// Room for so much.
    package init(rows: Int, bytes: Int) { (self.rows, self.bytes) = (rows, bytes) }

    /// 10,000 entries and 64 MiB.
    package static let usual = OutboxRoom(rows: 10_000, bytes: 64 << 20)

    /// What must go so that the rest has room: of the least rank the oldest first.
    package func overflow(of entries: [OutboxWeight]) -> [OutboxWeight] {
        var (rows, bytes) = (entries.count, entries.reduce(0) { $0 + $1.bytes })
        guard rows > self.rows || bytes > self.bytes else { return [] }
        var dropped: [OutboxWeight] = []
        for entry in entries.sorted(by: { ($0.rank, $0.createdAt, $0.id) < ($1.rank, $1.createdAt, $1.id) }) {
            guard rows > self.rows || bytes > self.bytes else { break }
            rows -= 1
            bytes -= entry.bytes
            dropped.append(entry)
        }
        return dropped
    }
}

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

/// When a channel that keeps failing is left alone, and when it is given up.
package struct CircuitPolicy: Hashable, Codable, Sendable {
    /// Opens after this many failures in a row.
    package var failuresInARow: Int
    /// Opens when more than half of the last this many failed; at most 32.
    package var window: Int
    /// How long to leave it alone after each opening in a row, the first one first; the last one repeats.
    package var probeAfter: [Duration]
    /// Disables it after only failures for this long, counted while it was tried.
    package var disableAfter: Duration
    /// The most that the time between two failures counts: a machine that sleeps does not try.
    package var longestGap: Duration
    /// Never disables it for fewer failures than this, however far apart.
    package var leastFailuresToDisable: Int

    /// A policy; left out: 5 in a row, half of 20, probes after 30 s up to an hour, disabled after 5 days.
    package init(
        failuresInARow: Int = 5, window: Int = 20,
        probeAfter: [Duration] = [
            .seconds(30), .seconds(60), .seconds(300), .seconds(900), .seconds(1800), .seconds(3600),
        ],
        disableAfter: Duration = .seconds(5 * 86_400), longestGap: Duration = .seconds(3600),
        leastFailuresToDisable: Int = 10
    ) {
        self.failuresInARow = failuresInARow
        self.window = min(window, 32)
        self.probeAfter = probeAfter
        self.disableAfter = disableAfter
        self.longestGap = longestGap
        self.leastFailuresToDisable = leastFailuresToDisable
    }
}
