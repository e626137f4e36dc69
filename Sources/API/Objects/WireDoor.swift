package import Ledger

/// A token of the door, without the token itself.
package struct WireToken: Hashable, Sendable, Codable {
    /// What identifies it, also after another one was given its name.
    package var id: String
    /// Its name.
    package var name: String
    /// What it allows: `publish`, `answer`, `read` or `admin`.
    package var scopes: [TokenScope]
    /// The job that it may start by `/v1/hooks/JOB`; absent: none.
    package var job: String?
    /// How hooks of it are signed: `standard`, `github`, `gitlab` or `slack`; absent: they send the token.
    package var signed: HookSignature?
    /// When it was made.
    package var createdAt: Timestamp
    /// When it was used last, to the minute; absent: never.
    package var lastUsedAt: Timestamp?

    /// The token as stored.
    package init(_ record: TokenRecord) {
        (id, name, job, signed) = (record.id, record.name, record.job, record.signature)
        scopes = TokenScope.allCases.filter(record.scopes.contains)
        createdAt = Timestamp(record.madeAt)
        lastUsedAt = Timestamp(record.usedAt)
    }
}

/// Asks for a token.
package struct TokenDraft: Hashable, Sendable, Codable {
    /// The token's name; must be unique.
    package var name: String
    /// What it allows; absent: nothing but what `job` does.
    package var scopes: [TokenScope]?
    /// The job that it may start by `/v1/hooks/JOB`.
    package var job: String?
    /// How hooks of it are signed; absent: they send the token.
    package var signed: HookSignature?
    /// The secret that a service signs with; absent: a new one.
    package var secret: String?

    /// A token that allows `scopes`.
    package init(name: String, scopes: [TokenScope]? = nil, job: String? = nil) {
        (self.name, self.scopes, self.job) = (name, scopes, job)
    }
}

/// A token that was made.
package struct WireNewToken: Hashable, Sendable, Codable {
    /// The token itself, which is kept nowhere.
    package var secret: String
    /// What is kept of it.
    package var token: WireToken

    /// A token with its secret.
    package init(secret: String, token: WireToken) { (self.secret, self.token) = (secret, token) }
}

/// Something that must report in time, by a request to its address.
package struct WireExpectation: Hashable, Sendable, Codable {
    /// Its name.
    package var name: String
    /// When it must report; of kind `every`: at most so long after the report before.
    package var schedule: WireSchedule
    /// How much later is still in time, and how long what has started may take, such as `1h`.
    package var grace: String
    /// `new` before its first report, `up`, `started`, or `late`.
    package var state: String
    /// Why it is late: `overdue`, `unfinished` or `failed`.
    package var reason: String?
    /// Since when it is late.
    package var lateSince: Timestamp?
    /// When it reported an end last.
    package var lastPing: Timestamp?
    /// When the next report is due.
    package var dueAt: Timestamp?
    /// The last line that came with a report.
    package var message: String?
    /// The address that it reports at; absent where the daemon does not listen on TCP.
    package var url: String?

    /// One that has not reported yet.
    package init(name: String, schedule: WireSchedule, grace: String, state: String) {
        self.name = name
        self.schedule = schedule
        self.grace = grace
        self.state = state
    }
}

/// Asks for an expectation, or for another schedule of one that is there.
package struct ExpectationDraft: Hashable, Sendable, Codable {
    /// Its name.
    package var name: String
    /// When it must report: of kind `every`, `cron`, `calendar`, `words` or `several`.
    package var schedule: WireSchedule
    /// How much later is still in time, such as `1h`; absent: an hour.
    package var grace: String?

    /// What reports by this schedule.
    package init(name: String, schedule: WireSchedule, grace: String? = nil) {
        (self.name, self.schedule, self.grace) = (name, schedule, grace)
    }
}
