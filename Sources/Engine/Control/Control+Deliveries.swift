import Delivery
import Grouping
import Ledger
package import Timeline

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
            return try await ledger.outbox(cause: "event:\(verdict.event):\(verdict.channel)")
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
