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
        var next = OutboxEntry(entry)
        if next.attempted(result, at: now, policy: policy, random: random) == .uncounted { return [] }
        var move = OutboxMove(
            id: entry.id, from: entry.state, attempts: entry.attempts, to: next.state,
            nextAttempts: next.attempts)
        move.nextAt = next.nextAt
        move.settledAt = next.settledAt
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

extension OutboxEntry {
    /// The decider of a stored entry.
    init(_ record: OutboxRecord) {
        self.init(
            state: record.state, attempts: record.attempts, nextAt: record.nextAt,
            createdAt: record.createdAt, settledAt: record.settledAt)
    }
}
