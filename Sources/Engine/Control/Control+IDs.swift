import Grouping
package import Ledger

// The one place where ids are looked up that a person may have shortened; see `ShortID`.

extension Control {
    /// How many things an ambiguous id is explained by.
    private static let candidatesShown = 5

    /// The message of that id, which may be shortened.
    package func message(_ id: String) async throws(EngineError) -> MessageRecord {
        let message = try await find(.message, id) { id async throws(LedgerError) in
            try await ledger.message(id: id)
        }
        guard let message else { throw .noSuchMessage(id) }
        return message
    }

    /// The outbox entry of that id, which may be shortened.
    package func entry(_ id: String) async throws(EngineError) -> OutboxRecord {
        let entry = try await find(.outbox, id) { id async throws(LedgerError) in
            try await ledger.outbox(id: id)
        }
        guard let entry else { throw .noSuchEntry(id) }
        return entry
    }

    private func find<Record>(
        _ kind: IDKind, _ id: String, _ fetch: (String) async throws(LedgerError) -> Record?
    ) async throws(EngineError) -> Record? {
        let exact = try await read { () async throws(LedgerError) -> Record? in try await fetch(id) }
        guard exact == nil, let whole = try await whole(id, among: [kind]) else { return exact }
        return try await read { () async throws(LedgerError) -> Record? in try await fetch(whole.id) }
    }

    /// The whole id of the one thing among `kinds` that `id` is short for; nil: there is none.
    ///
    /// - Throws: ``EngineError/ambiguousID(_:candidates:)`` when there are several.
    func whole(
        _ id: String, among kinds: [IDKind]
    ) async throws(EngineError) -> (kind: IDKind, id: String)? {
        guard let short = ShortID(id) else { return nil }
        return try await read {
            () async throws(LedgerError) -> Result<(kind: IDKind, id: String)?, EngineError> in
            var found: [(kind: IDKind, id: String)] = []
            for kind in kinds {
                let limit = Self.candidatesShown + 1 - found.count
                found += try await ledger.ids(of: kind, matching: short, limit: limit).map { (kind, $0) }
            }
            guard found.count > 1 else { return .success(found.first) }
            var candidates: [String] = []
            for (kind, id) in found.prefix(Self.candidatesShown) {
                candidates.append("\(id)  \(try await words(of: kind, id))")
            }
            if found.count > Self.candidatesShown { candidates.append("and more") }
            return .failure(.ambiguousID(id, candidates: candidates))
        }.get()
    }

    /// What a person knows a thing by.
    private func words(of kind: IDKind, _ id: String) async throws(LedgerError) -> String {
        switch kind {
        case .run: return try await ledger.run(id: id).map { "run \($0.name)" } ?? "a run"
        case .message:
            let message = try await ledger.message(id: id)?.message
            return message.map { "message of \($0.bot): \(Preview.cut($0.text, to: 40))" } ?? "a message"
        case .outbox:
            let entry = try await ledger.outbox(id: id)
            return entry.map { "outbox entry for \($0.channel), \($0.type)" } ?? "an outbox entry"
        }
    }
}
