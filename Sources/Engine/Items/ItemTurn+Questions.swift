package import API
import Delivery
package import Grouping
package import Ledger
import Timeline
import Tracking

// What questions come to.

extension ItemTurn {
    /// A question is an event for webhooks, and an item where items are shown, which leaves the screen with its end.
    mutating func takeQuestion(_ news: Fact.QuestionNews, _ record: EventRecord) {
        let key = ItemKey.question(news.id)
        guard let question = news.question else {
            // What can't be read can still be taken away.
            guard record.event.type != .questionAsked else { return }
            return update(key, bot: OwnThread.bot) { $0.decideQuestion { $0.close() } }
        }
        if let end = news.end { endWaits(of: key, seenBy: end.by ?? "somebody") }
        // An answer that is only given again has nothing to say: that is what it was trusted for.
        guard news.end?.by?.hasPrefix(QuestionEnd.trust) != true else { return }
        let shown = dispatch(record, Matter(record.event.fact), about: key) { turn in
            (
                turn.notice(of: question, news.end),
                turn.object("question", WireQuestion(question, news.end))
            )
        }
        let now = now
        update(key, bot: question.bot, by: record.seq) { item in
            guard news.end == nil else { return item.decideQuestion { $0.close() } }
            item.only = shown
            return item.decideQuestion { $0.ask(question, at: now) }
        }
    }

    /// Of a question where nothing is edited in place, and there are no buttons.
    private func notice(of question: Question, _ end: QuestionEnd?) -> Notice {
        var question = question
        if end != nil { (question.deadline, question.takesText) = (nil, false) }
        var notice = notice(
            of: ItemSnapshot(
                key: .question(question.id), revision: 1, bot: question.bot, urgency: .normal,
                reason: end == nil ? .asked : .resolved, at: now, content: .question(question)))
        if let end {
            notice.title = question.asker == OwnThread.bot ? "Question" : question.asker
            notice.title += " \(end.words)"
            notice.links = nil
        } else {
            notice.body = [notice.body, notice.withoutButtons, notice.withoutReply].compactMap(\.self)
                .joined(separator: "\n")
        }
        (notice.actions, notice.withoutButtons, notice.withoutReply) = ([], nil, nil)
        return notice
    }
}

extension QuestionEnd {
    /// How it was closed, after what asked: `was answered "yes" by desk`.
    fileprivate var words: String {
        switch state {
        case .open: "is open"
        case .answered:
            "was answered \"\(Preview.cut(answer ?? "", to: 100))\" by "
                + (by == Self.byDefault ? "default" : by ?? "somebody")
        case .expired: "got no answer in time"
        case .withdrawn: "was withdrawn"
        }
    }
}

extension WireQuestion {
    /// The question, and how it was closed.
    package init(_ question: Question, _ end: QuestionEnd?) {
        self.init(
            id: question.id, bot: question.bot, text: question.text, choices: question.choices,
            askedAt: Timestamp(question.askedAt))
        run = question.run
        reply = question.takesText ? true : nil
        `default` = question.fallback
        deadline = Timestamp(question.deadline)
        guard let end else { return }
        state = end.state.rawValue
        answer = end.answer
        answeredBy = end.by
        if end.state == .answered { answeredAt = Timestamp(end.at) } else { closedAt = Timestamp(end.at) }
    }

    /// The question as it is stored.
    package init(_ record: QuestionRecord) { self.init(record.question, record.end) }
}

// Links to the pages where questions are answered.

extension ItemTurn {
    /// The notice with the link of its question, for whoever sees no buttons.
    func withLink(_ notice: Notice, of snapshot: ItemSnapshot) -> Notice {
        guard case .question(let question) = snapshot.content,
            let link = configuration.questionLink?(question.id)
        else { return notice }
        var notice = notice
        notice.links = configuration.links(of: question)
        notice.withoutButtons = [notice.withoutButtons, "Answer: \(link)"].compactMap(\.self)
            .joined(separator: "\n")
        return notice
    }

    /// A question as a webhook has it, with its link while it is open.
    func object(_ name: String, _ question: WireQuestion) -> [JSON.Member] {
        var question = question
        if question.closedAt == nil, question.answeredAt == nil {
            question.link = configuration.questionLink?(question.id)
        }
        return encoded(name, question)
    }

    /// The usual object of any value.
    private func encoded<Value: Encodable>(_ name: String, _ value: Value) -> [JSON.Member] {
        object(name, value)
    }
}

extension EngineConfiguration {
    /// The pages where a question can be answered, one for each choice; nil: nobody outside could open them.
    ///
    /// What is typed has a page of its own.
    func links(of question: Question) -> [PageLink]? {
        guard let link = questionLink?(question.id) else { return nil }
        var links = question.choices.enumerated().map {
            PageLink(label: Preview.cut($1, to: 60), url: "\(link)?choice=\($0 + 1)")
        }
        if question.takesText || links.isEmpty { links.insert(PageLink(label: "Answer", url: link), at: 0) }
        return PageLink.fitting(links)
    }
}
