package import Tracking

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
