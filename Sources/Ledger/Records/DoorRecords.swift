package import Delivery
package import Timeline

/// What a token of the door allows.
package enum TokenScope: String, Hashable, Sendable, Codable, CaseIterable {
    /// Posting messages, and what the hooks of an agent ask.
    case publish
    /// Answering questions.
    case answer
    /// Reading everything that is shown.
    case read
    /// Everything.
    case admin
}

/// How a service proves that a hook is from it.
package enum HookSignature: String, Hashable, Sendable, Codable, CaseIterable {
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
    case standard
    /// `X-Hub-Signature-256` over the body, `X-GitHub-Delivery` as the id.
    case github
    /// The secret itself in `X-Gitlab-Token`.
    case gitlab
    /// `X-Slack-Signature` over the time and the body.
    case slack
}

/// A token of the door as stored: never the token itself.
package struct TokenRecord: Hashable, Sendable {
    /// What identifies it, also after another one was given its name.
    package var id: String
    /// Its name.
    package var name: String
    /// The SHA-256 of the token, in hexadecimal digits of lower case.
    package var digest: String
    /// What it allows.
    package var scopes: Set<TokenScope>
    /// The job that it may start by a hook; nil: none.
    package var job: String?
    /// How hooks prove that they know its secret, which is kept beside the ledger; nil: they send it.
    package var signature: HookSignature?
    /// When it was made.
    package var madeAt: Moment
    /// When it was used last, to the minute; nil: never.
    package var usedAt: Moment?

    package init(
        id: String, name: String, digest: String, scopes: Set<TokenScope>, job: String? = nil, madeAt: Moment
    ) {
        self.id = id
        (self.name, self.digest, self.scopes) = (name, digest, scopes)
        (self.job, self.madeAt) = (job, madeAt)
    }

    /// Whether it allows what needs `scope`.
    package func allows(_ scope: TokenScope) -> Bool {
        scopes.contains(scope) || scopes.contains(.admin)
    }
}

/// Something that must report in time, such as a job of another machine: a dead man's switch.
///
/// Its address holds a key that nobody can guess, of which only the digest is kept.
package struct ExpectationRecord: Hashable, Codable, Sendable {
    /// Its name, which no other one has.
    package let name: String
    /// What its key is made of, together with a secret of the daemon; on its own it opens nothing.
    package let seed: String
    /// The digest of the key in its address.
    package let digest: String
    /// When it must report: a time of a schedule that a clock drives, or at most this long after the last report.
    package var schedule: ScheduleSpec
    /// How much later than that is still in time, and how long what has started may take.
    package var grace: Duration
    /// When it was made; the first report is expected after that.
    package let madeAt: Moment
    /// Rises with each change.
    package var revision: Int64
    /// What the last reports came to.
    package var reports: Reports

    /// What the reports came to.
    package struct Reports: Hashable, Codable, Sendable {
        /// When it reported an end last, of whatever kind; nil: never.
        package var lastPing: Moment?
        /// When it reported that it started what has not ended since.
        package var startedAt: Moment?
        /// Since when it is late, or failed; nil: all is well.
        package var lateSince: Moment?
        /// Why it is.
        package var reason: LateReason?
        /// The last line that came with a report.
        package var message: String?
        /// Before this it is not late, although the daemon heard nothing: it was not there to hear it.
        package var notBefore: Moment?
        /// When it is judged next, if no report comes; nil: never.
        package var alertAt: Moment?

        /// Nothing was reported yet.
        package init() {}
    }

    /// One that has not reported yet.
    package init(
        name: String, seed: String, digest: String, schedule: ScheduleSpec, grace: Duration, madeAt: Moment
    ) {
        self.name = name
        self.seed = seed
        self.digest = digest
        self.schedule = schedule
        self.grace = grace
        self.madeAt = madeAt
        revision = 1
        reports = Reports()
    }
}
