import Delivery
import Ledger
import Timeline

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
