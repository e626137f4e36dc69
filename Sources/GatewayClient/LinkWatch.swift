package import Timeline

/// Looks after the connections of many links with one task, which sleeps until the first of them is due: a thousand that
/// are idle cost one timer.
package actor LinkWatch {
    /// When a connection is to be looked at next, and how.
    private struct Turn {
        var due: Duration
        /// Looks at it, and returns when to look again, since boot; nil: never.
        let look: @Sendable () async -> Duration?
    }

    /// With more than this many connections those that are due soon are looked at together.
    private static let few = 16
    /// How much later a look may come then.
    private static let slack = Duration.seconds(1)

    private let clock: any WallClock
    private var turns: [Int: Turn] = [:]
    private var lastTicket = 0
    private var sleeper: Task<Void, Never>?
    /// When, since boot, the sleeper wakes.
    private var armed: Duration?

    /// A watch that looks after nothing yet.
    package init(clock: any WallClock) { self.clock = clock }

    deinit { sleeper?.cancel() }

    /// Looks at a connection at `due`, since boot, and then whenever `look` says.
    func add(at due: Duration, _ look: @escaping @Sendable () async -> Duration?) {
        lastTicket += 1
        turns[lastTicket] = Turn(due: due, look: look)
        arm(for: due)
    }

    private func arm(for due: Duration) {
        let due = turns.count > Self.few ? due + Self.slack : due
        if let armed, armed <= due { return }
        sleeper?.cancel()
        armed = due
        let wake = clock.now + max(due - clock.sinceBoot, .milliseconds(1))
        sleeper = Task { [weak self, clock] in
            try? await clock.sleep(until: wake)
            if !Task.isCancelled { await self?.serve() }
        }
    }

    private func serve() async {
        (armed, sleeper) = (nil, nil)
        let now = clock.sinceBoot
        for (ticket, turn) in turns.filter({ $0.value.due <= now }) {
            let next = await turn.look()
            turns[ticket]?.due = next ?? turn.due
            if next == nil { turns[ticket] = nil }
        }
        if let first = turns.values.map(\.due).min() { arm(for: first) }
    }
}
