package import Ledger

extension EndpointRow {
    /// What a token must allow for this endpoint; nil: no token is needed.
    ///
    /// On the control socket nobody is asked for one.
    package var scope: TokenScope? {
        switch name {
        case Endpoints.health.row.name: nil
        case Endpoints.notify.row.name: .publish
        case Endpoints.answerQuestion.row.name: .answer
        // The values of a job's environment, names of tokens, and addresses that whoever has them may report at.
        case Endpoints.jobText.row.name, Endpoints.tokens.row.name, Endpoints.expectations.row.name: .admin
        default: method == .get ? .read : .admin
        }
    }
}
