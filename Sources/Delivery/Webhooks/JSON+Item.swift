package import Grouping
import Timeline

extension JSON {
    /// The `item` of events and webhooks.
    ///
    /// Of a job, `count` is how often in a row it failed, and `last` is empty; `pinned` are the ids of the
    /// messages that are.
    package init(_ item: ItemSnapshot, pinned: Set<String> = []) {
        var bot: String? = item.bot
        var thread: String?
        var job: String?
        switch item.key {
        case .thread(let name, let of):
            bot = name
            thread = of
        case .job(let name): job = name
        }
        var count = 0
        var last: [Message] = []
        switch item.content {
        case .messages(let unread, let messages):
            count = unread
            last = messages
        case .job(let report): count = report.failures
        }
        self = .object([
            "key": .string(item.key.description),
            "kind": .string(job == nil ? "thread" : "job"),
            "bot": bot.map(JSON.string),
            "thread": thread.map(JSON.string),
            "job": job.map(JSON.string),
            "count": .int(count),
            "last": .array(last.map { JSON($0, isRead: false, isPinned: pinned.contains($0.id)) }),
            "urgency": .string(item.urgency.rawValue),
            "reason": .string(item.reason.rawValue),
            "revision": .int(item.revision),
        ])
    }

    /// The `message` of events and webhooks.
    package init(_ message: Message, isRead: Bool, isPinned: Bool) {
        self = .object([
            "id": .string(message.id),
            "bot": .string(message.bot),
            "thread": .string(message.thread),
            "from": .string(message.author.rawValue),
            "title": message.title.map(JSON.string),
            "text": .string(message.text),
            "at": .string(message.at.iso8601),
            "read": .bool(isRead),
            "pinned": .bool(isPinned),
            "run": message.run.map(JSON.string),
        ])
    }
}
