import Delivery
import Grouping
import Ledger
import Logging
import Timeline

/// Sends elsewhere, once, what a channel refuses for good or does not take in time.
///
/// What it would send is kept beside each entry of a channel with a fallback, and removed with its arrival. On the other
/// channel it is a message in a thread of its own, so that many of them are one thing there.
package actor FallbackKeeper: Keeper {
    /// How many are looked at together.
    private static let batch = 500

    let ledger: any Ledger
    var loop: KeeperLoop
    private let tools: ChannelTools
    /// How long channels have after a start, and after the machine slept, before anything of theirs counts as late.
    static let grace = Duration.seconds(60)
    /// Nothing is late before.
    private var graceUntil: Moment
    /// When it was to look again.
    private var planned: Moment?
    /// When it looked last, since boot.
    private var lastLook: Duration?
    /// By how much the clock was ahead of the time since boot when it was looked at; nil: it was not yet.
    private var ahead: Duration?
    /// Whatever happens to an entry rings: where more than these are waited for, all that happened in this time is looked
    /// at together.
    private static let (few, pace) = (100, Duration.seconds(1))

    package init(_ tools: ChannelTools) {
        self.tools = tools
        ledger = tools.ledger
        graceUntil = tools.clock.now + Self.grace
        loop = KeeperLoop(
            clock: tools.clock, logger: tools.logger, complaint: "fallbacks of channels can't be recorded")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [commitsThatTouch(.outbox)] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let (now, sinceBoot) = (loop.clock.now, loop.clock.sinceBoot)
        if let lastLook, sinceBoot - lastLook < Self.pace, try await ledger.fallbackCount() > Self.few {
            return .at(now + (lastLook + Self.pace - sinceBoot))
        }
        try await pullForward(at: now, sinceBoot)
        if let planned, now - planned > Self.grace { graceUntil = now + Self.grace }
        planned = nil
        // A clock that was set back puts nothing off for longer.
        graceUntil = min(graceUntil, now + Self.grace)
        // What was refused for good goes at once.
        let moment = now < graceUntil ? Moment(seconds: 0) : now
        let due = try await ledger.fallbacks(dueBy: moment, limit: Self.batch)
        for fallback in due {
            // Somebody was faster: looked at again with its commit.
            _ = try await ledger.commitUnlessFenced(try await changes(for: fallback))
        }
        guard due.count < Self.batch else { return .atOnce }
        lastLook = sinceBoot
        planned = try await ledger.nextFallback().map {
            $0 > graceUntil || now >= graceUntil ? $0 : graceUntil
        }
        return .earliest(planned)
    }

    /// Has what was queued before the clock was set back wait no longer than what is queued now; also at the start, since
    /// it may have been set while no daemon ran.
    private func pullForward(at now: Moment, _ sinceBoot: Duration) async throws(LedgerError) {
        let lead = now - Moment(seconds: 0) - sinceBoot
        let wasSetBack = ahead.map { lead < $0 - .seconds(1) } ?? true
        ahead = lead
        guard wasSetBack else { return }
        for fallback in try await ledger.fallbacks(dueBy: .distantFuture, limit: .max)
        where fallback.dueAt > now {
            // What a rule holds waits for its release, and after that for its whole time.
            guard let entry = try await ledger.outbox(id: fallback.outbox), entry.state != .held else {
                continue
            }
            let latest = now + wait(of: entry.channel)
            guard fallback.dueAt > latest else { continue }
            var sooner = fallback
            sooner.dueAt = latest
            _ = try await ledger.commitUnlessFenced([.removeFallback(outbox: entry.id), .putFallback(sooner)])
        }
    }

    /// How long a channel has before its fallback is sent what it did not deliver.
    private func wait(of channel: String) -> Duration {
        tools.activeConfiguration.configuration.safety[channel]?.fallbackAfter ?? ChannelSafety.usualWait
    }

    private func changes(for fallback: FallbackRecord) async throws(LedgerError) -> [Change] {
        let now = loop.clock.now
        guard let entry = try await ledger.outbox(id: fallback.outbox) else {
            return [.removeFallback(outbox: fallback.outbox)]
        }
        let settled = [Change.removeFallback(outbox: entry.id)]
        switch entry.state {
        case .delivered, .superseded, .discarded: return settled
        case .suppressed where try await !isOrphan(entry): return settled
        case .held:
            // A rule keeps it: its time begins with its release, however often that is put off.
            var later = fallback
            later.dueAt = max(now, entry.nextAt ?? now) + wait(of: entry.channel)
            return settled + [.putFallback(later)]
        case .pending, .waiting, .dead, .expired, .suppressed: break
        }
        if try await isOutdated(entry) { return settled }
        guard tools.activeConfiguration.configuration.channelNames.contains(fallback.channel) else {
            loop.logger.error(
                "there is no fallback channel any more",
                metadata: ["channel": "\(entry.channel)", "outbox.id": "\(entry.id)"])
            return settled
        }
        loop.logger.warning(
            "an entry goes to the fallback of its channel",
            metadata: [
                "channel": "\(entry.channel)", "fallback": "\(fallback.channel)", "outbox.id": "\(entry.id)",
            ])
        let message = message(fallback, entry, at: now)
        return settled + [
            .insertMessage(MessageRecord(message: message)),
            .append(
                NewEvent(
                    .messagePosted(Fact.Post(message.id, bot: message.bot, to: fallback.channel)), at: now)),
        ] + (try await marks(of: entry))
    }

    private func message(_ fallback: FallbackRecord, _ entry: OutboxRecord, at now: Moment) -> Message {
        let why = entry.lastError ?? (entry.state == .waiting ? "the channel waits" : "not sent yet")
        var message = OwnThread.undelivered(
            by: entry.channel, fallback.title, fallback.text, because: why, id: tools.makeID(), at: now)
        message.urgency = fallback.urgency
        return message
    }

    // MARK: Recoveries

    /// Whether it is a recovery whose failure went to the fallback: whoever heard of the one hears of the other.
    private func isOrphan(_ entry: OutboxRecord) async throws(LedgerError) -> Bool {
        guard entry.type == EventType.runRecovered.rawValue, entry.held == nil,
            let fact = try await fact(of: entry)
        else { return false }
        return try await ledger.fact(named: fact) != nil
    }

    /// Whether it asks what is answered already, or says how a question ended of which the fallback never heard.
    private func isOutdated(_ entry: OutboxRecord) async throws(LedgerError) -> Bool {
        switch EventType(rawValue: entry.type) {
        case .questionAsked:
            guard let id = try await question(of: entry) else { return false }
            return try await ledger.question(id: id)?.end != nil
        case .questionAnswered, .questionExpired, .questionWithdrawn:
            guard let fact = try await fact(of: entry) else { return true }
            return try await ledger.fact(named: fact) == nil
        default: return false
        }
    }

    /// The question that an entry is about; nil: about none that is known any more.
    private func question(of entry: OutboxRecord) async throws(LedgerError) -> String? {
        guard let number = entry.causingEvent else { return nil }
        switch try await ledger.events(numbered: [number]).first?.event.fact {
        case .questionAsked(let news), .questionAnswered(let news), .questionExpired(let news),
            .questionWithdrawn(let news):
            return news.id
        default: return nil
        }
    }

    /// That a failure of a job, or a question, went to the fallback, until its recovery or its end does.
    private func marks(of entry: OutboxRecord) async throws(LedgerError) -> [Change] {
        guard let fact = try await fact(of: entry) else { return [] }
        switch EventType(rawValue: entry.type) {
        case .runFailed, .runLost, .questionAsked: return [.setFact(name: fact, value: entry.id)]
        default: return [.setFact(name: fact, value: nil)]
        }
    }

    /// The name of the fact that what an entry is about went to the fallback; nil: it is about no failure of a job that is
    /// known, and about no such question.
    private func fact(of entry: OutboxRecord) async throws(LedgerError) -> String? {
        switch EventType(rawValue: entry.type) {
        case .runFailed, .runLost, .runRecovered:
            guard let id = entry.run, let run = try await ledger.run(id: id) else { return nil }
            return "fallback.\(entry.channel).\(run.job)"
        case .questionAsked, .questionAnswered, .questionExpired, .questionWithdrawn:
            return try await question(of: entry).map { "fallback.\(entry.channel).question \($0)" }
        default: return nil
        }
    }
}

