import Delivery
package import Ledger
import Logging
import Synchronization
package import Timeline
import Tracking

/// Sends what is pending, each webhook-like channel by itself: one that is broken delays no other.
package struct OutboxPump: Sendable {
    private let tools: ChannelTools
    /// What the clocks showed when the daemon began.
    private let start: ClockReading

    package init(_ tools: ChannelTools) {
        self.tools = tools
        start = ClockReading(of: tools.clock)
    }

    /// Notes what the last daemon knew of the channels' troubles, so that they do not show as never tried.
    package func recallTroubles() async throws(LedgerError) {
        for channel in tools.activeConfiguration.edges {
            let (record, now) = (try await tools.ledger.channel(named: channel.name), tools.clock.now)
            let keeper = CircuitKeeper(record, of: channel.identity, at: now)
            guard let (state, error) = keeper.knownTrouble else { continue }
            tools.board.note(state, of: channel.name, error: error, at: keeper.since ?? now)
        }
    }

    /// Serves every channel of the configuration, and follows each reload, until cancelled.
    package func run() async throws {
        try await tools.serve({ [tools] channel in
            (channel as? any EdgeChannel).map { channel in
                let line = OutboxLine(channel: channel, tools)
                // From the commit of an entry to its request one thread is woken.
                return { try await withTaskExecutorPreference(channel.executor) { try await line.run() } }
            }
        }) {
            await parkEntries()
        }
    }

    /// What is for a channel that is missing waits until it is back: a file may be out of the way for one start.
    ///
    /// No new entries are made for it; those that are older than history is kept expire.
    private func parkEntries() async {
        do throws(LedgerError) {
            let now = tools.clock.now
            // No entry gets old by a clock that leaps ahead.
            let counted = start.now + (tools.clock.sinceBoot - start.sinceBoot)
            let names = Set(tools.activeConfiguration.edges.map(\.name))
            let channels = try await tools.ledger.outboxCounts(byChannelIn: [.pending, .waiting]).keys
            let changes = channels.filter { !names.contains($0) }.sorted().map { channel in
                Change.parkOutbox(
                    OutboxPark(
                        channel: channel, expiring: min(now, counted) - Retention().age,
                        reason: "its channel was missing for too long", at: now))
            }
            if !changes.isEmpty { try await tools.ledger.commit(changes) }
        } catch {
            tools.logger.warning(
                "entries of missing channels could not be set aside", metadata: ["reason": "\(error)"])
        }
    }
}

/// What an entry that is not sent now waits for.
package enum OutboxWait: Hashable, Sendable {
    /// Its own next attempt, after one that failed.
    case retry(at: Moment)
    /// An earlier entry of the same item or run, which goes first.
    case earlier
    /// Its channel.
    case channel(ChannelHold)
    /// The end of what a rule decided.
    case rule(until: Moment?)

    /// What `entry` waits for; nil: nothing, it is settled or its turn is now.
    init?(_ entry: OutboxRecord, hold: ChannelHold?, isFirst: Bool, at now: Moment) {
        switch entry.state {
        case .held: self = .rule(until: entry.nextAt)
        // Its channel was given up or is missing, or works again this very moment.
        case .waiting:
            guard let hold else { return nil }
            self = .channel(hold)
        case .pending:
            // A test is a person's question, which no circuit keeps.
            if var hold, entry.type != EventType.test.rawValue {
                if let until = hold.until, let own = entry.nextAt { hold.until = max(until, own) }
                self = .channel(hold)
            } else if !isFirst {
                self = .earlier
            } else if let nextAt = entry.nextAt, nextAt > now {
                self = .retry(at: nextAt)
            } else {
                return nil
            }
        case .delivered, .dead, .suppressed, .superseded, .expired, .discarded: return nil
        }
    }

    /// The word for it.
    package var word: String {
        switch self {
        case .retry: "retry"
        case .earlier: "earlier"
        case .channel(let hold): hold.reason.rawValue
        case .rule: "rule"
        }
    }

    /// When the entry is tried next; nil: that is not known.
    package var nextAt: Moment? {
        switch self {
        case .retry(let moment): moment
        case .earlier: nil
        case .channel(let hold): hold.until
        case .rule(let until): until
        }
    }
}

