package import Grouping
package import Timeline

// What facts of messages and items hold.

extension Fact {
    /// A message of a thread.
    package struct Post: FactContent {
        /// The message's id.
        package var message: String
        /// The bot's name.
        package var bot: String
        /// The id of the run that said it.
        package var run: String?
        /// The channel that alone shows it, whatever the routes say; `nil`: those of the routes.
        package var channel: String?

        /// A message.
        package init(_ message: String, bot: String, run: String? = nil, to channel: String? = nil) {
            self.message = message
            self.bot = bot
            self.run = run
            self.channel = channel
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Never?) {
            self.init(
                columns.subject ?? "", bot: columns.bot ?? "belfry", run: columns.run, to: columns.channel)
        }

        /// The message, its bot, its run and its channel.
        package var columns: FactColumns {
            FactColumns(run: run, bot: bot, subject: message, channel: channel)
        }
    }

    /// That a thread was read.
    package struct Reading: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Codable {
            let through: ISOMoment?
            var by: String?
        }

        /// The text form of the item's key.
        package var item: String
        /// The bot's name.
        package var bot: String
        /// Up to when; `nil` counts as everything.
        package var through: Moment?
        /// Who read it, or where; `nil`: that is not known.
        package var by: String?

        /// An item was read, a thread up to `through`.
        package init(_ item: String, bot: String, through: Moment?, by: String? = nil) {
            self.item = item
            self.bot = bot
            self.through = through
            self.by = by
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(
                columns.subject ?? "", bot: columns.bot ?? "belfry", through: payload?.through?.moment,
                by: payload?.by)
        }

        /// The thread and its bot.
        package var columns: FactColumns { FactColumns(bot: bot, subject: item) }
        /// Up to when, and who.
        package var payload: Payload? {
            guard through != nil || by != nil else { return nil }
            return Payload(through: through.map(ISOMoment.init), by: by)
        }
    }

    /// Which item it is.
    package struct Item: FactContent {
        /// The text form of the item's key.
        package var item: String

        /// An item.
        package init(_ item: String) {
            self.item = item
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Never?) {
            item = columns.subject ?? ""
        }

        /// The item.
        package var columns: FactColumns { FactColumns(subject: item) }
    }

    /// That a person put an item away.
    package struct Dismissal: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// The revision that the surface showed.
            package var revision: Int
        }

        /// The text form of the item's key.
        package var item: String
        /// The channel that showed it.
        package var channel: String?
        /// The revision that it showed; `nil` counts as the newest.
        package var revision: Int?

        /// An item was put away on a channel.
        package init(_ item: String, on channel: String?, revision: Int?) {
            self.item = item
            self.channel = channel
            self.revision = revision
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(columns.subject ?? "", on: columns.channel, revision: payload?.revision)
        }

        /// The item and the channel.
        package var columns: FactColumns { FactColumns(subject: item, channel: channel) }
        /// The revision.
        package var payload: Payload? { revision.map(Payload.init) }
    }

    /// That a person pressed a button, or typed a reply.
    package struct Action: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Codable {
            let text: String
        }

        /// The text form of the item's key.
        package var item: String
        /// The channel that showed it.
        package var channel: String?
        /// The button's key; the reason.
        package var key: String?
        /// What was typed; `nil`: only the button was pressed.
        package var text: String?

        /// A button of an item was pressed on a channel.
        package init(_ item: String, on channel: String?, key: String?, text: String? = nil) {
            self.item = item
            self.channel = channel
            self.key = key
            self.text = text
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(columns.subject ?? "", on: columns.channel, key: columns.reason, text: payload?.text)
        }

        /// What was typed.
        package var payload: Payload? { text.map(Payload.init) }

        /// The item, the channel and the button.
        package var columns: FactColumns { FactColumns(reason: key, subject: item, channel: channel) }
    }
}

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
