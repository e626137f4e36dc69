import Delivery
import Ledger
import Logging
import Synchronization
import Timeline
import Tracking

/// The pending entries of one channel, sent a few at a time, in order for each run and item.
actor OutboxLine: Keeper {
    /// How many attempts are under way at most.
    private static let width = SharedPlaces.width
    /// How far the line is looked along; a person's test stands at its head.
    private static let lookAhead = 16

    private let channel: any EdgeChannel
    let ledger: any Ledger
    var loop: KeeperLoop
    private let tools: ChannelTools
    private let inHand: EntriesInHand
    private let retry = RetryPolicy()
    /// Whether this machine has a new way out that nothing was tried by yet.
    private let hasNetworkReturned = Flag(false)
    private var keeper = CircuitKeeper()
    private var stragglers = Stragglers()
    private var isRecalled = false
    private var underWay: Set<String> = []
    private let ends = Inbox<OutboxEnd>()
    private let news: LineNews
    /// Ends that the ledger could not take; recorded before anything else is sent.
    private var unsettled: [OutboxEnd] = []
    /// When what waits is weighed next, since boot; and whether this outage's overflow was reported.
    private var overflow: (weighAt: Duration, isReported: Bool) = (.zero, false)
    /// The entries to send now, on their way to the task that sends them.
    private let (starting, starts) = AsyncStream.makeStream(of: OutboxStart.self)
    private var clock: any WallClock { loop.clock }
    private var logger: Logger { loop.logger }

    init(channel: any EdgeChannel, _ tools: ChannelTools) {
        self.channel = channel
        self.tools = tools
        ledger = tools.ledger
        inHand = tools.activeConfiguration.inHand
        news = LineNews(of: channel.name, inHand)
        loop = tools.makeLoop(for: channel, complaint: "the outbox can't be recorded")
    }

    func run() async throws {
        defer { for id in underWay { letGo(of: id, isBrokenOff: true) } }
        try await follow()
    }

    func wakers() -> [Waker] {
        let sender = Waker { [starting] _ in
            await withDiscardingTaskGroup { group in
                for await start in starting {
                    group.addTask { await self.send(start.entry, wasWorking: start.isWorking) }
                }
                group.cancelAll()
            }
        }
        let (bell, news) = (loop.bell, news)
        return [
            .observing(ledger.observeOutbox { if news.add($0) { bell.ring() } }),
            .observing(
                ledger.observeUpcoming { [channel] channels in
                    // A line in which others wait is read, and has time.
                    if news.isClear.isSet, channels.contains(channel.name) { channel.expectWork() }
                }),
            .each(inHand.taps()), sender,
            .each(tools.networkReturns.values(), setting: hasNetworkReturned),
        ]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        if !isRecalled { try await recall() }
        try await settle()
        try await tryAfterReturn()
        try await dropOverflow()
        let (due, wakeAt) = try await choose()
        for entry in due { starts.yield(OutboxStart(entry: entry, isWorking: keeper.isWorking)) }
        return .earliest(wakeAt)
    }

    // MARK: Sending

    /// Where the channel fails and this machine has a new way out, has the oldest entry find out whether that leads
    /// there; the rest follows its success.
    private func tryAfterReturn() async throws(LedgerError) {
        guard hasNetworkReturned.isSet else { return }
        let now = clock.now
        if keeper.mayReturn {
            let line = try await ledger.outboxLine(of: channel.name, limit: .max).pending
            let oldest = line.filter { !underWay.contains($0.id) }.min { $0.createdAt < $1.createdAt }
            let first = line.compactMap(\.nextAt).min() ?? now
            if let oldest, let move = OutboxMove(of: oldest, { $0.retry(at: min(first, now)) }) {
                guard try await ledger.commitUnlessFenced([.moveOutbox(move)]) else { return }
            }
            keeper.probe(at: now)
        }
        hasNetworkReturned.set(false)
    }

    /// The entries that may be sent now, and when to look again.
    private func choose() async throws(LedgerError) -> (due: [OutboxRecord], wakeAt: Moment?) {
        guard underWay.count < Self.width else { return ([], nil) }
        let now = clock.now
        var due: [OutboxRecord] = []
        var wakeAt: Moment?
        guard let (found, rewritings) = try await lookAhead() else { return ([], nil) }
        var line = found
        if let heldUntil = line.heldUntil {
            // What is released is looked at again: its commit rings.
            if heldUntil <= now { try await releaseHeld(at: now) } else { wakeAt = heldUntil }
        }
        var (early, orphans) = try await recoveries(among: line.pending)
        // Recoveries that wait for their failure must not hide what stands behind them.
        if early.count > Self.lookAhead / 2 {
            line = try await ledger.outboxLine(of: channel.name, limit: .max)
            (early, orphans) = try await recoveries(among: line.pending)
        }
        if !orphans.isEmpty { try await ledger.commit(orphans.flatMap { $0.withdrawal(at: now) }) }
        // What comes after them is in line then: the commit rings.
        let outdated = try await outdatedProgress(among: line.pending, at: now)
        if !outdated.isEmpty {
            _ = try await ledger.commitUnlessFenced(
                outdated.map { .moveOutbox(OutboxMove(ofOutdated: $0, at: now)) })
        }
        let kept = Set(early + (orphans + outdated).map(\.id))
        for entry in line.pending where !kept.contains(entry.id) {
            guard underWay.count < Self.width else { break }
            guard !underWay.contains(entry.id), let dueAt = OutboxEntry(entry).dueAt(now, policy: retry)
            else { continue }
            guard dueAt <= now else {
                wakeAt = min(wakeAt ?? dueAt, dueAt)
                continue
            }
            // What comes after it waits as well: the address takes nothing more for now.
            if let moment = tools.rates.nextAt(for: channel, on: clock) {
                wakeAt = min(wakeAt ?? moment, moment)
                break
            }
            // Refused while it is rewritten; the end of that rings.
            guard inHand.beginSending(entry.id, readAfter: rewritings) else { continue }
            // Another channel leads to the same address; the end of one of its attempts rings.
            guard tools.places.take(for: channel, ringing: loop.bell) else {
                inHand.endSending(entry.id)
                break
            }
            switch keeper.ask(isTest: entry.type == EventType.test.rawValue, at: now) {
            case .granted:
                tools.rates.take(for: channel, on: clock)
                underWay.insert(entry.id)
                due.append(entry)
            case .waitUntil(let moment):
                letGo(of: entry.id)
                // A test further back in the line may go all the same.
                wakeAt = min(wakeAt ?? moment, moment)
            case .waitForProbe, .refused:
                letGo(of: entry.id)
            }
        }
        return (due, wakeAt)
    }

    /// What stands first in the line, and how many rewritings had begun when that was so; nil: nothing does.
    ///
    /// Where all that is known to be in it was added since it was last looked at, it is not read.
    private func lookAhead() async throws(LedgerError) -> (
        line: (pending: [OutboxRecord], heldUntil: Moment?), rewritings: UInt64
    )? {
        let added = news.take()
        let wasClear = news.isClear.isSet
        news.isClear.set(false)
        if wasClear, let added {
            if added.entries.isEmpty {
                news.isClear.set(true)
                return nil
            }
            if let heads = OutboxRecord.heads(of: added.entries), heads.count <= Self.lookAhead {
                return ((heads, nil), added.rewritings)
            }
        }
        let rewritings = inHand.rewritings
        let line = try await ledger.outboxLine(of: channel.name, limit: Self.lookAhead)
        news.isClear.set(line.pending.isEmpty && line.heldUntil == nil)
        return (line, rewritings)
    }

    /// How often what waits is weighed while the channel fails.
    private static let weighEvery = Duration.seconds(60)

    /// Lets go of the oldest of least importance while the channel fails and more waits than there is room for.
    private func dropOverflow() async throws(LedgerError) {
        guard keeper.isOpen else {
            overflow.isReported = false
            return
        }
        let reading = ClockReading(of: clock)
        guard reading.sinceBoot >= overflow.weighAt else { return }
        let weights = try await ledger.outboxWeights(of: channel.name).filter { !underWay.contains($0.id) }
        let dropped = tools.room.overflow(of: weights)
        if !dropped.isEmpty {
            let sentence = "dropped: more than \(tools.room.rows) entries or \(tools.room.bytes) bytes waited"
            var changes = dropped.map {
                Change.moveOutbox(OutboxMove(dropping: $0, sentence, at: reading.now))
            }
            if !overflow.isReported {
                let fact = Fact.Channel(
                    channel.name, reason: .overflow,
                    error: "more waits than there is room for; old entries go")
                changes.append(.append(NewEvent(.channelFailing(fact), at: reading.now)))
            }
            // Somebody moved one of them meanwhile: weighed again with the next ring.
            guard try await ledger.commitUnlessFenced(changes) else { return }
            overflow.isReported = true
            logger.error(
                "entries dropped: too many are waiting", metadata: ["outbox.dropped": "\(dropped.count)"])
        }
        overflow.weighAt = reading.sinceBoot + Self.weighEvery
    }

    /// The recoveries that wait for their failure to arrive, and those whose failure never will: nobody who was not
    /// notified of a failure is notified of its end.
    ///
    /// Read before anything is taken to be sent, so that a failed read loses nothing.
    private func recoveries(
        among pending: [OutboxRecord]
    ) async throws(LedgerError) -> (early: [String], orphans: [OutboxRecord]) {
        var (early, orphans): ([String], [OutboxRecord]) = ([], [])
        for entry in pending where entry.type == EventType.runRecovered.rawValue && entry.attempts == 0 {
            guard !underWay.contains(entry.id), let run = entry.run else { continue }
            switch try await ledger.failureArrivals(before: run)[channel.name] {
            case .open?: early.append(entry.id)
            case .lost?, .withdrawn?: orphans.append(entry)
            case .arrived?, nil: continue
            }
        }
        return (early, orphans)
    }

    /// The progress that waited, untried, until something newer was to be said of its run: nobody is kept waiting for the
    /// end of a run by how far it was before.
    private func outdatedProgress(
        among pending: [OutboxRecord], at now: Moment
    ) async throws(LedgerError) -> [OutboxRecord] {
        var outdated: [OutboxRecord] = []
        for entry in pending where entry.mayBeOutdated(at: now) && !underWay.contains(entry.id) {
            guard let id = entry.run else { continue }
            if entry.isOutdated(by: try await ledger.run(id: id)) { outdated.append(entry) }
        }
        return outdated
    }

    /// Puts in line what a rule held until now, however the channel is doing.
    private func releaseHeld(at now: Moment) async throws(LedgerError) {
        let due = try await ledger.outbox(states: [.held], limit: .max)
            .filter { $0.channel == channel.name && $0.nextAt.map { $0 <= now } ?? false }
            // Those are judged again by the keeper of items.
            .filter { $0.held?.isJudgedAgain != true }
        let changes = due.reversed().compactMap { entry in
            OutboxMove(of: entry) { $0.retry(at: now) }.map(Change.moveOutbox)
        }
        if !changes.isEmpty { try await ledger.commit(changes) }
    }

    private func send(_ entry: OutboxRecord, wasWorking: Bool) async {
        let parcel = Parcel(
            id: entry.id, type: entry.type, timestamp: entry.createdAt, body: entry.body,
            attempt: entry.attempts + 1)
        let begin = clock.sinceBoot
        let report = await channel.attempt(parcel, at: clock.now)
        var end = OutboxEnd(entry: entry, result: report.result, wasWorking: wasWorking)
        (end.latency, end.answer) = (clock.sinceBoot - begin, report.answer)
        ends.put(end)
        loop.bell.ring()
    }

    // MARK: Ends of attempts

    /// Records the ends of attempts, together.
    private func settle() async throws(LedgerError) {
        unsettled += ends.takeAll()
        guard !unsettled.isEmpty else { return }
        var shared = SharedCommit(unsettled)
        while let ends = shared.next {
            do throws(LedgerError) {
                try await record(ends)
                shared.committed()
            } catch {
                guard case .fenced = error else { throw error }
                guard shared.isSingle, let end = ends.first else {
                    shared.refused()
                    continue
                }
                // A person moved the entry meanwhile: only what the end shows of the channel is recorded.
                logger.debug("an attempt's end came too late", metadata: ["outbox.id": "\(end.entry.id)"])
                try await record([end], isEntryGone: true)
                shared.refused()
            }
            release(ends)
        }
    }

    private func release(_ ends: [OutboxEnd]) {
        for end in ends {
            underWay.remove(end.entry.id)
            letGo(of: end.entry.id, isBrokenOff: end.isBrokenOff)
            unsettled.removeAll { $0.entry.id == end.entry.id }
        }
    }

    /// The entry is not being sent any more.
    private func letGo(of id: String, isBrokenOff: Bool = false) {
        inHand.endSending(id, isBrokenOff: isBrokenOff)
        tools.places.giveBack(for: channel)
    }

    private func record(_ ends: [OutboxEnd], isEntryGone: Bool = false) async throws(LedgerError) {
        let reading = ClockReading(of: clock)
        let now = reading.now
        var next = (keeper: keeper, stragglers: stragglers)
        var changes: [Change] = []
        for end in ends {
            if !isEntryGone {
                changes += end.changes(at: now, policy: retry, random: .random(in: 0..<1))
            }
            switch end.result {
            case .failure(.retry), .failure(.unreachable):
                next.stragglers.failed(end.entry.id, whileWorking: end.wasWorking, at: now)
            case .success, .failure(.giveUp): next.stragglers.settled(end.entry.id)
            }
            let (events, endsOutage) = next.keeper.record(end.result, of: channel.name, at: reading)
            changes += events
            if endsOutage {
                let later = next.stragglers.notBefore()
                changes.append(.releaseOutbox(OutboxRelease(channel: channel.name, at: now, later: later)))
            }
        }
        if let record = next.keeper.recordToKeep(of: channel.name, channel.identity, at: now) {
            changes.append(.putChannel(record))
        }
        if next.stragglers != stragglers { changes.append(keeping(next.stragglers)) }
        if !changes.isEmpty { try await ledger.commit(changes) }
        next.keeper.isKept()
        (keeper, stragglers) = next
        for end in ends { tools.note(keeper, after: end.result, of: channel.name, at: clock.now, logger) }
    }

    /// The fact that holds who fails although the channel works.
    private var fact: String { "stragglers.\(channel.name)" }

    private func keeping(_ stragglers: Stragglers) -> Change {
        let text = (try? JSON.encode(stragglers)).map { String(decoding: $0, as: UTF8.self) }
        return .setFact(name: fact, value: stragglers.ids.isEmpty ? nil : text)
    }

    /// Those of an earlier daemon that are still to be sent.
    private func storedStragglers() async throws(LedgerError) -> Stragglers {
        guard let text = try await ledger.fact(named: fact),
            var stored = try? JSON.decode(Stragglers.self, from: text.utf8)
        else { return Stragglers() }
        for id in stored.ids where try await ledger.outbox(id: id)?.state != .pending { stored.settled(id) }
        return stored
    }

    /// Takes up the circuit where the last daemon left it, and what waited while the channel was missing.
    ///
    /// Another address, another secret or other exceptions are another receiver: nothing is known against it, and all
    /// that waits is sent there now.
    private func recall() async throws(LedgerError) {
        let now = clock.now
        let record = try await ledger.channel(named: channel.name)
        keeper = CircuitKeeper(record, of: channel.identity, at: now)
        var changes: [Change] = []
        if let record, record.identity != channel.identity,
            let kept = keeper.record(of: channel.name, channel.identity, at: now)
        {
            changes.append(.putChannel(kept))
        }
        let isOther = record?.identity.map { $0 != channel.identity } ?? false
        if isOther { tools.board.forget(channel.name) } else { stragglers = try await storedStragglers() }
        let waiting = try await ledger.outboxCounts(byChannelIn: [.waiting])
        if isOther || (waiting[channel.name] != nil && !keeper.isDisabled) {
            changes.append(.releaseOutbox(OutboxRelease(channel: channel.name, at: now)))
        }
        if !changes.isEmpty { try await ledger.commit(changes) }
        if let (state, error) = keeper.knownTrouble {
            tools.board.note(state, of: channel.name, error: error, at: now)
        }
        isRecalled = true
    }
}

