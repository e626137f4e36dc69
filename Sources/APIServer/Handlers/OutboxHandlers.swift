import API
import Delivery
import Engine
import Ledger

extension DaemonHandler {
    func outbox(_ request: APIRequest) async throws(APIError) -> APIResponse {
        var states: Set<OutboxState> = []
        for word in (request.query["state"] ?? "").split(separator: ",") {
            guard let state = OutboxState(rawValue: String(word)) else {
                throw APIError(
                    .badValue, "no state \"\(word)\"",
                    hint: "States are \(OutboxState.allCases.map(\.rawValue).joined(separator: " ")).")
            }
            states.insert(state)
        }
        let limit = Int(clamping: try request.query.number("limit", atLeast: 1) ?? 100)
        let records = try await reading { () async throws(LedgerError) in
            try await control.ledger.outbox(states: states, limit: limit)
        }
        return .value(records.map { WireOutboxEntry($0) })
    }

    func outboxEntry(_ id: String) async throws(APIError) -> APIResponse {
        let record = try await reading { () async throws(LedgerError) in
            try await control.ledger.outbox(id: id)
        }
        guard let record else { throw APIError(.noSuchOutboxEntry, "no outbox entry \"\(id)\"") }
        return .value(WireOutboxEntry(record))
    }

    func retryEntry(_ id: String) async throws(APIError) -> APIResponse {
        let record = try await asking { () async throws(EngineError) in try await control.retryEntry(id) }
        return .value(WireOutboxEntry(record))
    }

    func discardEntry(_ id: String) async throws(APIError) -> APIResponse {
        let record = try await asking { () async throws(EngineError) in try await control.discardEntry(id) }
        return .value(WireOutboxEntry(record))
    }
}
