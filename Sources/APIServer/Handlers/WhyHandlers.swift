import API
import Delivery
import Engine
import Ledger

extension DaemonHandler {
    func why(_ request: APIRequest) async throws(APIError) -> APIResponse {
        guard let id = request.query["id"], !id.isEmpty else {
            throw APIError(.badValue, "the query needs an id", hint: "/v1/why?id=JOB%23N")
        }
        let limit = Int(clamping: try request.query.number("limit", atLeast: 1) ?? 100)
        let explanations = try await asking { () async throws(EngineError) in
            try await control.why(id, limit: limit)
        }
        let wantsKeptBack = request.query.flag("not")
        return .value(explanations.filter { !wantsKeptBack || $0.isKeptBack }.map(WireVerdict.init))
    }
}

extension WireVerdict {
    /// The verdict as the API shows it.
    fileprivate init(_ explanation: Explanation) {
        let verdict = explanation.verdict
        self.init(
            at: Timestamp(verdict.at), event: verdict.event, action: verdict.action.rawValue,
            stage: verdict.stage.rawValue, reason: verdict.reason)
        type = explanation.type?.rawValue
        run = explanation.run
        item = verdict.item
        channel = verdict.channel.isEmpty ? nil : verdict.channel
        until = Timestamp(verdict.until)
    }
}