/// An entry that is about to be sent, and whether its channel is known to work.
private struct OutboxStart: Sendable {
    let entry: OutboxRecord
    let isWorking: Bool
}

extension OutboxRecord {
    /// Takes a recovery out of line whose failure did not arrive, with the reason.
    fileprivate func withdrawal(at now: Moment) -> [Change] {
        var move = OutboxMove(
            id: id, from: state, attempts: attempts, to: .suppressed, nextAttempts: attempts)
        move.settledAt = now
        guard let event = causingEvent else { return [.moveOutbox(move)] }
        let verdict = Verdict(channel: channel, stage: .recovery, action: .suppress(.failureNotSent))
        return [.moveOutbox(move), .recordVerdicts([VerdictRecord(verdict, of: event, at: now)])]
    }
}

extension OutboxRecord {
    /// How long progress may wait for its turn before it is asked whether it is news.
    private static let progressLasts = Duration.seconds(60)

    /// Whether it is progress that has waited for long; what a person puts in line once more is sent.
    fileprivate func mayBeOutdated(at now: Moment) -> Bool {
        type == EventType.runProgress.rawValue && attempts == 0 && lastError == nil
            && now - createdAt >= Self.progressLasts
    }

    /// Whether its run, as it is now (nil: it is forgotten), has ended or was pushed again since.
    fileprivate func isOutdated(by run: RunRecord?) -> Bool {
        guard let run, !run.state.isEnded else { return true }
        return run.live.map { $0.updatedAt - createdAt >= PushGovernor.gap } ?? false
    }
}

