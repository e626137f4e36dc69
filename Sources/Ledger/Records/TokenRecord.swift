package import Timeline

/// What a token of the door allows.
package enum TokenScope: String, Hashable, Sendable, Codable, CaseIterable {
    /// Posting messages.
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
