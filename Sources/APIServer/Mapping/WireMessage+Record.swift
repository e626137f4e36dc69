import API
import Grouping
import Ledger

extension WireMessage {
    /// The message as the API shows it.
    init(_ record: MessageRecord) {
        self.init(record.message)
        read = record.read
        pinned = record.pinned
        run = record.run
    }

    /// A message of which no more is known.
    init(_ message: Message) {
        self.init(
            id: message.id, bot: message.bot, thread: message.thread, from: message.author.rawValue,
            text: message.text, at: Timestamp(message.at))
        run = message.run
    }
}

extension WireItem {
    /// The item as a person sees it now; `messages` are its last ones, oldest first.
    init(_ item: ItemSnapshot, messages: [WireMessage]) {
        self.init(
            key: "\(item.key)", kind: "thread", urgency: item.urgency.rawValue,
            revision: Int64(item.revision))
        bot = item.bot
        reason = item.reason.rawValue
        last = messages
        switch item.key {
        case .thread(_, let thread): self.thread = thread
        case .job(let name):
            kind = "job"
            job = name
        }
        switch item.content {
        case .messages(let count, _): self.count = count
        case .job(let report): count = report.failures
        }
    }
}
