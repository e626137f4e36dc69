import Grouping
import Ledger

/// Events and messages that the open transaction wrote: its turns get them from here instead of reading them back.
///
/// Belongs to the writer. What may no longer be as it was written is forgotten, and is read then.
final class FreshRows {
    /// The newest events, without a gap.
    private var events: [EventRecord] = []
    private var messages: [String: MessageRecord] = [:]

    func add(_ event: NewEvent, numbered seq: Int64) {
        if let last = events.last, last.seq + 1 != seq { events = [] }
        events.append(EventRecord(seq: seq, event: event))
    }

    func add(_ message: MessageRecord) { messages[message.message.id] = message }

    /// Nothing is known: a transaction begins, or a list was undone.
    func forget() {
        events.removeAll(keepingCapacity: events.capacity <= 1024)
        messages.removeAll(keepingCapacity: messages.capacity <= 1024)
    }

    /// Forgets what `change` may touch.
    func forget(by change: Change) {
        switch change {
        case .markRead, .pinMessage, .giveMessages, .answerMessages, .beginSession, .react, .insertAttachment,
            .removeRun, .removeHistory:
            forget()
        default: break
        }
    }

    /// The events after `seq`, at most `limit`; nil: some of them are not known here.
    func events(after seq: Int64, limit: Int) -> [EventRecord]? {
        guard let first = events.first, first.seq <= seq + 1 else { return nil }
        return Array(events.dropFirst(Int(seq + 1 - first.seq)).prefix(limit))
    }

    /// The message of that id; nil: it is not known here.
    func message(_ id: String) -> MessageRecord? { messages[id] }
}
