import API
import Engine
import Grouping
import Ledger
import Logging
import ServiceLifecycle
import Timeline
import Tracking

extension DaemonHandler {
    func questions(_ query: QuestionsQuery) async throws(APIError) -> [WireQuestion] {
        guard !query.all else {
            let newest = try await reading(await control.ledger.questions(limit: query.limit))
            return newest.map { WireQuestion($0) }
        }
        let open = try await reading(await control.ledger.openQuestions())
        return open.suffix(query.limit).reversed().map { WireQuestion($0) }
    }

    func question(_ id: String) async throws(APIError) -> WireQuestion {
        WireQuestion(try await asking(await control.question(id)))
    }

    func answer(_ id: String, _ asked: AnswerRequest) async throws(APIError) -> WireQuestion {
        guard asked.answer.utf8.count <= Self.longestAnswer else {
            throw APIError(.badValue, "an answer has at most \(Self.longestAnswer / 1024) KiB")
        }
        if let place = asked.by { try Self.checkPlace(place) }
        let place = Caller.place(named: asked.by, else: "api")
        return WireQuestion(try await asking(await control.answer(id, asked.answer, by: place)))
    }

    /// What the daemon itself signs with is nobody else's name.
    private static func checkPlace(_ place: String) throws(APIError) {
        try check(place, "by", limit: 40)
        let isTaken =
            place == QuestionEnd.byDefault || place.hasPrefix(QuestionEnd.trust) || place.hasPrefix("token ")
        guard !isTaken else {
            throw APIError(
                .badValue, "by is a place or a name of your own, and \(Quoted.of(place)) is the daemon's")
        }
    }

    func withdraw(_ id: String) async throws(APIError) -> WireQuestion {
        WireQuestion(try await asking(await control.withdraw(id)))
    }

    /// Asks a question and streams it until it is closed.
    func ask(_ asked: AskRequest) async throws(APIError) -> StreamAnswer {
        let question = try Self.asking(asked)
        let wait = wait(for: asked)
        let record = try await asking(await control.ask(question))
        return StreamAnswer { writer in
            defer { withExtendedLifetime(wait) {} }
            guard question.outlivesItsAsker else { return try await hold(record, to: &writer) }
            _ = try await follow(record, to: &writer)
        }
    }

    // MARK: The question that is asked

    private static let longestAnswer = 64 * 1024
    private static let longestOpen = Duration.seconds(366 * 86_400)

    /// What is asked, as far as it can be.
    static func asking(_ asked: AskRequest) throws(APIError) -> QuestionDraft {
        guard SpooledFile.isID(asked.id) else { throw APIError(.badValue, "id is not a UUID in lower case") }
        guard !asked.text.allSatisfy(\.isWhitespace) else {
            throw APIError(.badValue, "there is nothing to ask: the text is empty")
        }
        guard asked.text.count <= ReportedQuestion.longestText else {
            throw APIError(.badValue, "a question has at most \(ReportedQuestion.longestText) characters")
        }
        let takesText = asked.reply ?? false
        let choices = asked.choices ?? (takesText ? [] : ["yes", "no"])
        try check(choices, takesText: takesText)
        var draft = QuestionDraft(id: asked.id, asked.text, choices: choices)
        draft.takesText = takesText
        if let word = asked.default { draft.fallback = try fallback(word, of: draft) }
        if let milliseconds = asked.afterMs {
            guard milliseconds > 0, .milliseconds(milliseconds) <= longestOpen else {
                throw APIError(.badValue, "after is a duration above zero and up to 366d")
            }
            draft.openFor = .milliseconds(milliseconds)
        }
        guard draft.fallback == nil || draft.openFor != nil else {
            throw APIError(
                .badValue, "a default needs a deadline",
                hint: "Add a time, such as --after 30m.")
        }
        if let milliseconds = asked.graceMs {
            guard milliseconds >= 0, .milliseconds(milliseconds) <= longestOpen else {
                throw APIError(.badValue, "grace is a duration up to 366d")
            }
            draft.grace = milliseconds > 0 ? .milliseconds(milliseconds) : nil
        }
        draft.trust = try asked.trust.map { trust throws(APIError) in try Self.trust(trust, of: choices) }
        if let bot = asked.bot { try check(bot, "bot", limit: 100) }
        (draft.bot, draft.run) = (asked.bot, asked.run)
        try checkLook(icon: asked.icon, ["sound": asked.sound, "category": asked.category])
        draft.urgency = try asked.urgency.map(urgency)
        if asked.icon != nil || asked.sound != nil || asked.category != nil {
            draft.appearance = Appearance(icon: asked.icon, soundName: asked.sound, category: asked.category)
        }
        if let session = asked.session { try check(session, "session", limit: 200) }
        guard asked.about?.utf8.count ?? 0 <= longestSubject else {
            throw APIError(.badValue, "about has at most \(longestSubject / 1024) KiB")
        }
        if asked.keep == true {
            guard asked.run != nil else { throw APIError(.badValue, "keep needs the id of a run") }
            draft.outlivesItsAsker = true
        }
        return draft
    }