/// Why a channel's entries are not sent when their own moment comes, and until when.
package struct ChannelHold: Hashable, Sendable {
    /// What keeps them.
    package enum Reason: String, Hashable, Sendable {
        /// The channel fails and is left alone for a while.
        case channelFailing
        /// The channel was given up; nothing is sent before a person tries it.
        case channelDisabled
        /// The configuration has no such channel; nothing is sent before it has.
        case channelMissing
        /// The daemon could not use the channel at its start; it is tried again each minute.
        case channelLeftOut
    }

    /// What keeps them.
    package var reason: Reason
    /// When the next one is tried; nil: that is not known.
    package var until: Moment?
    /// The channel's last failure, one line.
    package var lastError: String?

    /// What the channel's circuit says; nil: nothing keeps its entries.
    init?(_ circuit: Circuit, at now: Moment, policy: CircuitPolicy = CircuitPolicy()) {
        switch circuit.state {
        case .closed: return nil
        case .disabled: reason = .channelDisabled
        case .open, .halfOpen:
            reason = .channelFailing
            var asked = circuit
            // A probe may be out already: what it finds, and when, is not known.
            if case .waitUntil(let moment) = asked.ask(at: now, policy: policy) { until = moment }
        }
        lastError = circuit.lastError
    }

    /// Of a channel that is not in the configuration.
    static let missing = ChannelHold(.channelMissing)

    /// Of a channel that was left out at the start, for this reason.
    static func leftOut(_ reason: String) -> ChannelHold {
        var hold = ChannelHold(.channelLeftOut)
        hold.lastError = reason
        return hold
    }

    private init(_ reason: Reason) { self.reason = reason }

    /// What the ledger says of the channel, as far as that is about the one of this identity.
    init?(_ record: ChannelRecord?, of identity: String, at now: Moment) {
        guard let circuit = Circuit(record, of: identity) else { return nil }
        self.init(circuit, at: now)
    }
}

/// Which outbox entries are being sent, and which are being rewritten: one entry is never both.
///
/// What is being sent has no mark in the ledger, which would cost a sync for each webhook. Without this, an
/// entry could be rewritten while its old text is on the way, and the new text would never be sent.
package final class EntriesInHand: Sendable {
    private struct State {
        var sent: Set<String> = []
        var rewritten: Set<String> = []
        /// What was being sent when its channel was changed: the ledger counts no attempt, and its text may have arrived.
        var brokenOff: Set<String> = []
        var rewritings: UInt64 = 0
    }

    private let state = Mutex(State())
    private let ends = Broadcast<Void>()

    package init() {}

    /// How many rewritings have begun so far: asked before a sender reads entries.
    package var rewritings: UInt64 { state.withLock { $0.rewritings } }

    /// Takes an entry to send it.
    ///
    /// Refused when anything was, or is being, rewritten since `rewritings` was asked: what was read may be
    /// old.
    package func beginSending(_ id: String, readAfter rewritings: UInt64) -> Bool {
        state.withLock { state in
            guard state.rewritings == rewritings, state.rewritten.isEmpty else { return false }
            return state.sent.insert(id).inserted
        }
    }

    /// The entries that are being sent now.
    package var sending: Set<String> { state.withLock { $0.sent } }

    /// The attempt is recorded, or was broken off by us.
    package func endSending(_ id: String, isBrokenOff: Bool = false) {
        state.withLock { state in
            state.sent.remove(id)
            if isBrokenOff { state.brokenOff.insert(id) }
        }
    }

    /// Takes an entry to rewrite it; refused while it is being sent, and for good once an attempt was broken off: under one
    /// id nothing else may follow.
    package func beginRewriting(_ id: String) -> Bool {
        state.withLock { state in
            guard !state.sent.contains(id), !state.brokenOff.contains(id) else { return false }
            state.rewritings += 1
            state.rewritten.insert(id)
            return true
        }
    }

    /// The new text is in the ledger, or will not be.
    package func endRewriting(_ ids: Set<String>) {
        if ids.isEmpty { return }
        state.withLock { $0.rewritten.subtract(ids) }
        ends.publish(())
    }

    /// An element after each rewriting, for those who were refused.
    package func taps() -> AsyncStream<Void> { ends.values() }
}

/// How an attempt to send an entry ended.
struct OutboxEnd: Sendable {
    let entry: OutboxRecord
    let result: Result<Receipt, DeliveryError>
    /// Whether the channel was known to work when the entry was sent.
    let wasWorking: Bool
    /// How long the other side took.
    var latency: Duration?
    /// The head of what it answered to what failed.
    var answer: String?

    /// Whether we broke the attempt off.
    var isBrokenOff: Bool {
        if case .failure(let error) = result { error.reason == .stopping } else { false }
    }

    /// What happens to the entry; nothing when the attempt was broken off by us.
    func changes(at now: Moment, policy: RetryPolicy, random: Double) -> [Change] {
        let counted = OutboxMove(of: entry) {
            $0.attempted(result, at: now, policy: policy, random: random) != .uncounted
        }
        guard var move = counted else { return [] }
        switch result {
        case .success(var receipt):
            move.status = receipt.status
            receipt.latency = latency
            return [.moveOutbox(move), .insertReceipt(ReceiptRecord(outbox: entry.id, receipt: receipt))]
        case .failure(let error):
            move.status = error.status
            move.lastError = error.sentence
            let attempt = OutboxAttempt(
                outbox: entry.id, number: move.nextAttempts, at: now, latency: latency, reason: error.reason,
                status: error.status, error: error.sentence, answer: answer)
            return [.moveOutbox(move), .insertOutboxAttempt(attempt)]
        }
    }
}
