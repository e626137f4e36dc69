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
    /// Its name, which no other token has.
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
