import Delivery
import Grouping
package import Ledger
import Timeline
import Tracking

/// Something that a person says to a bot.
package struct MessageDraft: Hashable, Sendable {
    /// Whom it is said to.
    package var bot: String
    /// The thread; nil: that of the message it replies to, else `main`.
    package var thread: String?
    package var text: String
    /// The id of the message that it replies to, which may be shortened.
    package var replyTo: String?
    /// Chosen by the sender, fresh: said again with it, it is said once.
    package var id: String?
    /// A file that comes with it.
    package var file: (note: AttachmentNote, content: [UInt8])?

    package init(to bot: String, _ text: String) {
        self.bot = bot
        self.text = text
    }

    package static func == (left: Self, right: Self) -> Bool {
        (left.bot, left.thread, left.text, left.replyTo, left.id, left.file?.note)
            == (right.bot, right.thread, right.text, right.replyTo, right.id, right.file?.note)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bot)
        hasher.combine(text)
    }
}

/// What came of a message that a person said.
package struct SaidReply: Sendable {
    /// The run that answers it; nil: none was given it yet.
    package var run: RunRecord?
    /// What its bot replied.
    package var message: MessageRecord?
}

extension Control {
    /// The thread of what is said without one.
    package static let mainThread = "main"

    /// Says something to a bot: a message in its thread, which its bot answers when its turn has come.
    ///
    /// Returns once it is in the ledger: it is answered although the daemon ends now. Earlier messages of the
    /// thread count as read.
    package func send(_ draft: MessageDraft) async throws(EngineError) -> MessageRecord {
        guard let profile = activeConfiguration.configuration.bots[draft.bot] else {
            throw .noSuchBot(draft.bot)
        }
        guard profile.contact != nil else { throw .silentBot(draft.bot) }
        if let id = draft.id, let known = try await known(id, draft) { return known }
        var replied: MessageRecord?
        if let id = draft.replyTo {
            replied = try await message(id)
            guard replied?.message.bot == draft.bot else {
                throw .invalid("the message \(id) is of bot \"\(replied?.message.bot ?? "")\"")
            }
        }
        let message = Message(
            id: draft.id ?? makeID(), bot: draft.bot,
            thread: draft.thread ?? replied?.message.thread ?? Self.mainThread, author: .user,
            text: draft.text, at: clock.now)
        var record = MessageRecord(message: message, read: true, replyTo: replied?.message.id)
        var changes = [
            Change.insertMessage(record),
            .markRead(bot: message.bot, thread: message.thread, through: message.at),
            .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: message.bot)), at: message.at)),
        ]
        if let file = draft.file {
            changes.append(.insertAttachment(message: message.id, file.note, file.content))
            record.attachment = file.note
        }
        try await commit(changes)
        return record
    }

    /// The message that was said with this id before.
    private func known(_ id: String, _ draft: MessageDraft) async throws(EngineError) -> MessageRecord? {
        let known = try await read { () async throws(LedgerError) in try await ledger.message(id: id) }
        guard let known else { return nil }
        guard known.message.bot == draft.bot, known.message.author == .user else {
            throw .invalid("the id \(id) is that of another message")
        }
        return known
    }

    /// What came of a message of a person; waits, at most for `limit`, until a run was given it.
    package func reply(
        to record: MessageRecord, within limit: Duration
    ) async throws(EngineError) -> SaidReply {
        let commits = ledger.commits()
        let deadline = clock.now + limit
        var known = try await reply(to: record.message.id)
        guard known.run == nil, limit > .zero else { return known }
        let clock = clock
        let outcome: Result<SaidReply, EngineError> = await withTaskGroup(
            of: Result<SaidReply, EngineError>?.self
        ) {
            group in
            group.addTask {
                for await stations in commits where stations.contains(.talk) || stations.contains(.runs) {
                    do throws(EngineError) {
                        let reply = try await self.reply(to: record.message.id)
                        if reply.run != nil { return .success(reply) }
                    } catch {
                        return .failure(error)
                    }
                }
                return nil
            }
            group.addTask {
                try? await clock.sleep(until: deadline)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? .success(known)
        }
        known = try outcome.get()
        return known
    }

    private func reply(to id: String) async throws(EngineError) -> SaidReply {
        try await read { () async throws(LedgerError) in
            guard let run = try await ledger.message(id: id)?.askedRun else { return SaidReply() }
            // A run says one message, of its own id.
            return SaidReply(run: try await ledger.run(id: run), message: try await ledger.message(id: run))
        }
    }

    /// Notes a person's reaction to a message; its bot is shown it with the next prompt.
    package func react(_ word: String, to id: String) async throws(EngineError) -> MessageRecord {
        let record = try await message(id)
        try await commit([
            .react(ReactionRecord(message: record.message.id, word: word, at: clock.now))
        ])
        return try await message(record.message.id)
    }

    /// Begins a new session with a bot: it is shown nothing of what was said before, and what it was asked and has not
    /// answered is not asked again.
    package func reset(_ bot: String) async throws(EngineError) {
        try await commit([.beginSession(bot: bot)])
    }
}
