import Delivery
package import Grouping
package import Ledger
package import Timeline

extension Control {
    /// Posts a message of a bot.
    ///
    /// The message and its event are one transaction; what a person sees of it follows.
    ///
    /// With `channel` that one alone shows it, in its ``DirectThread``, whatever the routes say.
    /// `makeMessage` makes the message from a fresh id and the time now.
    package func post(
        run: String?, to channel: String? = nil, _ makeMessage: (_ id: String, _ at: Moment) -> Message
    ) async throws(EngineError) -> MessageRecord {
        let message = makeMessage(makeID(), clock.now)
        if let fault = JobName.fault(in: message.bot) { throw .invalid("bot \"\(message.bot)\": \(fault)") }
        let record = MessageRecord(message: message, run: run)
        try await commit([
            .insertMessage(record),
            .append(
                NewEvent(
                    .messagePosted(Fact.Post(message.id, bot: message.bot, run: run, to: channel)),
                    at: message.at)),
        ])
        return record
    }

    /// Marks a message, and all that was said in its thread before it, as read; its id may be shortened.
    package func read(_ id: String, by reader: String? = nil) async throws(EngineError) -> MessageRecord {
        var record = try await message(id)
        try await read(
            bot: record.message.bot, thread: record.message.thread, through: record.message.at, by: reader)
        record.read = true
        return record
    }

    /// Marks all that an item shows as read, which also acknowledges that a job fails.
    ///
    /// `name` is the text form of its key, or `JOB#N`: a run says no more than it did, so news of a later one stay.
    package func readItem(_ name: String, by reader: String? = nil) async throws(EngineError) {
        guard let key = ItemKey(name) else {
            guard let mark = name.lastIndex(of: "#"), let ordinal = Int(name[name.index(after: mark)...])
            else { throw .nothingToExplain(name) }
            let run = try await run(named: String(name[..<mark]), ordinal)
            return try await note(
                Fact.Reading("\(ItemKey.job(run.job))", bot: run.bot, through: run.endedAt, by: reader))
        }
        let record = try await read { () async throws(LedgerError) in try await ledger.item(key) }
        switch key {
        case .thread(let bot, let thread):
            try await read(bot: bot, thread: thread, through: clock.now, by: reader)
        case .job(let job) where record == nil: throw .noSuchJob(job)
        case .storm where record == nil, .question where record == nil: throw .nothingToExplain(name)
        case .job, .storm, .question:
            let bot = record.flatMap { shownItem($0)?.bot } ?? OwnThread.bot
            try await note(Fact.Reading("\(key)", bot: bot, through: nil, by: reader))
        }
    }

    /// Notes that somebody has seen an item.
    func note(_ reading: Fact.Reading) async throws(EngineError) {
        try await commit([.append(NewEvent(.messageRead(reading), at: clock.now))])
    }

    /// Pins a message, whose id may be shortened, or no longer does.
    package func pin(_ id: String, _ isPinned: Bool) async throws(EngineError) -> MessageRecord {
        var record = try await message(id)
        try await commit([.pinMessage(id: record.message.id, isPinned)])
        record.pinned = isPinned
        return record
    }

    /// Marks what was said in a thread up to `through` as read.
    package func read(
        bot: String, thread: String, through: Moment, by reader: String? = nil
    ) async throws(EngineError) {
        let key = ItemKey.thread(bot: bot, thread: thread)
        try await commit([
            .markRead(bot: bot, thread: thread, through: through),
            .append(
                NewEvent(
                    .messageRead(Fact.Reading("\(key)", bot: bot, through: through, by: reader)),
                    at: clock.now)),
        ])
    }

    @discardableResult
    func commit(_ changes: [Change]) async throws(EngineError) -> Commit {
        do throws(LedgerError) {
            return try await ledger.commit(changes)
        } catch {
            throw .ledger(error)
        }
    }
}

extension Control {
    /// Makes an entry due now that is dead or expired, that a rule holds, or that waits for its next attempt.
    package func retryEntry(_ id: String) async throws(EngineError) -> OutboxRecord {
        let entry = try await entry(id)
        let isMissing = !configuredEdges.contains(entry.channel)
        // What waits for its channel goes with the channel.
        let waits = entry.state == .waiting
        if waits, isMissing { throw .channelMissing(entry: entry.id, channel: entry.channel) }
        guard !waits, let move = OutboxMove(of: entry, { $0.retry(at: clock.now) }) else {
            throw .notAllowed(
                entry: entry.id, state: entry.state.rawValue, channel: waits ? entry.channel : nil)
        }
        try await commit([.moveOutbox(move)])
        return try await self.entry(entry.id)
    }