    private static let longestSubject = 256 * 1024
    private static let longestTrust = Duration.seconds(86_400)

    private static func trust(
        _ trust: AnswerTrust, of choices: [String]
    ) throws(APIError) -> (subject: String, choice: String, for: Duration) {
        guard !trust.subject.isEmpty, trust.subject.utf8.count <= longestSubject else {
            throw APIError(.badValue, "trust.subject has 1 to \(longestSubject / 1024) KiB")
        }
        guard choices.dropFirst().contains(trust.choice) else {
            throw APIError(.badValue, "trust.choice is one of the choices, and not the first")
        }
        guard trust.forMs > 0, .milliseconds(trust.forMs) <= longestTrust else {
            throw APIError(.badValue, "trust.forMs is a duration above zero and up to 24h")
        }
        return (trust.subject, trust.choice, .milliseconds(trust.forMs))
    }

    private static func check(_ choices: [String], takesText: Bool) throws(APIError) {
        guard !choices.isEmpty || takesText else {
            throw APIError(
                .badValue, "there is nothing to choose from", hint: "Name choices, or accept any text.")
        }
        guard choices.count <= ReportedQuestion.mostChoices else {
            throw APIError(.badValue, "a question has at most \(ReportedQuestion.mostChoices) choices")
        }
        for choice in choices { try check(choice, "a choice", limit: ReportedQuestion.longestChoice) }
        let names = choices.map { $0.lowercased() }
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw APIError(.badValue, "the choice \(Quoted.of(choices[index])) is listed twice")
        }
    }

    private static func fallback(_ word: String, of draft: QuestionDraft) throws(APIError) -> String {
        let choice = draft.choices.first { $0.lowercased() == word.lowercased() }
        if let choice { return choice }
        guard draft.takesText else {
            throw APIError(
                .badValue, "the default \(Quoted.of(word)) is not one of the choices",
                hint: "The choices are: \(draft.choices.map(Quoted.of).joined(separator: ", ")).")
        }
        return word
    }

    // MARK: Holding it

    /// Writes the question, and its end when that comes; withdraws it when its reader leaves first.
    ///
    /// The end of the daemon is not that of the question: the reader asks again with the same id.
    @concurrent
    private func hold(_ record: QuestionRecord, to writer: inout any BodyWriter) async throws {
        do {
            guard try await follow(record, to: &writer) else { return }
        } catch let error as LedgerError {
            // Cut, so that the reader asks again.
            throw error
        } catch {
            // It could not be written: nobody reads it.
            guard !Task.isCancelled, !Task.isShuttingDownGracefully else { throw error }
        }
        guard !Task.isShuttingDownGracefully else { return }
        do throws(EngineError) {
            _ = try await control.withdraw(record.id)
        } catch .questionClosed {
            return
        } catch {
            control.logger.warning(
                "a question could not be withdrawn",
                metadata: ["question.id": "\(record.id)", "reason": "\(APIError(error).sentence)"])
        }
    }

    /// Returns whether the reader left before the question was closed.
    @concurrent
    private func follow(_ asked: QuestionRecord, to writer: inout any BodyWriter) async throws -> Bool {
        let wakes = Wakes(control, live: false, heartbeat: Self.heartbeat)
        let closed = writer.closed
        try await write(asked, to: &writer)
        if asked.end != nil { return false }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            wakes.start(in: &group, untilEndOf: closed)
            defer { group.cancelAll() }
            for await wake in wakes.stream {
                switch wake {
                case .stop: return false
                case .left: return true
                case .heartbeat: try await writer.write(ServerSentEvent.heartbeat)
                case .refresh: break
                }
                guard let now = try await control.ledger.question(id: asked.id), now.end != nil else {
                    continue
                }
                try await write(now, to: &writer)
                return false
            }
            return false
        }
    }

    @concurrent
    private func write(_ record: QuestionRecord, to writer: inout any BodyWriter) async throws {
        let data = try WireCoding.text(WireQuestion(record))
        try await writer.write(ServerSentEvent(name: QuestionStream.eventName, data: data).bytes)
    }
}