extension OutboxMove {
    /// The end of progress that is no news any more.
    fileprivate init(ofOutdated entry: OutboxRecord, at now: Moment) {
        self.init(
            id: entry.id, from: entry.state, attempts: entry.attempts, to: .expired,
            nextAttempts: entry.attempts)
        lastError = "the run has got further since"
        settledAt = now
    }
}

extension OutboxMove {
    /// The step that the entry takes by `decide`; nil when that says that there is none.
    init?(of record: OutboxRecord, _ decide: (inout OutboxEntry) -> Bool) {
        var entry = OutboxEntry(record)
        guard decide(&entry) else { return nil }
        self.init(
            id: record.id, from: record.state, attempts: record.attempts, to: entry.state,
            nextAttempts: entry.attempts)
        nextAt = entry.nextAt
        settledAt = entry.settledAt
    }
}

extension OutboxMove {
    /// The end of an entry that there is no room for.
    fileprivate init(dropping entry: OutboxWeight, _ sentence: String, at now: Moment) {
        self.init(
            id: entry.id, from: entry.state, attempts: entry.attempts, to: .expired,
            nextAttempts: entry.attempts)
        lastError = sentence
        settledAt = now
    }
}

extension OutboxEntry {
    /// The decider of a stored entry.
    init(_ record: OutboxRecord) {
        self.init(
            state: record.state, attempts: record.attempts, nextAt: record.nextAt,
            createdAt: record.createdAt, settledAt: record.settledAt)
    }
}
