package import Grouping
package import Ledger
import Timeline
import Tracking

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
