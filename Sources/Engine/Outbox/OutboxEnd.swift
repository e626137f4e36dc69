import Delivery
import Ledger
import Timeline

/// How an attempt to send an entry ended.
struct OutboxEnd: Sendable {
    let entry: OutboxRecord
    let result: Result<Receipt, DeliveryError>
    /// Whether the channel was known to work when the entry was sent.
    let wasWorking: Bool

    /// What happens to the entry; nothing when the attempt was broken off by us.
    func changes(at now: Moment, policy: RetryPolicy, random: Double) -> [Change] {
        let counted = OutboxMove(of: entry) {
            $0.attempted(result, at: now, policy: policy, random: random) != .uncounted
        }
        guard var move = counted else { return [] }
        switch result {
        case .success(let receipt):
            move.status = receipt.status
            return [.moveOutbox(move), .insertReceipt(ReceiptRecord(outbox: entry.id, receipt: receipt))]
        case .failure(let error):
            move.status = error.status
            move.lastError = error.sentence
            return [.moveOutbox(move)]
        }
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

extension OutboxEntry {
    /// The decider of a stored entry.
    init(_ record: OutboxRecord) {
        self.init(
            state: record.state, attempts: record.attempts, nextAt: record.nextAt,
            createdAt: record.createdAt, settledAt: record.settledAt)
    }
}
