import Delivery
package import Grouping
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

/// A question before it is asked.
package struct QuestionDraft: Sendable {
    /// Chosen by who asks, fresh: asked again with it, it is asked once.
    package var id: String
    package var text: String
    package var choices: [String]
    /// Whether any text is an answer, too.
    package var takesText = false
    /// What counts as the answer when nobody gave one in time.
    package var fallback: String?
    /// How long it can be answered; nil: without an end.
    package var openFor: Duration?
    /// How long only channels that edit in place ask it.
    package var grace: Duration?
    /// What exactly it is about, and which earlier answer to the same counts for it.
    package var trust: (subject: String, choice: String, for: Duration)?
    /// Nil: the bot of the run, or Belfry itself.
    package var bot: String?
    /// The id of the run that asks; one that does not exist is left out.
    package var run: String?
    /// Whether it stays open when whoever asked it leaves; it needs a run, and ends with that.
    package var outlivesItsAsker = false
    /// How it looks and sounds; nil: as questions do.
    package var appearance: Appearance?
    /// How much it disturbs; nil: as messages do.
    package var urgency: Urgency?

    package init(id: String, _ text: String, choices: [String]) {
        self.id = id
        self.text = text
        self.choices = choices
    }
}

extension Control {
    /// Asks a question; returns once it is in the ledger, and so survives the daemon.
    package func ask(_ draft: QuestionDraft) async throws(EngineError) -> QuestionRecord {
        if let known = try await known(draft.id) { return known }
        let run = try await read { () async throws(LedgerError) -> RunRecord? in
            guard let id = draft.run else { return nil }
            return try await ledger.run(id: id)
        }
        if draft.outlivesItsAsker, run.map({ $0.state.isEnded }) ?? true { throw .noSuchRun(draft.run ?? "") }
        let now = clock.now
        var question = Question(
            id: draft.id, bot: draft.bot ?? run?.bot ?? OwnThread.bot, text: draft.text,
            choices: draft.choices, askedAt: now)
        question.run = run?.name
        question.takesText = draft.takesText
        question.fallback = draft.fallback
        question.deadline = draft.openFor.map { now + $0 }
        question.graceUntil = draft.grace.map { min(now + $0, question.deadline ?? now + $0) }
        question.subject = draft.trust?.subject
        (question.appearance, question.urgency) = (draft.appearance, draft.urgency)
        var record = QuestionRecord(question, run: run?.id)
        record.end = try await trustedEnd(of: draft, at: now)
        let asking = record.end.map { [.insertQuestion(record)] + record.closing($0) } ?? record.asking()
        do throws(EngineError) {
            try await commit(asking)
        } catch {
            // Asked twice at the same time.
            guard case .ledger(.fenced) = error, let known = try await known(draft.id) else { throw error }
            return known
        }
        return record
    }

    /// How an earlier answer, which is still trusted, closes a question; nil: there is none.
    ///
    /// Each use is a question of its own in the ledger, and names the one whose answer it is.
    private func trustedEnd(
        of draft: QuestionDraft, at now: Moment
    ) async throws(EngineError) -> QuestionEnd? {
        guard let trust = draft.trust, let answer = draft.choices.first else { return nil }
        let earlier = try await read { () async throws(LedgerError) in
            try await ledger.question(
                about: trust.subject, answered: trust.choice, after: now - trust.for)
        }
        // A clock that was set back must not make it last for longer.
        guard let earlier, let end = earlier.end, end.at <= now else { return nil }
        return QuestionEnd(
            answer: answer, by: QuestionEnd.trust + earlier.id.suffix(ShortID.shownDigits), at: now)
    }

    private func known(_ id: String) async throws(EngineError) -> QuestionRecord? {
        try await read { () async throws(LedgerError) in try await ledger.question(id: id) }
    }

    /// Answers a question; `place` is where a person did.
    ///
    /// - Throws: ``EngineError/questionClosed(_:_:)`` when somebody closed it first.
    package func answer(
        _ id: String, _ text: String, by place: String
    ) async throws(EngineError) -> QuestionRecord {
        try await close(id) { question throws(EngineError) in
            guard let answer = question.answer(meantBy: text) else {
                throw .noAnswer(text, choices: question.choices)
            }
            return QuestionEnd(answer: answer, by: place, at: clock.now)
        }
    }

    /// Withdraws a question: who asked it no longer wants to know.
    package func withdraw(_ id: String) async throws(EngineError) -> QuestionRecord {
        try await close(id) { _ throws(EngineError) in QuestionEnd(.withdrawn, at: clock.now) }
    }

    private func close(
        _ id: String, by end: (Question) throws(EngineError) -> QuestionEnd
    ) async throws(EngineError) -> QuestionRecord {
        var record = try await question(id)
        if let end = record.end { throw .questionClosed(record.id, end) }
        let end = try end(record.question)
        do throws(EngineError) {
            try await commit(record.closing(end))
        } catch {
            guard case .ledger(.fenced) = error, let first = try await question(record.id).end else {
                throw error
            }
            throw .questionClosed(record.id, first)
        }
        record.end = end
        return record
    }
}
