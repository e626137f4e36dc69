import Delivery
import FoundationEssentials
import Ledger
import Logging
import Timeline

/// The pending entries of one channel, sent a few at a time, in order for each run and item.
actor OutboxLine {
    /// How many attempts are under way at most.
    private static let width = 4
    private static let lookAhead = 64

    private let channel: any EdgeChannel
    private let ledger: any Ledger
    private let clock: any WallClock
    private let health: ChannelBoard
    private let logger: Logger
    private let alarm = Alarm()
    private let retry = RetryPolicy()
    private let rest = CircuitPolicy()
    private var circuit = Circuit()
    private var storedCircuit = Circuit()
    /// What is being sent: entry to its run or item.
    private var underWay: [String: String] = [:]
    private var ends = Inbox<End>()
    private var isWaitingForProbe = false

    private struct End: Sendable {
        var entry: OutboxRecord
        var result: Result<Receipt, DeliveryError>
    }

    init(
        channel: any EdgeChannel, ledger: any Ledger, clock: any WallClock, health: ChannelBoard,
        logger: Logger
    ) {
        self.channel = channel
        self.ledger = ledger
        self.clock = clock
        self.health = health
        self.logger = logger
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await stations in self.ledger.commits() where stations.contains(.outbox) {
                    self.alarm.ring()
                }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func serve() async throws {
        await recallCircuit()
        try await withThrowingDiscardingTaskGroup { group in
            var owed: [End] = []
            while true {
                owed = await settle(owed + ends.takeAll())
                var next = owed.isEmpty ? nil : clock.now + .seconds(1)
                if owed.isEmpty {
                    do throws(LedgerError) {
                        let (due, wakeAt) = try await choose()
                        next = wakeAt
                        for entry in due { group.addTask { await self.send(entry) } }
                    } catch {
                        logger.error("the outbox can't be read", metadata: ["reason": "\(error)"])
                        next = clock.now + .seconds(1)
                    }
                }
                try await alarm.wait(until: next, on: clock)
            }
        }
    }

    // MARK: Sending

    /// The entries that may be sent now, and when to look again.
    private func choose() async throws(LedgerError) -> (due: [OutboxRecord], wakeAt: Moment?) {
        let now = clock.now
        var due: [OutboxRecord] = []
        var wakeAt: Moment?
        guard underWay.count < Self.width else { return ([], nil) }
        let pending = try await ledger.pendingOutbox(channel: channel.name, limit: Self.lookAhead)
        for entry in pending.sorted(by: { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }) {
            let key = entry.item ?? entry.run ?? entry.id
            guard underWay.count < Self.width, underWay[entry.id] == nil, !underWay.values.contains(key)
            else {
                continue
            }
            let state = OutboxEntry(entry)
            guard let dueAt = state.dueAt(now, policy: retry), dueAt <= now else {
                wakeAt = [wakeAt, state.dueAt(now, policy: retry)].compactMap { $0 }.min()
                continue
            }
            switch circuit.ask(at: now, policy: rest) {
            case .granted:
                underWay[entry.id] = key
                due.append(entry)
            case .waitUntil(let moment):
                return (due, moment)
            case .waitForProbe, .refused:
                return (due, nil)
            }
        }
        return (due, wakeAt)
    }

    private func send(_ entry: OutboxRecord) async {
        let parcel = Parcel(
            id: entry.id, type: entry.type, timestamp: entry.createdAt, body: entry.body,
            attempt: entry.attempts + 1)
        let result: Result<Receipt, DeliveryError>
        do throws(DeliveryError) {
            result = .success(try await channel.deliver(parcel, at: clock.now))
        } catch {
            result = .failure(error)
        }
        ends.put(End(entry: entry, result: result))
        alarm.ring()
    }

    // MARK: Ends of attempts

    /// Records the ends together.
    ///
    /// Returns what the ledger could not take now.
    private func settle(_ ends: [End]) async -> [End] {
        guard !ends.isEmpty else { return [] }
        let now = clock.now
        let before = circuit
        var changes: [Change] = []
        for end in ends { changes += record(end, at: now) }
        if let record = changedCircuit(at: now) { changes.append(.putChannel(record)) }
        do throws(LedgerError) {
            if !changes.isEmpty { try await ledger.commit(changes) }
        } catch {
            if case .fenced = error, ends.count > 1 {
                circuit = before
                for end in ends { _ = await settle([end]) }
            } else if case .fenced = error {
                logger.debug("an attempt's end came too late", metadata: ["channel": "\(channel.name)"])
            } else {
                circuit = before
                logger.error("an attempt's end can't be recorded", metadata: ["reason": "\(error)"])
                return ends
            }
        }
        storedCircuit = circuit
        for end in ends { underWay[end.entry.id] = nil }
        return []
    }

    private func record(_ end: End, at now: Moment) -> [Change] {
        var entry = OutboxEntry(end.entry)
        let outcome = entry.attempted(end.result, at: now, policy: retry, random: .random(in: 0..<1))
        let news = circuit.recorded(end.result, at: now, policy: rest)
        note(end, at: now)
        var changes: [Change] = []
        if outcome != .uncounted {
            var move = OutboxMove(
                id: end.entry.id, from: end.entry.state, attempts: end.entry.attempts, to: entry.state,
                nextAttempts: entry.attempts)
            move.nextAt = entry.nextAt
            move.settledAt = entry.settledAt
            switch end.result {
            case .success(let receipt):
                move.status = receipt.status
                changes.append(.insertReceipt(ReceiptRecord(outbox: end.entry.id, receipt: receipt)))
            case .failure(let error):
                move.status = error.status
                move.lastError = error.detail.isEmpty ? error.reason.rawValue : error.detail
            }
            changes.insert(.moveOutbox(move), at: 0)
        }
        if let news, let type = EventType(rawValue: news.eventType) {
            changes.append(
                .append(NewEvent(type, at: now, reason: circuit.lastError, channel: channel.name)))
        }
        return changes
    }

    private func note(_ end: End, at now: Moment) {
        switch (end.result, circuit.state) {
        case (.success, _):
            health.note(.working, of: channel.name, error: nil, at: now)
        case (.failure, .disabled):
            health.note(.disabled, of: channel.name, error: circuit.lastError, at: now)
        case (.failure(let error), _):
            let text = error.detail.isEmpty ? error.reason.rawValue : error.detail
            if health.note(.failing, of: channel.name, error: text, at: now) {
                logger.warning(
                    "a channel fails", metadata: ["channel": "\(channel.name)", "reason": "\(text)"])
            }
        }
    }

    // MARK: The circuit between starts

    private func recallCircuit() async {
        do throws(LedgerError) {
            if let record = try await ledger.channel(named: channel.name),
                let stored = try? JSONDecoder().decode(Circuit.self, from: Data(record.circuit))
            {
                circuit = stored
            }
        } catch {
            logger.warning("a channel's past can't be read", metadata: ["reason": "\(error)"])
        }
        circuit.forgetProbe(at: clock.now)
        storedCircuit = circuit
    }

    private func changedCircuit(at now: Moment) -> ChannelRecord? {
        guard circuit.state != storedCircuit.state || circuit.lastError != storedCircuit.lastError,
            let bytes = try? JSONEncoder().encode(circuit)
        else { return nil }
        return ChannelRecord(name: channel.name, circuit: Array(bytes), updatedAt: now)
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
