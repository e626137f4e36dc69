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
