import API
import Delivery
import Grouping
import Tracking

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
    func links(of question: Question) -> [NoticeLink]? {
        guard let link = questionLink?(question.id) else { return nil }
        var links = question.choices.enumerated().map {
            NoticeLink(label: Preview.cut($1, to: 60), url: "\(link)?choice=\($0 + 1)")
        }
        if question.takesText || links.isEmpty { links.insert(NoticeLink(label: "Answer", url: link), at: 0) }
        return NoticeLink.fitting(links)
    }
}
