import Delivery
import Grouping
package import Ledger
package import OpenClaw
package import Timeline
import Tracking

/// Takes over what was said to synced bots elsewhere, so that their threads are the conversations that other devices show.
///
/// The messages and how far the history is known are one transaction: nothing is taken over twice.
package actor GatewayHistory {
    private let ledger: any Ledger
    private let clock: any WallClock

    /// The thread that is a bot's conversation with people.
    package static let thread = "main"

    /// One that writes to this ledger.
    package init(ledger: any Ledger, clock: any WallClock) { (self.ledger, self.clock) = (ledger, clock) }

    /// Takes over what is new in the history of the bot's session, whose gateway's clock is `ahead` of ours.
    package func take(
        _ history: SessionHistory, of bot: String, in session: String, sent: [SentPrompt],
        ahead: Duration = .zero
    ) async throws(LedgerError) {
        let fact = "gateway.history \(bot) \(session)"
        let text = try await ledger.fact(named: fact)
        let old = text.flatMap { JSON(parsing: Array($0.utf8)[...]) }.flatMap { SessionSync($0) }
        var sync = old ?? SessionSync()
        let sayings = sync.review(history, sent: sent, ahead: ahead)
        guard sync != old else { return }
        // What was said before Belfry knew the conversation is history, and no news.
        let isNews = old != nil
        var changes: [Change] = [
            .setFact(name: fact, value: String(decoding: sync.json.bytes, as: UTF8.self))
        ]
        for saying in sayings {
            let message = Message(
                id: "\(bot)-\(session)-\(saying.id)", bot: bot, thread: Self.thread,
                author: saying.isOfAgent ? .bot : .user, text: saying.text, at: saying.at)
            var record = MessageRecord(message: message, read: !isNews || !saying.isOfAgent)
            if !saying.isOfAgent {
                (record.sender, record.askedRun) = (Self.elsewhere, MessageRecord.saidElsewhere)
            }
            changes.append(.insertMessage(record))
            if isNews {
                changes.append(
                    .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: bot)), at: clock.now)))
            }
        }
        try await ledger.commit(changes)
    }

    /// Who said it, as people read it.
    private static let elsewhere = "you, elsewhere"
}
