import Delivery
import FoundationEssentials
import Ledger
import Timeline

/// A channel's circuit, and what of it is in the ledger.
struct CircuitKeeper {
    private let policy = CircuitPolicy()
    private var circuit = Circuit()
    private var kept = Circuit()

    /// That of a channel never used.
    init() {}

    /// Takes up what the last daemon left; a record that can't be read counts for nothing.
    init(_ record: ChannelRecord?, at now: Moment) {
        circuit = Circuit(record) ?? circuit
        circuit.forgetProbe(at: now)
        kept = circuit
    }

    /// Whether an entry may be sent now.
    ///
    /// A test always may: it is a person's question whether the channel works again.
    mutating func ask(for entry: OutboxRecord, at now: Moment) -> Circuit.Permission {
        if entry.type == EventType.test.rawValue { return .granted }
        return circuit.ask(at: now, policy: policy)
    }

    /// Takes in the end of an attempt.
    ///
    /// Returns the event of what changed by it.
    mutating func record(_ end: OutboxEnd, of channel: String, at now: Moment) -> [Change] {
        var news = circuit.recorded(end.result, at: now, policy: policy)
        if isDisabled, case .success = end.result {
            circuit.enable(at: now)
            news = .restored
        }
        guard let news, let type = EventType(rawValue: news.eventType) else { return [] }
        return [
            .append(
                NewEvent(
                    type, at: now, reason: circuit.lastReason?.rawValue, channel: channel,
                    detail: circuit.lastError ?? ""))
        ]
    }

    /// Whether a channel that was given up is used again: what was held may go.
    func isEnabledAnew(after before: CircuitKeeper) -> Bool {
        before.isDisabled && !isDisabled
    }

    private var isDisabled: Bool {
        if case .disabled = circuit.state { return true }
        return false
    }

    /// What the ledger must learn; nil: it knows.
    func recordToKeep(of channel: String, at now: Moment) -> ChannelRecord? {
        guard circuit.state != kept.state || circuit.lastError != kept.lastError,
            let bytes = try? JSONEncoder().encode(circuit)
        else { return nil }
        return ChannelRecord(name: channel, circuit: Array(bytes), updatedAt: now)
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
    /// What the ledger holds of it; nil: nothing, or nothing that can be read.
    init?(_ record: ChannelRecord?) {
        guard let record, let stored = try? JSONDecoder().decode(Circuit.self, from: Data(record.circuit))
        else { return nil }
        self = stored
    }
}
