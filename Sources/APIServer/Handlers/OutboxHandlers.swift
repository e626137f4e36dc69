import API
import Delivery
import Engine
import Ledger

extension DaemonHandler {
    func outbox(_ request: APIRequest) async throws(APIError) -> APIResponse {
        let words = Set((request.query["state"] ?? "").split(separator: ",").map(String.init))
        let known = OutboxState.allCases.map(\.rawValue) + [WireOutboxEntry.sending]
        if let odd = words.sorted().first(where: { !known.contains($0) }) {
            throw APIError(
                .badValue, "no state \"\(odd)\"", hint: "States are \(known.joined(separator: " ")).")
        }
        let limit = Int(clamping: try request.query.number("limit", atLeast: 1) ?? 100)
        return .value(try await entries(in: words, limit: limit))
    }

    /// Entries in states as they are shown, newest first; all of them without a word.
    private func entries(in words: Set<String>, limit: Int) async throws(APIError) -> [WireOutboxEntry] {
        var states = Set(words.compactMap { OutboxState(rawValue: $0) })
        if words.contains(WireOutboxEntry.sending) { states.insert(.pending) }
        let sending = control.switchboard.inHand.sending
        // What is shown as being sent is stored as pending: so many more may be needed to fill the list.
        let asked = words.isEmpty ? limit : words == [WireOutboxEntry.sending] ? .max : limit &+ sending.count
        let records = try await reading { () async throws(LedgerError) in
            try await control.ledger.outbox(states: states, limit: max(asked, limit))
        }
        let shown = try await shown(records)
        return Array(shown.filter { words.isEmpty || words.contains($0.state) }.prefix(limit))
    }

    func outboxEntry(_ id: String) async throws(APIError) -> APIResponse {
        let record = try await reading { () async throws(LedgerError) in
            try await control.ledger.outbox(id: id)
        }
        guard let record else { throw APIError(.noSuchOutboxEntry, "no outbox entry \"\(id)\"") }
        return .value(try await shown(record))
    }

    func retryEntry(_ id: String) async throws(APIError) -> APIResponse {
        let record = try await asking { () async throws(EngineError) in try await control.retryEntry(id) }
        return .value(try await shown(record))
    }

    /// Sends all of a channel again, and what waits for the name it had before.
    func retryChannel(_ name: String, _ request: APIRequest) async throws(APIError) -> APIResponse {
        let names = control.switchboard.edges.map(\.name)
        guard names.contains(name) else {
            throw APIError(
                .noSuchChannel, "no channel \"\(name)\" with an outbox",
                hint: NearestName.hint(name, among: names))
        }
        let from = request.query["from"]
        let retried = try await asking { () async throws(EngineError) in
            try await control.retryChannel(name, from: from)
        }
        return .value(
            WireChannelRetry(
                channel: name, retried: retried.own, from: retried.from, moved: retried.moved,
                state: control.channels[name]?.state.rawValue ?? "untried"))
    }

    func discardEntry(_ id: String) async throws(APIError) -> APIResponse {
        let record = try await asking { () async throws(EngineError) in try await control.discardEntry(id) }
        return .value(try await shown(record))
    }

    private func shown(_ record: OutboxRecord) async throws(APIError) -> WireOutboxEntry {
        try await shown([record])[0]
    }

    private func shown(_ records: [OutboxRecord]) async throws(APIError) -> [WireOutboxEntry] {
        let sending = control.switchboard.inHand.sending
        let waits = try await reading { () async throws(LedgerError) in
            try await control.waits(of: records)
        }
        return records.map {
            WireOutboxEntry($0, isSending: sending.contains($0.id), wait: waits[$0.id])
        }
    }
}
