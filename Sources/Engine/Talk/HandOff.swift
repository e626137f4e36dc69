import Delivery
import Grouping
import Ledger
import Prompting
import Timeline

/// Hands what mentions another bot over to it: `@name` in something that a person says, or a bot.
///
/// The copy is a message in the other bot's thread of the same name, which it answers there.
struct HandOff {
    /// Up to which row messages were looked at, kept in the ledger.
    static let fact = "talk.handedOver"
    /// Bots that mention each other go back and forth no more often than this.
    static let mostHops = 3
    /// So many messages are looked at in one commit.
    private static let batch = 50
    /// The most messages between a person's and the reply to it.
    private static let reach = 100

    let ledger: any Ledger
    let makeID: @Sendable () -> String
    /// The bots that answer, by name.
    let speakers: @Sendable () -> Set<String>
    /// Up to which row messages were looked at; nil: that is not read yet.
    private var cursor: Int64?

    init(
        ledger: any Ledger, makeID: @escaping @Sendable () -> String,
        speakers: @escaping @Sendable () -> Set<String>
    ) {
        self.ledger = ledger
        self.makeID = makeID
        self.speakers = speakers
    }

    /// Looks at the messages since the last time, and hands over those that mention a bot, in one commit with the row
    /// up to which that was done.
    mutating func advance(at now: Moment) async throws(LedgerError) {
        while true {
            guard let start = try await begin() else { return }
            let found = try await ledger.mentions(after: start, limit: Self.batch)
            guard let last = found.messages.last else {
                cursor = max(start, found.last)
                return
            }
            var changes: [Change] = [.setFact(name: Self.fact, value: String(last.number))]
            for message in found.messages { changes += try await copies(of: message.record, at: now) }
            try await ledger.commit(changes)
            cursor = last.number
        }
    }

    /// Where to begin; nil: in a ledger that nobody looked at yet, behind what was said before.
    private mutating func begin() async throws(LedgerError) -> Int64? {
        if let cursor { return cursor }
        if let stored = try await ledger.fact(named: Self.fact).flatMap({ Int64($0) }) {
            cursor = stored
            return stored
        }
        let last = try await ledger.mentions(after: .max, limit: 1).last
        try await ledger.commit([.setFact(name: Self.fact, value: String(last))])
        cursor = last
        return nil
    }

    private func copies(of record: MessageRecord, at now: Moment) async throws(LedgerError) -> [Change] {
        let message = record.message
        // A copy was handed over already to all that it mentions.
        guard message.author == .bot || record.sender == nil else { return [] }
        let names = Mentions.names(in: message.text, among: speakers()).filter { $0 != message.bot }
        guard !names.isEmpty else { return [] }
        let hops = try await hops(of: record)
        guard hops < Self.mostHops else { return [] }
        return names.flatMap { name -> [Change] in
            let copy = Message(
                id: makeID(), bot: name, thread: message.thread, author: .user, text: message.text, at: now)
            var handed = MessageRecord(message: copy, read: true, replyTo: message.id)
            handed.sender = message.author == .bot ? message.bot : nil
            handed.hops = hops + 1
            return [
                .insertMessage(handed),
                .append(NewEvent(.messagePosted(Fact.Post(copy.id, bot: name)), at: now)),
            ]
        }
    }

    /// How many bots handed over what this message answers.
    private func hops(of record: MessageRecord) async throws(LedgerError) -> Int {
        guard record.message.author == .bot, let run = record.run else { return record.hops }
        let thread = try await ledger.messages(
            bot: record.message.bot, thread: record.message.thread, after: 0, limit: Self.reach)
        return thread.filter { $0.record.askedRun == run }.map(\.record.hops).max() ?? 0
    }
}
