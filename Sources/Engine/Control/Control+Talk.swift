import Delivery
package import Grouping
package import Ledger
package import Timeline

extension Control {
    /// Posts a message of a bot.
    ///
    /// The message and its event are one transaction; what a person sees of it follows.
    ///
    /// `makeMessage` makes the message from a fresh id and the time now.
    package func post(
        run: String?, _ makeMessage: (_ id: String, _ at: Moment) -> Message
    ) async throws(EngineError) -> MessageRecord {
        let message = makeMessage(makeID(), clock.now)
        if let fault = JobName.fault(in: message.bot) { throw .invalid("bot \"\(message.bot)\": \(fault)") }
        let record = MessageRecord(message: message, run: run)
        try await commit([
            .insertMessage(record),
            .append(
                NewEvent(
                    .messagePosted(Fact.Post(message.id, bot: message.bot, run: run)), at: message.at)),
        ])
        return record
    }

    /// Marks a message, and all that was said in its thread before it, as read; its id may be shortened.
    package func read(_ id: String) async throws(EngineError) -> MessageRecord {
        var record = try await message(id)
        try await read(bot: record.message.bot, thread: record.message.thread, through: record.message.at)
        record.read = true
        return record
    }

    /// Marks what was said in a thread up to `through` as read.
    package func read(bot: String, thread: String, through: Moment) async throws(EngineError) {
        let key = ItemKey.thread(bot: bot, thread: thread)
        try await commit([
            .markRead(bot: bot, thread: thread, through: through),
            .append(
                NewEvent(
                    .messageRead(Fact.Reading("\(key)", bot: bot, through: through)), at: clock.now)),
        ])
    }

    @discardableResult
    func commit(_ changes: [Change]) async throws(EngineError) -> Commit {
        do throws(LedgerError) {
            return try await ledger.commit(changes)
        } catch {
            throw .ledger(error)
        }
    }
}
