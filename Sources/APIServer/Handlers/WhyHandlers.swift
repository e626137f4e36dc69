import API
import Delivery
import Engine
import Ledger

extension DaemonHandler {
    func why(_ query: WhyQuery) async throws(APIError) -> [WireVerdict] {
        guard let id = query.id, !id.isEmpty else {
            throw APIError(.badValue, "the query needs an id", hint: "/v1/why?id=JOB%23N")
        }
        let explanations = try await asking { () async throws(EngineError) in
            try await control.why(id, limit: query.limit)
        }
        return explanations.filter { !query.not || $0.isKeptBack }.map(WireVerdict.init)
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
