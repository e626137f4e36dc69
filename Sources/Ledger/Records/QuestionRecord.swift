import Delivery
package import Grouping
import Timeline

/// A question as stored.
package struct QuestionRecord: Hashable, Sendable {
    /// What was asked, of whom, and until when.
    package var question: Question
    /// The id of the run that asks; nil: it was asked outside of any.
    package var run: String?
    /// How it was closed; nil: it is open.
    package var end: QuestionEnd?

    package init(_ question: Question, run: String? = nil, end: QuestionEnd? = nil) {
        self.question = question
        self.run = run
        self.end = end
    }

    /// The question's id.
    package var id: String { question.id }

    /// The question with the event that it was asked.
    package func asking() -> [Change] {
        let news = Fact.QuestionNews(question, run: run)
        return [.insertQuestion(self), .append(NewEvent(.questionAsked(news), at: question.askedAt))]
    }

    /// Its end with the event of it; refused when somebody closed it first.
    package func closing(_ end: QuestionEnd) -> [Change] {
        [.closeQuestion(id: id, end), .append(NewEvent(news(of: end), at: end.at))]
    }

    private func news(of end: QuestionEnd) -> Fact {
        let news = Fact.QuestionNews(question, run: run, end: end)
        switch end.state {
        case .answered: return .questionAnswered(news)
        case .expired: return .questionExpired(news)
        case .withdrawn, .open: return .questionWithdrawn(news)
        }
    }
}