extension OwnThread {
    /// What another channel is sent of something that a channel did not deliver.
    static func undelivered(
        by channel: String, _ title: String, _ text: String, because why: String, id: String, at now: Moment
    ) -> Message {
        let note = "Sent here because channel \"\(channel)\" did not deliver it: \(why)"
        var message = Message(
            id: id, bot: bot, thread: undelivered(channel).name,
            text: [text, note].filter { !$0.isEmpty }.joined(separator: "\n\n"), at: now)
        message.title = title
        return message
    }
}

extension ItemTurn {
    /// What another channel is sent when the entry does not arrive; none for what matters only here, or only now.
    func fallback(of entry: OutboxRecord, _ notice: Notice) -> [Change] {
        guard let safety = configuration.safety[entry.channel], let channel = safety.fallback,
            ![EventType.test, .runProgress, .runStarted].map(\.rawValue).contains(entry.type),
            entry.item.map({ !OwnThread.isUndelivered($0) && !OwnThread.isHeartbeat($0) }) ?? true
        else { return [] }
        return [
            .putFallback(
                FallbackRecord(
                    outbox: entry.id, channel: channel, dueAt: now + safety.fallbackAfter,
                    title: notice.title, text: notice.body, urgency: notice.urgency))
        ]
    }
}

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
        // Nobody has to read it: it is no unread message in a dock.
        _ = try await ledger.commit([
            .setFact(name: fact, value: "\(now.microseconds)"),
            .insertMessage(MessageRecord(message: message, read: true)),
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
