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