    /// Makes all of a channel due now: what is dead, what waits, and what waits for its next attempt.
    ///
    /// With `missing`, the name of a channel that is not in the configuration, the entries of that one are moved to
    /// `name` first, under their ids. Without it they are when there is exactly one such channel and `name` has
    /// nothing of its own to send: it was given another name.
    /// - Returns: how many entries of the channel itself are due, and those that were moved to it.
    package func retryChannel(
        _ name: String, from missing: String? = nil
    ) async throws(EngineError) -> (own: Int, from: String?, moved: Int) {
        guard activeConfiguration.edges.contains(where: { $0.name == name }) else {
            throw .noSuchChannel(name)
        }
        if let missing, configuredEdges.contains(missing) {
            throw .invalid(
                "channel \"\(missing)\" is in the configuration; only the entries of a missing one move")
        }
        let revived: Set<OutboxState> = [.waiting, .dead]
        let counts = try await read { () async throws(LedgerError) in
            try await ledger.outboxCounts(byChannelIn: revived.union([.pending]))
        }
        let own = counts[name] ?? 0
        let orphans = try await waitingForMissing()
        var source = missing
        if missing == nil, own == 0 {
            guard orphans.count < 2 else {
                throw .severalMissing(channels: orphans.keys.sorted(), newChannel: name)
            }
            source = orphans.keys.first
        }
        let now = clock.now
        var changes: [Change] = []
        if missing == nil {
            changes.append(.releaseOutbox(OutboxRelease(channel: name, reviving: revived, at: now)))
        }
        if let source {
            changes.append(
                .releaseOutbox(OutboxRelease(channel: source, at: now, newChannel: name)))
        }
        try await commit(changes)
        return (missing == nil ? own : 0, source, source.flatMap { orphans[$0] } ?? 0)
    }

    /// The edge channels of the configuration, those that were left out at the start among them.
    private var configuredEdges: Set<String> {
        Set(
            activeConfiguration.edges.map(\.name)
                + activeConfiguration.configuration.leftOut.compactMap { $0.channel?.name })
    }

    /// How many entries wait for channels that are not in the configuration, by their names.
    func waitingForMissing() async throws(EngineError) -> [String: Int] {
        let names = configuredEdges
        let waiting = try await read { () async throws(LedgerError) in
            try await ledger.outboxCounts(byChannelIn: [.waiting])
        }
        return waiting.filter { !names.contains($0.key) }
    }

    /// Gives an entry up: it is never sent.
    package func discardEntry(_ id: String) async throws(EngineError) -> OutboxRecord {
        let entry = try await entry(id)
        guard let move = OutboxMove(of: entry, { $0.discard(at: clock.now) }) else {
            throw .notAllowed(entry: entry.id, state: entry.state.rawValue)
        }
        try await commit([.moveOutbox(move)])
        return try await self.entry(entry.id)
    }

    /// Gives up all that waits for a channel, also for one that is not in the configuration any more.
    ///
    /// - Returns: how many entries.
    package func discardChannel(_ name: String) async throws(EngineError) -> Int {
        let waiting = try await waitingEntries(of: name)
        guard waiting > 0 || configuredEdges.contains(name) else { throw .noSuchChannel(name) }
        try await commit([.discardOutbox(channel: name, at: clock.now)])
        return waiting
    }

    /// Sends again, under their ids, the entries of a channel that were made since a moment and are settled.
    ///
    /// - Returns: how many.
    package func replayChannel(_ name: String, since: Moment) async throws(EngineError) -> Int {
        guard activeConfiguration.edges.contains(where: { $0.name == name }) else {
            throw .noSuchChannel(name)
        }
        let count = try await read { () async throws(LedgerError) in
            try await ledger.replayableOutbox(channel: name, since: since)
        }
        if count > 0 { try await commit([.replayOutbox(channel: name, since: since, at: clock.now)]) }
        return count
    }

    /// How many entries of a channel are not settled.
    func waitingEntries(of channel: String) async throws(EngineError) -> Int {
        try await read { () async throws(LedgerError) in
            try await ledger.outboxCounts(byChannelIn: [.pending, .waiting, .held])[channel] ?? 0
        }
    }

    /// Sends a test over one channel, through the same stations as everything else.
    ///
    /// - Returns: the cause of the outbox entry that it becomes, on a channel that has an outbox.
    @discardableResult
    package func testChannel(_ name: String) async throws(EngineError) -> String {
        guard let channel = activeConfiguration.channel(name) else { throw .noSuchChannel(name) }
        await (channel as? any LevelChannel)?.retryNow()
        let made = try await commit([.append(NewEvent(.test(channel: name), at: clock.now))])
        return OutboxRecord.cause(event: made.lastEvent, channel: name)
    }

    /// What each of `entries` waits for, by its id; those that wait for nothing are not in it.
    package func waits(of entries: [OutboxRecord]) async throws(LedgerError) -> [String: OutboxWait] {
        let now = clock.now
        let identities = Dictionary(
            uniqueKeysWithValues: activeConfiguration.edges.map { ($0.name, $0.identity) })
        let unsettled = entries.filter { !$0.state.isSettled }
        var waits: [String: OutboxWait] = [:]
        for (channel, entries) in Dictionary(grouping: unsettled, by: \.channel) {
            let hold: ChannelHold?
            if let identity = identities[channel] {
                hold = ChannelHold(try await ledger.channel(named: channel), of: identity, at: now)
            } else {
                let leftOut = activeConfiguration.configuration.leftOut.first { $0.channel?.name == channel }
                hold = leftOut.map { .leftOut($0.reason) } ?? .missing
            }
            let first =
                hold == nil ? try await ledger.pendingOutbox(channel: channel, limit: Self.lookAhead) : []
            let isWhole = hold == nil && first.count < Self.lookAhead
            let ids = Set(first.map(\.id))
            for entry in entries {
                waits[entry.id] = OutboxWait(
                    entry, hold: hold, isFirst: !isWhole || ids.contains(entry.id), at: now)
            }
        }
        return waits
    }

    /// How many that could be sent are looked at, to find those that stand behind another.
    private static let lookAhead = 1024
}
