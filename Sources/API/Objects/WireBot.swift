package import Tracking

/// A bot with its status, usage and budget.
package struct WireBot: Hashable, Sendable, Codable {
    /// What identifies it.
    package var name: String
    /// What answers prompts: `command`, `anthropic`, `openai`, `openclaw` or a program's name.
    package var backend: String
    /// The model it is, of a provider's bot.
    package var model: String?
    /// Where its provider's API is, without a path; absent: it has none.
    package var url: String?
    /// The program that replies, with its arguments; absent: none does.
    package var command: [String]?
    /// How that program prints its reply.
    package var output: String?
    /// The path of the file that it is shown with each prompt.
    package var memory: String?
    /// The tools that it may call; absent: none.
    package var tools: [String]?
    /// What that program may reach; absent: whatever its user may.
    package var sandbox: WireSandbox?
    /// Its session in the thread `main`; in listings absent.
    package var session: WireBotSession?
    /// `online`, `working`, `blocked` or `offline`; absent from an older daemon.
    package var status: String?
    /// Since when, where that is known.
    package var since: Timestamp?
    /// Why it is blocked or offline: `auth`, `budget`, `badSecret` and others.
    package var reason: String?
    /// The same as a sentence.
    package var message: String?
    /// `file` or `cli`; absent: nobody described it.
    package var origin: String?
    /// `FILE:LINE`, of one that comes from a file.
    package var at: String?
    /// How many jobs belong to it.
    package var jobs: Int
    /// How many of its messages nobody has read.
    package var unread: Int
    /// What was said last, by it or to it, its first 1,000 characters; absent: nothing was, or not asked for.
    package var lastMessage: WireMessage?
    /// What it used; absent: it never replied.
    package var usage: WireBotUsage?
    /// How far it is in its budget; absent: it has none.
    package var budget: WireBudget?
    /// How long its last reply took, milliseconds.
    package var latencyMs: Int64?
    /// How long its gateway took to answer the last ping, milliseconds; absent: it has none, or did not answer.
    package var pingMs: Double?
    /// How long the first word of its last reply took, milliseconds.
    package var firstWordMs: Int64?
    /// Why an attempt to have it reply failed last, also where it has replied since.
    package var lastError: WireBotError?

    /// A bot with nothing to say yet.
    package init(name: String, backend: String, jobs: Int = 0, unread: Int = 0) {
        self.name = name
        self.backend = backend
        self.jobs = jobs
        self.unread = unread
    }
}

/// What the program of a bot may reach beside the system.
package struct WireSandbox: Hashable, Sendable, Codable {
    /// The folders that it may read.
    package var read: [String]
    /// The folders that it may also write.
    package var write: [String]
    /// Whether it has the network.
    package var network: Bool

    /// A sandbox with these folders.
    package init(read: [String], write: [String], network: Bool) {
        (self.read, self.write, self.network) = (read, write, network)
    }
}

/// What a bot is shown, or knows, of what was said before.
package struct WireBotSession: Hashable, Sendable, Codable {
    /// The thread.
    package var thread: String
    /// The session of the bot's program, which the next prompt resumes; absent: it keeps none.
    package var id: String?
    /// When the first message of it was sent; absent: there is none yet.
    package var since: Timestamp?
    /// How many messages it has, of both sides; at most ``most``.
    package var messages: Int

    /// What the bot keeps of the older ones, which it is no longer shown; absent: it is shown what was said.
    package var summary: String?

    /// So many messages are counted.
    package static let most = 1000

    /// A session of so many messages.
    package init(thread: String, messages: Int) {
        (self.thread, self.messages) = (thread, messages)
    }
}

/// What a bot used in this month, and in all.
package struct WireBotUsage: Hashable, Sendable, Codable {
    /// In this month.
    package var month: WireUsage
    /// In all months.
    package var total: WireUsage
    /// How many replies it completed in this month.
    package var monthReplies: Int
    /// How many replies it completed in all.
    package var totalReplies: Int

    /// A usage of this month and of all.
    package init(month: WireUsage, total: WireUsage, monthReplies: Int, totalReplies: Int) {
        self.month = month
        self.total = total
        self.monthReplies = monthReplies
        self.totalReplies = totalReplies
    }
}

/// How far a bot is in its budget of this month.
package struct WireBudget: Hashable, Sendable, Codable {
    /// The month, as `2026-11`.
    package var month: String
    /// What it may cost, in USD; absent: there is no such limit.
    package var usd: Double?
    /// What is left of that.
    package var leftUsd: Double?
    /// How many tokens it may use; absent: there is no such limit.
    package var tokens: Int?
    /// How many are left.
    package var leftTokens: Int?
    /// How much is used of what is nearer to its end, in percent.
    package var percent: Double

    /// A budget of a month.
    package init(month: String, percent: Double) {
        self.month = month
        self.percent = percent
    }
}

/// Why an attempt to have a bot reply failed.
package struct WireBotError: Hashable, Sendable, Codable {
    /// When it failed.
    package var at: Timestamp
    /// Why, as a word.
    package var reason: String
    /// The same as a sentence.
    package var message: String?

    /// A failure of a moment.
    package init(at: Timestamp, reason: String, message: String?) {
        self.at = at
        self.reason = reason
        self.message = message
    }
}

/// What a test of a bot found.
package struct WireBotTest: Hashable, Sendable, Codable {
    /// A step of the test.
    package struct Step: Hashable, Sendable, Codable {
        /// `configuration`, `resolve`, `connect`, `tls`, `key`, `models`, `model` or `reply`.
        package var step: String
        /// `ok`, `failed` or `skipped`.
        package var outcome: String
        /// What exactly answered or failed.
        package var detail: String
        /// What to do about it.
        package var hint: String?

        /// A step and how it ended.
        package init(step: String, outcome: String, detail: String, hint: String?) {
            self.step = step
            self.outcome = outcome
            self.detail = detail
            self.hint = hint
        }
    }

    /// The bot's name.
    package var bot: String
    /// Whether no step failed.
    package var ok: Bool
    /// The steps in order, up to the first that failed.
    package var steps: [Step]

    /// A test with its steps.
    package init(bot: String, ok: Bool, steps: [Step]) {
        self.bot = bot
        self.ok = ok
        self.steps = steps
    }
}

/// What makes or changes a bot.
package struct BotDraft: Hashable, Sendable, Codable {
    /// The bot's name; only of one that is made.
    package var name: String?
    /// Its settings in the form that the configuration file has; of a change only those that it names, null for one
    /// that is removed.
    package var settings: JSON
    /// The provider's key itself: it is kept in a file of the daemon's state that nobody else can read.
    package var key: String?

    /// Settings of a bot.
    package init(name: String? = nil, settings: JSON) {
        self.name = name
        self.settings = settings
    }
}

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
