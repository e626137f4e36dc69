import API
import Engine
import Ledger
import Timeline

extension DaemonHandler {
    func tokens() async throws(APIError) -> [WireToken] {
        try await reading(await control.ledger.tokens()).map { WireToken($0) }
    }

    /// Makes a token that allows what the draft names; publishing where it names nothing.
    func addToken(_ draft: TokenDraft) async throws(APIError) -> WireNewToken {
        if let fault = JobName.fault(in: draft.name) {
            throw APIError(.badName, "the name \(Quoted.of(draft.name)): \(fault)")
        }
        if let job = draft.job, let fault = JobName.fault(in: job) {
            throw APIError(.badName, "the job \(Quoted.of(job)): \(fault)")
        }
        let scopes = draft.scopes ?? []
        guard !scopes.isEmpty || draft.job != nil else {
            throw APIError(
                .badValue, "the token would allow nothing",
                hint: "Name what it allows: \(TokenScope.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let secret = DoorToken.make()
        let record = TokenRecord(
            name: draft.name, digest: DoorToken.digest(of: secret), scopes: Set(scopes), job: draft.job,
            madeAt: control.clock.now)
        try await asking(await control.addToken(record))
        return WireNewToken(secret: secret, token: WireToken(record))
    }

    func removeToken(_ name: String) async throws(APIError) {
        try await asking(await control.removeToken(name))
    }
}
