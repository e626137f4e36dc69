import Timeline

// What facts of channels, the configuration and the clock hold.

/// Why a fact of the daemon itself is written, where no run and no delivery is the reason.
package enum DaemonReason: String, Hashable, Sendable, CaseIterable {
    /// The disk of the ledger is full.
    case full
    /// There is room again.
    case room
    /// What was left out can be used after all.
    case returned
    /// Times of the day come again.
    case newEra
    /// A person asked for it.
    case asked
    /// A job made by hand has the name already.
    case nameTaken
    /// A secret can't be read.
    case badSecret
    /// Most of a bot's budget is used.
    case budgetNear
    /// A bot's budget is used up.
    case budgetReached

    /// The reason as the fragment of a sentence.
    package var words: String {
        switch self {
        case .full: "the disk is full"
        case .room: "the disk has room again"
        case .returned: "what was left out is back"
        case .newEra: "times of the day come again"
        case .asked: "on request"
        case .nameTaken: "its name is in use"
        case .badSecret: "its secret can't be read"
        case .budgetNear: "most of the budget is used"
        case .budgetReached: "the budget is used up"
        }
    }
}

extension Fact {
    /// How a channel is doing.
    package struct Channel: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// What went wrong last, one line without secrets.
            package var error: String
        }

        /// The channel's name.
        package var name: String
        /// Why.
        package var reason: DeliveryReason?
        /// The text form of the key of the one item that it is about; `nil`: the whole channel.
        package var item: String?
        /// What went wrong last.
        package var error: String?

        /// A channel, or an item on it.
        package init(
            _ name: String, reason: DeliveryReason? = nil, item: String? = nil, error: String? = nil
        ) {
            self.name = name
            self.reason = reason
            self.item = item
            self.error = error
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(
                columns.channel ?? "", reason: columns.reason.flatMap(DeliveryReason.init),
                item: columns.subject, error: payload?.error)
        }

        /// The channel, the item and the reason.
        package var columns: FactColumns {
            FactColumns(reason: reason?.rawValue, subject: item, channel: name)
        }
        /// What went wrong.
        package var payload: Payload? { error.map(Payload.init) }
    }

    /// That the configuration was read again.
    package struct Reload: FactContent {
        /// The jobs that were added, changed and removed, by name.
        package struct Difference: Hashable, Codable, Sendable {
            /// Those that were not there before.
            package var added: [String]
            /// Those that were there, and are different.
            package var changed: [String]
            /// Those that are no longer there.
            package var removed: [String]
            /// The same of bots; absent: none is different.
            package var bots: Names?
            /// The same of channels; absent: none is different.
            package var channels: Names?
            /// What else is different, by its key in the file: `routes`, `inhibit`, `listen`, `zone`; absent: nothing is.
            package var parts: [String]?

            /// What was added, changed and removed, by name.
            package struct Names: Hashable, Codable, Sendable {
                /// Those that were not there before.
                package var added: [String]
                /// Those that were there, and are different.
                package var changed: [String]
                /// Those that are no longer there.
                package var removed: [String]

                /// These, each in the order of the alphabet.
                package init(
                    added: some Sequence<String>, changed: some Sequence<String>,
                    removed: some Sequence<String>
                ) {
                    (self.added, self.changed) = (added.sorted(), changed.sorted())
                    self.removed = removed.sorted()
                }

                /// Whether nothing is different.
                package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
            }

            /// What a reload changed.
            package init(added: [String] = [], changed: [String] = [], removed: [String] = []) {
                self.added = added
                self.changed = changed
                self.removed = removed
            }
        }

        /// The job that was left out and is there now; the reason is `returned` then.
        package var job: String?
        /// The channel that was left out and is there now; the reason is `returned` then.
        package var channel: String?
        /// What a reload of everything changed.
        package var difference: Difference?

        /// Everything was read again.
        package init(_ difference: Difference) {
            self.difference = difference
        }

        /// A job or a channel could be used after all.
        package init(returnedJob job: String?, channel: String?) {
            self.job = job
            self.channel = channel
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Difference?) {
            job = columns.job
            channel = columns.channel
            difference = payload
        }

        /// What returned.
        package var columns: FactColumns {
            FactColumns(
                reason: job == nil && channel == nil ? nil : DaemonReason.returned.rawValue, job: job,
                channel: channel)
        }
        /// The difference.
        package var payload: Difference? { difference }

        /// The sentence for a person.
        package var sentence: String {
            if let job { return "The job \"\(job)\", left out at startup, can be used again." }
            if let channel { return "The channel \"\(channel)\", left out at startup, can be used again." }
            func words(_ kind: String, _ names: Difference.Names?) -> String? {
                guard let names else { return nil }
                let parts = [("added", names.added), ("changed", names.changed), ("removed", names.removed)]
                    .filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }
                return parts.isEmpty ? nil : "\(kind) " + parts.joined(separator: "; ") + "."
            }
            let jobs = difference.map {
                Difference.Names(added: $0.added, changed: $0.changed, removed: $0.removed)
            }
            let others = difference?.parts.map { "Changed: \($0.joined(separator: ", "))." }
            let found = [
                words("Jobs", jobs), words("Bots", difference?.bots), words("Channels", difference?.channels),
                others,
            ].compactMap(\.self)
            return (["The configuration was reloaded."] + (found.isEmpty ? ["Nothing is different."] : found))
                .joined(separator: " ")
        }
    }

    /// A part of the files that was left out at the start.
    package struct LeftOut: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// What was left out, where it stands and why, as a sentence without article and full stop.
            package var message: String
        }

        /// The job, where it is one.
        package var job: String?
        /// The job's bot.
        package var bot: String?
        /// The channel, where it is one; neither it nor a job: it is the bot's provider.
        package var channel: String?
        /// Why.
        package var reason: String?
        /// What was left out, where it stands and why.
        package var message: String?

        /// A job that was left out.
        package init(job: String, bot: String, reason: String, message: String) {
            self.job = job
            self.bot = bot
            self.reason = reason
            self.message = message
        }

        /// A channel that was left out.
        package init(channel: String, reason: String, message: String) {
            self.channel = channel
            self.reason = reason
            self.message = message
        }

        /// A bot whose provider was left out.
        package init(bot: String, reason: String, message: String) {
            self.bot = bot
            self.reason = reason
            self.message = message
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            job = columns.job
            bot = columns.bot
            channel = columns.channel
            reason = columns.reason
            message = payload?.message
        }

        /// The job with its bot, or the channel, and the reason.
        package var columns: FactColumns {
            FactColumns(reason: reason, job: job, bot: bot, channel: channel)
        }
        /// The message.
        package var payload: Payload? { message.map(Payload.init) }
    }

    /// That the clock went back.
    package struct ClockBack: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// By how much, in whole seconds.
            package var backSeconds: Int64
        }

        /// By how much, in whole seconds.
        package var backSeconds: Int64?

        /// The clock went back by so much; parts of a second are dropped.
        package init(by duration: Duration) {
            backSeconds = duration.microseconds / 1_000_000
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            backSeconds = payload?.backSeconds
        }

        /// The reason `newEra`.
        package var columns: FactColumns { FactColumns(reason: DaemonReason.newEra.rawValue) }
        /// By how much.
        package var payload: Payload? { backSeconds.map(Payload.init) }
    }
}
