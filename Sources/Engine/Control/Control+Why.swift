package import Delivery
import Grouping
package import Ledger
package import Timeline

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
        let event = entry.causingEvent
        let found: [VerdictRecord]
        if let item = entry.item, event == nil {
            // An entry is rewritten by what joins it, until it is sent.
            found = try await ledger.verdicts(onItem: item, from: 0, newest: true, limit: limit).filter {
                $0.at >= entry.createdAt && $0.at <= entry.settledAt ?? .distantFuture
            }
        } else {
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

/// How far the notice that a verdict lets through has got.
package struct VerdictDelivery: Hashable, Sendable {
    /// Where it is.
    package enum State: String, Hashable, Sendable {
        /// The channel took it, or shows it.
        case delivered
        /// It is still to be sent or shown.
        case waits
        /// A later version of the item took its place.
        case replaced
        /// It was not shown, and there is nothing left to show of the item.
        case withdrawn
        /// The channel refused it, or it failed too often.
        case dead
        /// It was too old when its turn came.
        case expired
        /// A person gave it up.
        case discarded
    }

    /// Where it is.
    package var state: State
    /// What it waits for: a word of ``OutboxWait``, or `away` where nobody is there to show it.
    package var waitsFor: String?
    /// When it is tried next.
    package var nextAt: Moment?
    /// What keeps it, or ended it; one line without secrets.
    package var error: String?

    init(_ state: State, waitsFor: String? = nil, nextAt: Moment? = nil, error: String? = nil) {
        (self.state, self.waitsFor, self.nextAt, self.error) = (state, waitsFor, nextAt, error)
    }

    /// An outbox entry; `wait` is what it waits for.
    init(_ entry: OutboxRecord, _ wait: OutboxWait?) {
        switch entry.state {
        case .pending, .waiting, .held: self.init(.waits, error: entry.lastError)
        case .delivered: self.init(.delivered)
        case .dead: self.init(.dead, error: entry.lastError)
        case .superseded, .suppressed: self.init(.replaced)
        case .expired: self.init(.expired, error: entry.lastError)
        case .discarded: self.init(.discarded)
        }
        guard let wait else { return }
        (waitsFor, nextAt) = (wait.word, wait.nextAt)
        if case .channel(let hold) = wait { error = hold.lastError }
    }

    /// A version of an item that is still the newest one, on a surface that has not shown it by itself; `isLeft` is
    /// whether there is anything left to show.
    init(newestOn surface: SurfaceRecord, isLeft: Bool, _ health: ChannelBoard.Health?) {
        if !isLeft {
            self.init(.withdrawn)
        } else if surface.refused != 0, surface.refused == surface.wanted {
            self.init(.dead, error: surface.refusal)
        } else if surface.wanted == surface.shown {
            self.init(surface.remote == nil ? .withdrawn : .delivered)
        } else {
            let isAbsent = health?.isAbsent ?? false
            let isWorking = health.map { $0.state == .working } ?? true
            self.init(
                .waits, waitsFor: isWorking ? nil : health?.state == .away ? "away" : "channelFailing",
                error: isAbsent ? "no desktop here" : health?.lastError)
        }
    }
}

extension Control {
    /// How far what these verdicts let through has got, in their order; nil: nothing was let through, or that is no
    /// longer known.
    func deliveries(of verdicts: [VerdictRecord]) async throws(LedgerError) -> [VerdictDelivery?] {
        let levels = Set(activeConfiguration.configuration.channels.filter(\.kind.isLevel).map(\.name))
        var deliveries: [VerdictDelivery?] = []
        var entries: [Int: OutboxRecord] = [:]
        var screens: [String: Screenings] = [:]
        for (index, verdict) in verdicts.enumerated() {
            deliveries.append(nil)
            guard verdict.action != .suppress else { continue }
            guard levels.contains(verdict.channel) else {
                entries[index] = try await entry(of: verdict)
                continue
            }
            guard verdict.action == .send, let item = verdict.item else { continue }
            let name = "\(verdict.channel)/\(item)"
            if screens[name] == nil {
                screens[name] = try await screenings(of: item, on: verdict.channel, from: verdict.event)
            }
            deliveries[index] = screens[name]?.delivery(of: verdict)
        }
        let waits = try await waits(of: Array(entries.values))
        for (index, entry) in entries { deliveries[index] = VerdictDelivery(entry, waits[entry.id]) }
        return deliveries
    }

    /// The entry that a verdict made or joined, or the digest that lists it.
    private func entry(of verdict: VerdictRecord) async throws(LedgerError) -> OutboxRecord? {
        let made = try await madeEntry(of: verdict)
        guard let digest = made?.listedIn else { return made }
        return try await ledger.outbox(id: digest) ?? made
    }

    private func madeEntry(of verdict: VerdictRecord) async throws(LedgerError) -> OutboxRecord? {
        guard let item = verdict.item else {
            return try await ledger.outbox(
                cause: OutboxRecord.cause(event: verdict.event, channel: verdict.channel))
        }
        return try await ledger.outbox(item: item, channel: verdict.channel, limit: Self.entriesOfItem)
            .first { $0.createdAt <= verdict.at }
    }

    private func screenings(
        of item: String, on channel: String, from event: Int64
    ) async throws(LedgerError) -> Screenings {
        let verdicts = try await ledger.verdicts(
            onItem: item, from: event, newest: false, limit: Self.entriesOfItem)
        let receipts = try await ledger.receipts(of: "\(channel)/\(item)")
        let record = if let key = ItemKey(item) { try await ledger.item(key) } else { ItemRecord?.none }
        return Screenings(
            made: verdicts.filter { $0.channel == channel && $0.action == .send }.map(\.at),
            shown: receipts.filter { $0.receipt.kind == .accepted }.map(\.receipt.at),
            surface: try await ledger.surface(channel: channel, item: item),
            isLeft: record.flatMap { shownItem($0, on: channel) } != nil, health: channels[channel])
    }

    /// So many versions of one item are looked at.
    private static let entriesOfItem = 1000
}

/// When the versions of an item were made, and when some of them came to the screen.
private struct Screenings {
    var made: [Moment]
    var shown: [Moment]
    var surface: SurfaceRecord?
    /// Whether the item has anything left to show there.
    var isLeft: Bool
    var health: ChannelBoard.Health?

    func delivery(of verdict: VerdictRecord) -> VerdictDelivery? {
        let next = made.filter { $0 > verdict.at }.min()
        if shown.contains(where: { $0 >= verdict.at && $0 < next ?? .distantFuture }) {
            return VerdictDelivery(.delivered)
        }
        guard next == nil else { return VerdictDelivery(.replaced) }
        return surface.map { VerdictDelivery(newestOn: $0, isLeft: isLeft, health) }
    }
}
