public import Timeline
package import Tracking

/// One thread of a bot as a person sees it: how much is unread, the newest of it, and when to ring.
///
/// The value is all there is to save between two events. Feed it messages, wake it when it asked to be
/// woken, pass it what a person has read; do what it returns.
///
/// - Source: the timers and the collapse rule of Alertmanager, with a person in the place of a receiver.
public struct ThreadItem: Hashable, Codable, Sendable {
    /// The bot's name.
    public let bot: String
    /// The thread's name within the bot.
    public let thread: String
    /// Counts the versions made, and the times it was removed.
    public private(set) var revision = 0
    /// How many messages of the bot no person has seen.
    public private(set) var unread = 0
    /// The newest three messages, oldest first, read or not; texts are as a lone message shows them.
    public private(set) var last: [Message] = []

    /// How many messages a version shows at most.
    package static let lastCount = 3

    private var pace = Pace()
    /// The unread messages that no version has shown yet.
    private var fresh = Fresh()
    /// The highest urgency of what is unread.
    private var urgency = Urgency.low
    private var ring: Ring?
    private var replaceable: [Replaceable] = []
    /// Whether a version is out that no person has put away.
    private var isShown = false

    /// A thread without messages.
    public init(bot: String, thread: String) {
        self.bot = bot
        self.thread = thread
    }

    /// When to wake it; `nil` when nothing waits.
    public var flushAt: Moment? { pace.flushAt }

    /// Applies a message.
    ///
    /// A message of a person marks the messages before it as read.
    public mutating func receive(
        _ message: Message, at now: Moment, policy: ThreadPolicy
    ) -> [ItemAction] {
        clamp(at: now, policy)
        var line = message
        line.text = Preview.shape(message.text, to: policy.wholeCharacters)
        line.title = message.title.map { Preview.cut($0, to: policy.previewCharacters) }
        guard message.author == .bot else {
            remember(line)
            return read(at: now)
        }
        if repeatsUnread(line) { return wake(at: now, policy: policy) }
        count(line)
        let isUrgent = message.urgency == .critical
        pace.ask(for: !isShown && !isUrgent ? now + policy.wait : now, interval: policy.interval)
        return wake(at: now, policy: policy)
    }

    /// Makes the next version if its moment has come; asks again otherwise.
    public mutating func wake(at now: Moment, policy: ThreadPolicy) -> [ItemAction] {
        clamp(at: now, policy)
        guard let flushAt else { return [] }
        guard pace.isDue(at: now) else { return [.wakeAt(flushAt)] }
        let reason = ringReason(at: now, policy)
        if reason.rings { ring = Ring(at: now, urgency: urgency) }
        pace.flushed(at: now)
        isShown = true
        fresh = Fresh()
        for index in replaceable.indices { replaceable[index].isFresh = false }
        revision += 1
        return [.flush(snapshot(reason, at: now, policy))]
    }

    /// A person has read all messages so far.
    public mutating func read(at now: Moment) -> [ItemAction] {
        unread = 0
        fresh = Fresh()
        urgency = .low
        ring = nil
        replaceable = []
        pace.cancel()
        return isShown ? [resolve()] : []
    }

    /// A person has put away what this revision showed.
    ///
    /// What came later stays unread and is shown; a revision that is no longer the newest is ignored.
    public mutating func dismissed(revision: Int, at now: Moment) -> [ItemAction] {
        guard revision == self.revision, isShown else { return [] }
        guard fresh.count > 0 else { return read(at: now) }
        unread = fresh.count
        urgency = fresh.urgency
        ring = nil
        replaceable.removeAll { !$0.isFresh }
        return [resolve()] + (flushAt.map { [.wakeAt($0)] } ?? [])
    }
}

extension ThreadItem {
    /// Whether `line` would take the place of an unread one with the same text.
    private func repeatsUnread(_ line: Message) -> Bool {
        guard let key = line.replaceKey, replaceable.contains(where: { $0.key == key }),
            let old = last.last(where: { $0.replaceKey == key })
        else { return false }
        return old.text == line.text && old.title == line.title && old.urgency == line.urgency
    }

    private mutating func count(_ line: Message) {
        var isFresh = false
        var isUnread = false
        if let key = line.replaceKey {
            last.removeAll { $0.replaceKey == key }
            if let index = replaceable.firstIndex(where: { $0.key == key }) {
                isUnread = true
                isFresh = replaceable.remove(at: index).isFresh
            }
            replaceable = replaceable.suffix(Replaceable.limit - 1) + [Replaceable(key: key, isFresh: true)]
        }
        if !isUnread { unread += 1 }
        if !isFresh { fresh.count += 1 }
        fresh.urgency = max(fresh.urgency, line.urgency)
        urgency = max(urgency, line.urgency)
        remember(line)
    }

    private mutating func remember(_ line: Message) {
        last = last.suffix(Self.lastCount - 1) + [line]
    }

    private func ringReason(at now: Moment, _ policy: ThreadPolicy) -> RingReason {
        if urgency == .low { return .lowUrgency }
        guard let ring else { return .first }
        if urgency > ring.urgency { return .urgencyRose }
        return now - ring.at >= policy.ringAgainAfter ? .newMessages : .tooSoon
    }

    private func snapshot(_ reason: RingReason, at now: Moment, _ policy: ThreadPolicy) -> ItemSnapshot {
        var shown = Array(last.suffix(min(unread, Self.lastCount)))
        if unread > 1 {
            for index in shown.indices {
                shown[index].text = Preview.cut(shown[index].text, to: policy.previewCharacters)
            }
        }
        return ItemSnapshot(
            key: .thread(bot: bot, thread: thread), revision: revision, bot: bot, urgency: urgency,
            reason: reason, at: now, content: .messages(count: unread, last: shown))
    }

    private mutating func resolve() -> ItemAction {
        isShown = false
        revision += 1
        return .resolve(revision: revision)
    }

    private mutating func clamp(at now: Moment, _ policy: ThreadPolicy) {
        pace.clamp(at: now, longest: max(policy.wait, policy.interval))
        if let rang = ring?.at { ring?.at = min(rang, now) }
    }
}

/// The unread messages that no version has shown yet.
private struct Fresh: Hashable, Codable, Sendable {
    var count = 0
    var urgency = Urgency.low
}

/// An unread message that a later one of the same key takes the place of.
private struct Replaceable: Hashable, Codable, Sendable {
    /// Beyond this many the oldest keys are forgotten, and their next message counts as one more.
    static let limit = 32

    var key: String
    var isFresh: Bool
}

// The stored form; see `StoredItem.swift`.

extension Fresh: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("count", count)
            writer.member("urgency", urgency.rawValue)
        }
    }
}

extension Replaceable: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("key", key)
            writer.member("isFresh", isFresh)
        }
    }
}

extension ThreadItem: JSONWritable {
    /// Writes all of it.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("bot", bot)
            writer.member("thread", thread)
            writer.member("revision", revision)
            writer.member("unread", unread)
            writer.name("last")
            writer.array { writer in for message in last { message.write(to: &writer) } }
            writer.member("pace", pace)
            writer.member("fresh", fresh)
            writer.member("urgency", urgency.rawValue)
            writer.member("ring", ring)
            writer.name("replaceable")
            writer.array { writer in for key in replaceable { key.write(to: &writer) } }
            writer.member("isShown", isShown)
        }
    }
}
