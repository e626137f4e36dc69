package import Delivery
import Grouping
package import Ledger
import Timeline

/// A verdict with the event that it is about.
package struct Explanation: Hashable, Sendable {
    package var verdict: VerdictRecord
    /// The event's type; nil: the event is no longer kept.
    package var type: EventType?
    /// The name of the run that the event is about, as long as it is kept.
    package var run: String?
    /// How far what it let through has got; nil: it let nothing through, or that is no longer known.
    package var delivery: VerdictDelivery?

    /// Whether it was kept back.
    package var isKeptBack: Bool { verdict.action != .send }
}

extension Control {
    /// Why something rang, or did not: the verdicts on a message, a run, an item or an outbox entry.
    ///
    /// `name` is an id, which may be shortened, `JOB#N`, `JOB` for its newest run, or the text form of an item's key. An
    /// event that no route names has no verdict; it is explained by one for no channel.
    /// - Returns: of the newest `limit` events, or verdicts where it is a thread; in the order of the events.
    package func why(_ name: String, limit: Int) async throws(EngineError) -> [Explanation] {
        if let found = try await explanations(of: name, limit: limit) { return found }
        if let (_, id) = try await whole(name, among: IDKind.allCases),
            let found = try await explanations(of: id, limit: limit)
        {
            return found
        }
        throw .nothingToExplain(name)
    }

    /// nil: there is nothing of that whole name.
    private func explanations(of name: String, limit: Int) async throws(EngineError) -> [Explanation]? {
        try await read { () async throws(LedgerError) in
            guard let verdicts = try await verdicts(about: name, limit: limit) else { return nil }
            return try await explain(verdicts)
        }
    }

    /// nil: there is nothing of that name.
    private func verdicts(about name: String, limit: Int) async throws(LedgerError) -> [VerdictRecord]? {
        switch ItemKey(name) {
        case .job(let job): return try await verdicts(on: ledger.events(about: .job(job), limit: limit))
        case .thread, .storm, .question:
            return try await ledger.verdicts(onItem: name, from: 0, newest: true, limit: limit)
        case nil: break
        }
        if let run = try await run(named: name) {
            return try await verdicts(on: ledger.events(about: .run(run.id), limit: limit))
        }
        if let message = try await ledger.message(id: name)?.message {
            return try await verdicts(onMessage: message)
        }
        if let entry = try await ledger.outbox(id: name) {
            return try await verdicts(on: entry, limit: limit)
        }
        if try await ledger.question(id: name) != nil {
            return try await verdicts(on: ledger.events(about: .subject(name), limit: limit))
        }
        guard let run = try await ledger.runs(RunFilter(job: name, limit: 1)).first else { return nil }
        return try await verdicts(on: ledger.events(about: .run(run.id), limit: limit))
    }

    private func run(named name: String) async throws(LedgerError) -> RunRecord? {
        guard let mark = name.lastIndex(of: "#"), let ordinal = Int(name[name.index(after: mark)...]) else {
            return try await ledger.run(id: name)
        }
        return try await ledger.run(job: String(name[..<mark]), ordinal: ordinal)
    }

    private func verdicts(on events: [EventRecord]) async throws(LedgerError) -> [VerdictRecord] {
        let known = try await ledger.verdicts(on: events.map(\.seq))
        let judged = Set(known.map(\.event))
        let unrouted = events.filter { !judged.contains($0.seq) && isUnrouted($0.event.fact) }
            .map { noRoute($0) }
        return (known + unrouted).sorted { ($0.event, $0.channel) < ($1.event, $1.channel) }
    }

    /// A message is shown with those that came after it: the first verdict on its thread from then on counts.
    private func verdicts(onMessage message: Message) async throws(LedgerError) -> [VerdictRecord] {
        guard let event = try await ledger.events(about: .subject(message.id), limit: 1).first else {
            return []
        }
        let found = try await ledger.verdicts(
            onItem: "\(message.itemKey)", from: event.seq, newest: false, limit: 64)
        if found.isEmpty, isUnrouted(event.event.fact) { return [noRoute(event)] }
        return found.filter { $0.event == found.first?.event }
    }

    private func verdicts(
        on entry: OutboxRecord, limit: Int
    ) async throws(LedgerError) -> [VerdictRecord] {
        let cause = entry.cause.split(separator: ":")
        let found: [VerdictRecord]
        if let item = entry.item, !entry.cause.hasPrefix("event:") {
            // An entry is rewritten by what joins it, until it is sent.
            found = try await ledger.verdicts(onItem: item, from: 0, newest: true, limit: limit).filter {
                $0.at >= entry.createdAt && $0.at <= entry.settledAt ?? .distantFuture
            }
        } else {
            let event = cause.count > 1 ? Int64(cause[1]) : nil
            found = try await ledger.verdicts(on: event.map { [$0] } ?? [])
        }
        return found.filter { $0.channel == entry.channel }
    }

    // MARK: Events that no route names

    private func isUnrouted(_ fact: Fact) -> Bool {
        let type = fact.type == .messagePosted ? EventType.messageGroup : fact.type
        guard RouteWord(eventType: type.rawValue) != nil else { return false }
        let routing = activeConfiguration.configuration.routing
        return routing.channels(for: type.rawValue, about: fact.columns.channel).isEmpty
    }

    private func noRoute(_ event: EventRecord) -> VerdictRecord {
        let verdict = Verdict(channel: "", stage: .route, action: .suppress(.noRoute))
        return VerdictRecord(verdict, of: event.seq, at: event.event.at)
    }

    private func explain(_ verdicts: [VerdictRecord]) async throws(LedgerError) -> [Explanation] {
        let events = try await ledger.events(numbered: Set(verdicts.map(\.event)))
        let facts = Dictionary(uniqueKeysWithValues: events.map { ($0.seq, $0.event.fact) })
        let runs = try await ledger.runs(ids: Set(facts.values.compactMap(\.columns.run)))
        let names = Dictionary(uniqueKeysWithValues: runs.map { ($0.id, $0.name) })
        let deliveries = try await deliveries(of: verdicts)
        return zip(verdicts, deliveries).map { verdict, delivery in
            let fact = facts[verdict.event]
            return Explanation(
                verdict: verdict, type: fact?.type, run: fact?.columns.run.flatMap { names[$0] },
                delivery: delivery)
        }
    }
}
