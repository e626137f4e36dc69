import API
import Delivery
import Engine
import Ledger

extension WireOutboxEntry {
    /// The entry as the API shows it; `sending` is no stored state.
    init(_ record: OutboxRecord, isSending: Bool, wait: OutboxWait?) {
        let isSending = isSending && record.state == .pending
        let state = isSending ? WireOutboxState.sending.rawValue : record.state.rawValue
        self.init(
            id: record.id, channel: record.channel, type: record.type, reason: record.reason,
            state: state, createdAt: Timestamp(record.createdAt))
        attempts = record.attempts
        if !isSending {
            nextAt = Timestamp(wait == nil ? record.nextAt : wait?.nextAt)
            waitsFor = wait?.word
            if case .channel(let hold) = wait { channelError = hold.lastError }
        }
        lastError = record.lastError
        status = record.status
        settledAt = Timestamp(record.settledAt)
        run = record.run
        item = record.item
    }
}

extension WireEvent {
    /// The event as the API shows it.
    init(_ record: EventRecord) {
        let event = record.event
        let columns = event.fact.columns
        self.init(seq: record.seq, type: event.type.rawValue, at: Timestamp(event.at))
        reason = columns.reason
        job = columns.job
        run = columns.run
        bot = columns.bot
        subject = columns.subject
        channel = columns.channel
        data = event.fact.payload.flatMap { try? WireValue($0) }
    }
}
