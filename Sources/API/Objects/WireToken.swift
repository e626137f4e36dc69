package import Ledger

/// A token of the door, without the token itself.
package struct WireToken: Hashable, Sendable, Codable {
    /// Its name.
    package var name: String
    /// What it allows: `publish`, `answer`, `read` or `admin`.
    package var scopes: [TokenScope]
    /// The job that it may start by `/v1/hooks/JOB`; absent: none.
    package var job: String?
    /// When it was made.
    package var madeAt: Timestamp

    /// The token as stored.
    package init(_ record: TokenRecord) {
        (name, job) = (record.name, record.job)
        scopes = TokenScope.allCases.filter(record.scopes.contains)
        madeAt = Timestamp(record.madeAt)
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
