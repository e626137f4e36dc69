package import Timeline
package import Tracking

// What facts of bots hold.

extension Fact {
    /// How a bot is doing.
    package struct BotStatus: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// `online`, `blocked` or `offline`.
            package var status: String
            /// Why, as a sentence without a full stop.
            package var message: String?

            /// A status, with its reason in words.
            package init(status: String, message: String?) {
                self.status = status
                self.message = message
            }
        }

        /// The bot's name.
        package var bot: String
        /// Why, as an enum's text; nil: it can be asked.
        package var reason: String?
        /// The status; nil where the row can't be read.
        package var payload: Payload?

        /// A bot that has this status now.
        package init(bot: String, reason: String?, _ payload: Payload?) {
            self.bot = bot
            self.reason = reason
            self.payload = payload
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(bot: columns.bot ?? "belfry", reason: columns.reason, payload)
        }

        /// The bot and the reason.
        package var columns: FactColumns { FactColumns(reason: reason, bot: bot) }

        /// The bot as webhooks show it.
        package func object(at moment: Moment) -> JSON {
            .object([
                "name": .string(bot), "status": payload.map { .string($0.status) },
                "since": .string(moment.iso8601), "reason": reason.map(JSON.string),
                "message": payload?.message.map(JSON.string),
            ])
        }

        /// What a person reads of it.
        package var notice: String {
            let why = payload?.message ?? reason ?? ""
            // Sentences of failures name the bot first.
            let cause = why.hasPrefix("\(bot): ") ? String(why.dropFirst(bot.count + 2)) : why
            switch payload?.status {
            case "online", nil: return "\(bot) can be asked again."
            case let status?: return "\(bot) is \(status)" + (cause.isEmpty ? "." : ": \(cause).")
            }
        }
    }

    /// How far a bot is in its budget.
    package struct BotBudget: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// The month, as `2026-11`.
            package var month: String
            /// What the bot has cost in it; nil: no price is known.
            package var costUsd: Double?
            /// What it may cost; nil: there is no such limit.
            package var limitUsd: Double?
            /// The tokens that it used, read and written.
            package var tokens: Int
            /// How many it may use; nil: there is no such limit.
            package var limitTokens: Int?

            /// The use of a month beside its limits.
            package init(month: String, costUsd: Double?, limitUsd: Double?, tokens: Int, limitTokens: Int?) {
                self.month = month
                self.costUsd = costUsd
                self.limitUsd = limitUsd
                self.tokens = tokens
                self.limitTokens = limitTokens
            }
        }

        /// The bot's name.
        package var bot: String
        /// `budgetNear` or `budgetReached`.
        package var reason: DaemonReason?
        /// How much it used; nil where the row can't be read.
        package var payload: Payload?

        /// A bot whose budget is nearly, or wholly, used.
        package init(bot: String, reason: DaemonReason?, _ payload: Payload?) {
            self.bot = bot
            self.reason = reason
            self.payload = payload
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(
                bot: columns.bot ?? "belfry", reason: columns.reason.flatMap(DaemonReason.init), payload)
        }

        /// The bot and the reason.
        package var columns: FactColumns { FactColumns(reason: reason?.rawValue, bot: bot) }

        /// The bot as webhooks show it.
        package var object: JSON {
            .object([
                "name": .string(bot),
                "budget": payload.map {
                    .object([
                        "month": .string($0.month), "costUsd": $0.costUsd.map({ JSON.double($0) }),
                        "usd": $0.limitUsd.map({ JSON.double($0) }), "usedTokens": .int($0.tokens),
                        "tokens": $0.limitTokens.map({ JSON.int($0) }),
                    ])
                },
            ])
        }

        /// What a person reads of it.
        package var notice: String {
            let amounts = payload.map { ": \(Self.words($0))" } ?? ""
            guard reason == .budgetReached else {
                return "\(bot) has used most of its budget of this month\(amounts)."
            }
            return
                "\(bot) has used up its budget of this month\(amounts). Its prompts fail until the next month, "
                + "or until bots.\(bot).budget is raised."
        }

        private static func words(_ payload: Payload) -> String {
            let money = payload.limitUsd.map {
                "\(dollars(payload.costUsd ?? 0)) of \(dollars($0))"
            }
            let tokens = payload.limitTokens.map {
                "\(UsageWords.grouped(Int64(payload.tokens))) of \(UsageWords.tokens($0))"
            }
            return [money, tokens].compactMap(\.self).joined(separator: ", ")
        }

        private static func dollars(_ usd: Double) -> String {
            UsageWords.dollars(micros: Int64((min(max(usd, 0), 1e9) * 1_000_000).rounded()))
        }
    }
}

// What facts of gateways hold.

extension Fact {
    /// What somebody should know of a job that a gateway's own scheduler runs.
    package struct GatewayJob: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// The gateway's host and port.
            package var gateway: String
            /// What people call the job there.
            package var name: String
            /// What happened, after the job's name, without a full stop.
            package var message: String

            /// A job of a gateway, and what happened.
            package init(gateway: String, name: String, message: String) {
                (self.gateway, self.name, self.message) = (gateway, name, message)
            }
        }

        /// A bot that is behind the gateway.
        package var bot: String
        /// What identifies the job there.
        package var job: String
        /// What happened, as a word: `overdue`, `missed`, `stuck`, `failing`, `notDelivered`, `disabled`, `vanished`,
        /// `doubled`, `recovered`, `takenOver`, `givenBack`.
        package var reason: String?
        /// The rest; nil where the row can't be read.
        package var payload: Payload?

        /// What happened to a job.
        package init(bot: String, job: String, reason: String?, _ payload: Payload?) {
            (self.bot, self.job, self.reason, self.payload) = (bot, job, reason, payload)
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(
                bot: columns.bot ?? "belfry", job: columns.subject ?? "", reason: columns.reason, payload)
        }

        /// The bot, the job's id and the reason.
        package var columns: FactColumns { FactColumns(reason: reason, bot: bot, subject: job) }

        /// The job as webhooks show it.
        package var object: JSON {
            .object([
                "bot": .string(bot), "gateway": payload.map { .string($0.gateway) }, "job": .string(job),
                "name": payload.map { .string($0.name) }, "reason": reason.map(JSON.string),
                "message": payload.map { .string($0.message) },
            ])
        }

        /// What a person reads of it.
        package var notice: String {
            let name = payload?.name ?? job
            return "\(bot)'s gateway: the job \"\(name)\" \(payload?.message ?? reason ?? "has news")."
        }
    }
}
