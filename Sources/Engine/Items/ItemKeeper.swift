import Delivery
import FoundationEssentials
import Grouping
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Turns events into what people see: items, and for each channel the surface or the outbox entry that follows.
///
/// Reads events from its own cursor. What a batch of them makes of the items, the outbox and the surfaces is one
/// transaction with the cursor's step, so that no event is told twice or not at all.
package actor ItemKeeper {
    /// The cursor's name.
    package static let consumer = "items"
    private static let batch = 256

    private let ledger: any Ledger
    private let clock: any WallClock
    private let board: LiveBoard
    private let switchboard: Switchboard
    private let makeID: @Sendable () -> String
    private let logger: Logger
    private let alarm = Alarm()
    private var cursor: Int64 = 0
    private var items: [ItemKey: KeptItem] = [:]
    private var seenOnBoard: UInt64 = 0
    private var boardLookedAt: Duration?
    private var hasNewsOnBoard = false

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard, switchboard: Switchboard,
        makeID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.board = board
        self.switchboard = switchboard
        self.makeID = makeID
        self.logger = logger
    }

    // MARK: The loop

    /// Follows the events until cancelled.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await stations in self.ledger.commits() where stations.contains(.events) {
                    self.alarm.ring()
                }
            }
            group.addTask {
                for await _ in self.board.taps() { await self.noteBoard() }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func serve() async throws {
        var failures = 0
        while true {
            do throws(LedgerError) {
                if failures > 0 || cursor == 0 { try await load() }
                try await followEvents()
                try await followBoard()
                try await wakeItems()
                failures = 0
            } catch {
                failures += 1
                items = [:]
                if failures == 1 {
                    logger.error("items can't be recorded", metadata: ["reason": "\(error)"])
                }
            }
            let retryAt = failures > 0 ? clock.now + .seconds(min(failures, 30)) : nil
            let next = [retryAt, nextFlush(), nextBoardLook()].compactMap { $0 }.min()
            try await alarm.wait(until: next, on: clock)
        }
    }

    private func load() async throws(LedgerError) {
        cursor = try await ledger.cursor(of: Self.consumer)
        items = [:]
        for record in try await ledger.itemsToWake(limit: .max) {
            if let item = KeptItem(record) { items[item.key] = item }
        }
    }

    private func nextFlush() -> Moment? { items.values.compactMap(\.decider.flushAt).min() }

    // MARK: Events

    private func followEvents() async throws(LedgerError) {
        while true {
            let events = try await ledger.events(after: cursor, limit: Self.batch)
            guard let last = events.last else { return }
            var turn = ItemTurn(configuration: switchboard.configuration, now: clock.now)
            for event in events { try await take(event, into: &turn) }
            turn.changes.append(.moveConsumer(name: Self.consumer, from: cursor, to: last.seq))
            try await commit(turn)
            cursor = last.seq
        }
    }

    private func take(_ record: EventRecord, into turn: inout ItemTurn) async throws(LedgerError) {
        let event = record.event
        switch event.type {
        case .messagePosted:
            guard let id = event.subject, let stored = try await ledger.message(id: id) else { return }
            let message = stored.message
            let policy = turn.configuration.bot(message.bot).policy
            try await update(message.itemKey, bot: message.bot, &turn) { item, now in
                guard case .thread(var thread) = item.decider else { return [] }
                defer { item.decider = .thread(thread) }
                return thread.receive(message, at: now, policy: policy)
            }
        case .messageRead, .itemDismissed:
            guard let key = event.subject.flatMap(ItemKey.init) else { return }
            try await update(key, bot: event.bot ?? "belfry", &turn) { item, now in
                item.seen(revision: event.type == .messageRead ? nil : Int(event.detail), at: now)
            }
        case .runStarted, .runBlocked, .runCompleted, .runFailed, .runCanceled, .runLost:
            guard let id = event.run, let run = try await ledger.run(id: id) else { return }
            try await tellOfRun(record, run, into: &turn)
        case .runMissed, .runSkipped:
            try await tellOfSlots(record, into: &turn)
        case .test:
            try await test(record, into: &turn)
        case .runRecovered:
            guard let id = event.run, let run = try await ledger.run(id: id) else { return }
            turn.tell(record, [JSON.Member("run", JSON(run))], makeID: makeID)
        case .channelFailing, .channelDisabled, .channelRestored:
            let channel = JSON.object([
                "name": event.channel.map(JSON.string), "lastError": event.reason.map(JSON.string),
            ])
            turn.tell(record, [JSON.Member("channel", channel)], makeID: makeID)
        case .configReloaded:
            turn.tell(record, [], makeID: makeID)
        case .messageGroup, .runProgress, .runLate, .runSlow, .runStuck, .runFlapping, .questionAsked,
            .questionAnswered:
            return
        }
    }

    private func tellOfRun(
        _ record: EventRecord, _ run: RunRecord, into turn: inout ItemTurn
    ) async throws(LedgerError) {
        turn.tell(record, [JSON.Member("run", JSON(run))], makeID: makeID)
        let fact = JobFact(event: record.event, run: run, live: await board.state(of: run.id))
        let policy = turn.jobPolicy
        var outage: Duration?
        try await update(.job(run.job), bot: run.bot, &turn) { item, now in
            guard case .job(var job) = item.decider else { return [] }
            defer { item.decider = .job(job) }
            let since = job.failingSince
            let actions = job.receive(fact, at: now, policy: policy)
            // Told to webhooks also where no surface hears of the job.
            if let since, job.failingSince == nil { outage = max(.zero, fact.at - since) }
            return actions
        }
        guard let outage else { return }
        turn.changes.append(
            .append(
                NewEvent(
                    .runRecovered, at: turn.now, reason: "recovered", job: run.job, run: run.id, bot: run.bot,
                    detail: "{\"outageSeconds\":\(outage.microseconds / 1_000_000)}")))
    }

    private func tellOfSlots(_ record: EventRecord, into turn: inout ItemTurn) async throws(LedgerError) {
        let event = record.event
        guard let job = event.job,
            let detail = try? JSONDecoder().decode(SlotDetail.self, from: Data(event.detail.utf8))
        else { return }
        turn.tell(record, [JSON.Member("run", JSON(slotsOf: event, detail))], makeID: makeID)
        let fact = JobFact(
            run: nil, state: event.type == .runMissed ? .missed : .skipped,
            reason: event.reason.flatMap(RunReason.init), slots: detail.count, at: event.at)
        let policy = turn.jobPolicy
        try await update(.job(job), bot: event.bot ?? "belfry", &turn) { item, now in
            guard case .job(var job) = item.decider else { return [] }
            defer { item.decider = .job(job) }
            return job.receive(fact, at: now, policy: policy)
        }
    }

    /// A test goes to the one channel it names: as an entry, or as a message that only this surface shows.
    private func test(_ record: EventRecord, into turn: inout ItemTurn) async throws(LedgerError) {
        guard let name = record.event.channel,
            let channel = turn.configuration.channels.first(where: { $0.name == name })
        else { return }
        guard channel.kind.isLevel else {
            let told = JSON.object(["name": .string(name), "kind": .string(channel.kind.rawValue)])
            return turn.tell(record, [JSON.Member("channel", told)], only: name, makeID: makeID)
        }
        let message = Message(
            id: makeID(), bot: "belfry", thread: "test \(name)",
            text: "This is a test of the channel \"\(name)\".", at: turn.now, urgency: .normal)
        turn.only[message.itemKey] = name
        let policy = ThreadPolicy(wait: .zero)
        try await update(message.itemKey, bot: "belfry", &turn) { item, now in
            guard case .thread(var thread) = item.decider else { return [] }
            defer { item.decider = .thread(thread) }
            return thread.receive(message, at: now, policy: policy)
        }
    }

    // MARK: Progress

    private func noteBoard() {
        hasNewsOnBoard = true
        alarm.ring()
    }

    /// Progress is looked at once a second: more often nobody could read it.
    private func nextBoardLook() -> Moment? {
        guard hasNewsOnBoard else { return nil }
        let waited = boardLookedAt.map { clock.sinceBoot - $0 } ?? .seconds(1)
        return clock.now + max(.zero, .seconds(1) - waited)
    }

    private func followBoard() async throws(LedgerError) {
        guard hasNewsOnBoard else { return }
        if let boardLookedAt, clock.sinceBoot - boardLookedAt < .seconds(1) { return }
        hasNewsOnBoard = false
        boardLookedAt = clock.sinceBoot
        let (version, states) = await board.changes(after: seenOnBoard)
        var turn = ItemTurn(configuration: switchboard.configuration, now: clock.now)
        let policy = turn.jobPolicy
        guard policy.hears.contains(.progress) else {
            seenOnBoard = version
            return
        }
        for live in states where live.state == .running && live.progress != nil {
            let fact = JobFact(live)
            try await update(.job(live.task.name), bot: live.task.botID, &turn) { item, now in
                guard case .job(var job) = item.decider else { return [] }
                defer { item.decider = .job(job) }
                return job.receive(fact, at: now, policy: policy)
            }
        }
        if turn.changes.isEmpty {
            // Progress that shows nothing new yet is not worth a write: the item's timer brings it.
            remember(turn)
        } else {
            try await commit(turn)
        }
        seenOnBoard = version
    }

    // MARK: Items

    private func wakeItems() async throws(LedgerError) {
        let now = clock.now
        let due = items.values.filter { ($0.decider.flushAt ?? .distantFuture) <= now }.map(\.key)
        guard !due.isEmpty else { return }
        var turn = ItemTurn(configuration: switchboard.configuration, now: now)
        for key in due {
            let configuration = turn.configuration
            let policy = turn.jobPolicy
            try await update(key, bot: "belfry", &turn) { item, now in
                switch item.decider {
                case .thread(var thread):
                    defer { item.decider = .thread(thread) }
                    return thread.wake(at: now, policy: configuration.bot(thread.bot).policy)
                case .job(var job):
                    defer { item.decider = .job(job) }
                    return job.wake(at: now, policy: policy)
                }
            }
        }
        try await commit(turn)
    }

    private func update(
        _ key: ItemKey, bot: String, _ turn: inout ItemTurn,
        _ decide: (inout KeptItem, Moment) -> [ItemAction]
    ) async throws(LedgerError) {
        var item = turn.items[key] ?? items[key]
        if item == nil { item = try await ledger.item(key).flatMap { KeptItem($0) } }
        var kept = item ?? KeptItem(key, bot: bot)
        let failures = kept.failures
        let actions = decide(&kept, turn.now)
        for action in actions {
            switch action {
            case .wakeAt: continue
            case .flush(let snapshot):
                kept.shown = snapshot
                let untried = try await untriedEntries(of: key, turn)
                turn.show(snapshot, untried: untried, makeID: makeID)
            case .resolve(let revision):
                kept.shown = nil
                turn.resolve(key, revision: revision)
            }
        }
        turn.keep(kept, isWorthWriting: !actions.isEmpty || kept.failures != failures)
    }

    private func untriedEntries(
        of key: ItemKey, _ turn: ItemTurn
    ) async throws(LedgerError) -> [String: String] {
        var entries: [String: String] = [:]
        for channel in turn.configuration.channels where !channel.kind.isLevel {
            if let entry = try await ledger.untriedOutbox(channel: channel.name, item: "\(key)") {
                entries[channel.name] = entry.id
            }
        }
        return entries
    }

    private func commit(_ turn: ItemTurn) async throws(LedgerError) {
        var changes: [Change] = []
        do {
            for key in turn.written {
                if let item = turn.items[key] { changes.append(try item.change(at: turn.now)) }
            }
        } catch {
            throw .storage(code: 0, detail: "an item can't be encoded: \(error)")
        }
        changes += turn.changes
        if !changes.isEmpty { try await ledger.commit(changes) }
        var stored = turn
        for key in turn.written { stored.items[key]?.stored = (turn.items[key]?.stored ?? 0) + 1 }
        remember(stored)
    }

    /// Keeps the items that wait for something or will soon change; what sleeps is read again when it is needed.
    private func remember(_ turn: ItemTurn) {
        for (key, item) in turn.items {
            items[key] = item.decider.flushAt != nil || item.isAtWork ? item : nil
        }
    }
}
