import Delivery
import Ledger
import Synchronization
package import Timeline
import Tracking

/// A channel's circuit, and what of it is in the ledger.
struct CircuitKeeper {
    private let policy = CircuitPolicy()
    private var circuit = Circuit()
    private var kept = Circuit()
    /// Whether the channel took the last thing it was sent, as far as this daemon knows.
    private(set) var isWorking = false

    /// That of a channel never used.
    init() {}

    /// Takes up what the last daemon left of the channel of this identity; a record that can't be read counts for
    /// nothing.
    init(_ record: ChannelRecord?, of identity: String, at now: Moment) {
        circuit = Circuit(record, of: identity) ?? circuit
        circuit.resume(at: now)
        kept = circuit
    }

    /// Whether something may be sent, or shown, now.
    ///
    /// A test always may: it is a person's question whether the channel works again.
    mutating func ask(isTest: Bool, at now: Moment) -> Circuit.Permission {
        isTest ? .granted : circuit.ask(at: now, policy: policy)
    }

    /// Takes back a permission that came to nothing.
    mutating func forgetProbe(at now: Moment) { circuit.forgetProbe(at: now) }

    /// Somebody else is at the far end now: the next one finds out how it is doing.
    mutating func probe(at now: Moment) { circuit.probe(at: now) }

    /// Takes in the end of an attempt.
    ///
    /// Returns the event of what changed by it, and whether it ended an outage: what waits may go.
    mutating func record(
        _ result: Result<Receipt, DeliveryError>, of channel: String, at reading: ClockReading
    ) -> (events: [Change], endsOutage: Bool) {
        let now = reading.now
        let hadOutage = circuit.hasOutage
        var news = circuit.recorded(result, at: now, sinceBoot: reading.sinceBoot, policy: policy)
        if isDisabled, case .success = result {
            circuit.enable(at: now)
            news = .restored
        }
        if case .failure(let error) = result {
            if error.reason.isOutage { isWorking = false }
        } else {
            isWorking = true
        }
        let endsOutage = hadOutage && !circuit.hasOutage
        guard let news else { return ([], endsOutage) }
        let fact = news.fact(
            Fact.Channel(channel, reason: circuit.lastReason, error: circuit.lastError))
        return ([.append(NewEvent(fact, at: now))], endsOutage)
    }

    /// Whether nothing may be sent now but a probe, if anything.
    var isOpen: Bool { circuit.state != .closed }

    /// Whether it failed in a way that another network may change: it did not take the last thing it was sent, and was not
    /// given up.
    var mayReturn: Bool { circuit.hasOutage && !isDisabled && circuit.lastReason?.isOutage ?? false }

    /// Whether the channel was given up.
    var isDisabled: Bool {
        if case .disabled = circuit.state { return true }
        return false
    }

    /// What the ledger must keep; nil: it has it.
    ///
    /// Of the ends of attempts while all is well nothing is written.
    func recordToKeep(of channel: String, _ identity: String, at now: Moment) -> ChannelRecord? {
        let isNews =
            circuit.state != kept.state || circuit.lastError != kept.lastError
            || (circuit.hasOutage && circuit != kept)
        guard isNews else { return nil }
        return record(of: channel, identity, at: now)
    }

    /// All there is to keep.
    func record(of channel: String, _ identity: String, at now: Moment) -> ChannelRecord? {
        guard let bytes = try? JSON.encode(circuit) else { return nil }
        return ChannelRecord(name: channel, circuit: bytes, identity: identity, updatedAt: now)
    }

    /// The ledger knows all.
    mutating func isKept() { kept = circuit }

    /// How the channel is doing, by the end of its last attempt.
    func health(after result: Result<Receipt, DeliveryError>) -> (ChannelBoard.Health.State, String?) {
        switch (result, circuit.state) {
        case (.success, _): return (.working, nil)
        case (.failure, .disabled): return (.disabled, circuit.lastError)
        case (.failure(let error), _): return (.failing, error.sentence)
        }
    }

    /// What is known to be wrong before anything was sent; nil: nothing.
    var knownTrouble: (ChannelBoard.Health.State, String?)? {
        switch circuit.state {
        // Its last attempt failed, too; there were only not enough of them yet to leave it alone.
        case .closed: circuit.lastError.map { (.failing, $0) }
        case .open, .halfOpen: (.failing, circuit.lastError)
        case .disabled: (.disabled, circuit.lastError)
        }
    }

    /// Since when; nil: it is not known.
    var since: Moment? { circuit.since }
}

extension Circuit {
    /// What the ledger holds of it; nil: nothing, nothing that can be read, or that of another identity.
    ///
    /// Older versions kept no identity: theirs is taken for the channel's.
    init?(_ record: ChannelRecord?, of identity: String) {
        guard let record, record.identity ?? identity == identity,
            let stored = try? JSON.decode(Circuit.self, from: record.circuit)
        else { return nil }
        self = stored
    }
}

/// How each channel is doing, for people to see; kept in memory by whoever serves the channel.
package final class ChannelBoard: Sendable {
    /// A channel's health.
    package struct Health: Hashable, Sendable {
        package enum State: String, Hashable, Sendable {
            /// It takes what is sent.
            case working
            /// Nobody is there to take it; it is tried again when somebody is.
            case away
            /// It fails; attempts are spaced out.
            case failing
            /// It is not tried until a person says so.
            case disabled
        }

        package var state: State
        package var since: Moment
        package var lastError: String?
        /// Whether it is away because this machine has no such thing, as far as was seen.
        package var isAbsent = false
    }

    private let channels = Mutex<[String: Health]>([:])

    package init() {}

    /// Notes a channel's state.
    ///
    /// Returns whether it is another one than before.
    @discardableResult
    package func note(
        _ state: Health.State, of channel: String, error: String?, isAbsent: Bool = false, at now: Moment
    ) -> Bool {
        channels.withLock { channels in
            let isNew = channels[channel]?.state != state
            let since = isNew ? now : channels[channel]?.since ?? now
            channels[channel] = Health(
                state: state, since: since, lastError: error, isAbsent: isAbsent)
            return isNew
        }
    }

    /// Forgets a channel: another receiver bears its name now.
    package func forget(_ channel: String) {
        channels.withLock { $0[channel] = nil }
    }

    /// The channel's health; nil: nothing was tried yet.
    package subscript(channel: String) -> Health? { channels.withLock { $0[channel] } }
}
