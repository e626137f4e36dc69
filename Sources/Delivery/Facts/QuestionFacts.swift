package import Grouping
import Timeline

// What facts of questions hold.

extension Fact {
    /// That a question was asked, or closed.
    package struct QuestionNews: FactContent {
        /// What is stored beside the columns: the question whole, so that nobody need look it up.
        package struct Payload: Hashable, Codable, Sendable {
            /// What is asked.
            package var text: String
            /// The run that asks, `JOB#N`.
            package var run: String?
            /// The answers to choose from.
            package var choices: [String]
            /// Whether any text is an answer; absent: no.
            package var reply: Bool?
            /// What counts as the answer at the deadline.
            package var `default`: String?
            /// When it was asked.
            package var askedAt: ISOMoment
            /// Until when it can be answered.
            package var deadline: ISOMoment?
            /// Until when only channels that edit in place ask it.
            package var graceUntil: ISOMoment?
            /// Where it is.
            package var state: QuestionState
            /// The answer.
            package var answer: String?
            /// Where it was answered.
            package var answeredBy: String?
            /// When it was closed.
            package var closedAt: ISOMoment?
            /// The icon of its notice.
            package var icon: String?
            /// The sound of its notice.
            package var sound: String?
            /// The category of its notice.
            package var category: String?
            /// How much it disturbs; absent: normal.
            package var urgency: Urgency?
        }

        /// The question's id.
        package var id: String
        /// The bot's name.
        package var bot: String?
        /// The id of the run that asks.
        package var run: String?
        /// The question; `nil` where the row can't be read.
        package var payload: Payload?

        /// A question of a run, which is open unless it has an end.
        package init(_ question: Question, run: String?, end: QuestionEnd? = nil) {
            id = question.id
            bot = question.bot
            self.run = run
            payload = Payload(
                text: question.text, run: question.run, choices: question.choices,
                reply: question.takesText ? true : nil, default: question.fallback,
                askedAt: ISOMoment(moment: question.askedAt),
                deadline: question.deadline.map { ISOMoment(moment: $0) },
                graceUntil: question.graceUntil.map { ISOMoment(moment: $0) }, state: end?.state ?? .open,
                answer: end?.answer, answeredBy: end?.by, closedAt: end.map { ISOMoment(moment: $0.at) },
                icon: question.appearance?.icon, sound: question.appearance?.soundName,
                category: question.appearance?.category, urgency: question.urgency)
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            id = columns.subject ?? ""
            bot = columns.bot
            run = columns.run
            self.payload = payload
        }

        /// The question, its bot and its run.
        package var columns: FactColumns { FactColumns(run: run, bot: bot, subject: id) }

        /// The question; `nil` where the row can't be read.
        package var question: Question? {
            guard let payload else { return nil }
            var question = Question(
                id: id, bot: bot ?? "belfry", text: payload.text, choices: payload.choices,
                askedAt: payload.askedAt.moment)
            question.run = payload.run
            question.takesText = payload.reply ?? false
            question.fallback = payload.default
            question.deadline = payload.deadline?.moment
            question.graceUntil = payload.graceUntil?.moment
            question.urgency = payload.urgency
            if payload.icon != nil || payload.sound != nil || payload.category != nil {
                question.appearance = Appearance(
                    icon: payload.icon, soundName: payload.sound, category: payload.category)
            }
            return question
        }

        /// How it was closed; `nil`: it is open, or the row can't be read.
        package var end: QuestionEnd? {
            guard let payload, payload.state != .open, let moment = payload.closedAt?.moment else {
                return nil
            }
            var end = QuestionEnd(payload.state, at: moment)
            (end.answer, end.by) = (payload.answer, payload.answeredBy)
            return end
        }
    }
}
