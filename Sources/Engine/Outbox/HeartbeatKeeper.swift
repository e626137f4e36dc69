import Delivery
import Grouping
import Ledger
import Logging
import Timeline

/// Sends a sign of life over each channel that wants one: who hears none any more looks what is wrong.
package actor HeartbeatKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let tools: ChannelTools

    package init(_ tools: ChannelTools) {
        self.tools = tools
        ledger = tools.ledger
        loop = KeeperLoop(
            clock: tools.clock, logger: tools.logger, complaint: "signs of life can't be recorded")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [.each(tools.activeConfiguration.taps())] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        var next: Moment?
        for (channel, safety) in tools.activeConfiguration.configuration.safety.sorted(by: { $0.key < $1.key }
        ) {
            guard let period = safety.heartbeat else { continue }
            let due = try await beat(on: channel, every: period)
            next = min(next ?? due, due)
        }
        return .earliest(next)
    }

    /// Sends one where its time has come; the first one a period after the channel asked for them.
    ///
    /// Returns when the next one is due. However many fell into the time without a daemon, one is sent.
    private func beat(on channel: String, every period: Duration) async throws(LedgerError) -> Moment {
        let (fact, now) = ("heartbeat.\(channel)", loop.clock.now)
        // One that lies ahead was noted before the clock was set back.
        let last = try await ledger.fact(named: fact).flatMap(Int64.init).map { Moment(microseconds: $0) }
        guard let last, last <= now else {
            _ = try await ledger.commit([.setFact(name: fact, value: "\(now.microseconds)")])
            return now + period
        }
        guard last + period <= now else { return last + period }
        let message = Message(
            id: tools.makeID(), bot: OwnThread.bot, thread: OwnThread.heartbeat(channel).name,
            text: try await words(), at: now)
        _ = try await ledger.commit([
            .setFact(name: fact, value: "\(now.microseconds)"),
            .insertMessage(MessageRecord(message: message)),
            .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: message.bot, to: channel)), at: now)),
        ])
        return now + period
    }

    private func words() async throws(LedgerError) -> String {
        let jobs = try await ledger.jobs()
        let counts = try await ledger.outboxCounts()
        let paused = jobs.count { $0.pause != nil }
        func amount(_ count: Int, _ one: String, _ many: String) -> String {
            "\(count) \(count == 1 ? one : many)"
        }
        var parts = ["Belfry is running: \(amount(jobs.count, "job", "jobs"))"]
        if paused > 0 { parts.append("\(paused) paused") }
        let waiting = (counts[.pending] ?? 0) + (counts[.waiting] ?? 0)
        if waiting > 0 { parts.append("\(amount(waiting, "notification waits", "notifications wait"))") }
        if let dead = counts[.dead] {
            parts.append("\(amount(dead, "notification", "notifications")) not deliverable")
        }
        return parts.joined(separator: ", ") + "."
    }
}
