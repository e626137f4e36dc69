package import Tracking

/// The jobs that the gateway of a bot runs by itself.
package struct WireGateway: Hashable, Sendable, Codable {
    /// The bot.
    package var bot: String
    /// The gateway's host and port.
    package var gateway: String
    /// The version of its protocol.
    package var version: Int
    /// Since when its jobs are watched; absent: they are not.
    package var watchedSince: Timestamp?
    /// Its jobs by name.
    package var jobs: [WireGatewayJob]

    /// The jobs of a gateway.
    package init(bot: String, gateway: String, version: Int, jobs: [WireGatewayJob]) {
        (self.bot, self.gateway, self.version, self.jobs) = (bot, gateway, version, jobs)
    }
}

/// A job that a gateway runs by itself.
package struct WireGatewayJob: Hashable, Sendable, Codable {
    /// What identifies it there.
    package var id: String
    /// What people call it.
    package var name: String
    /// Whether the gateway runs it.
    package var enabled: Bool
    /// Whether this version knows when it runs and what it does; others are shown, and never changed.
    package var known: Bool
    /// When the gateway runs it next.
    package var nextAt: Timestamp?
    /// How much of that time is the gateway's own delay, milliseconds.
    package var offsetMs: Int64
    /// When it ran last.
    package var lastAt: Timestamp?
    /// How that ended: `ok`, `error` or `skipped`.
    package var lastStatus: String?
    /// Why it failed.
    package var lastError: String?
    /// What is wrong with it now: `overdue`, `stuck`, `failing`, `notDelivered`, `disabled`, `doubled`.
    package var alarms: [String]
    /// The job that runs here in its place; absent: none does.
    package var takenAs: String?
    /// All that the gateway shows of it.
    package var whole: JSON

    /// A job.
    package init(
        id: String, name: String, enabled: Bool, known: Bool, offsetMs: Int64, alarms: [String], whole: JSON
    ) {
        (self.id, self.name, self.enabled, self.known) = (id, name, enabled, known)
        (self.offsetMs, self.alarms, self.whole) = (offsetMs, alarms, whole)
    }
}

/// Asks that the jobs of a gateway be watched, or no longer.
package struct GatewayWatchRequest: Hashable, Sendable, Codable {
    /// Whether they are to be watched.
    package var on: Bool

    /// A request.
    package init(on: Bool) { self.on = on }
}

/// Asks that a job of a gateway be run here.
package struct TakeOverRequest: Hashable, Sendable, Codable {
    /// What identifies it in the gateway.
    package var id: String
    /// The job that runs in its place.
    package var draft: JobDraft

    /// A request.
    package init(id: String, draft: JobDraft) { (self.id, self.draft) = (id, draft) }
}

/// Asks that a gateway run a job again that was taken over.
package struct GiveBackRequest: Hashable, Sendable, Codable {
    /// What identifies it in the gateway, or the name of the job that runs here in its place.
    package var id: String

    /// A request.
    package init(id: String) { self.id = id }
}
