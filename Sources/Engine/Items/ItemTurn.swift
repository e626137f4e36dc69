import Delivery
import Grouping
import Ledger
import Timeline

/// What one turn of the item keeper makes of events: items touched, and the changes that follow for the channels.
struct ItemTurn {
    let configuration: EngineConfiguration
    let now: Moment
    var items: [ItemKey: KeptItem] = [:]
    /// The items whose state must be stored.
    var written: Set<ItemKey> = []
    var changes: [Change] = []
    /// Items that only one channel shows.
    var only: [ItemKey: String] = [:]

    init(configuration: EngineConfiguration, now: Moment) {
        self.configuration = configuration
        self.now = now
    }

    private var levels: [String] { configuration.channels.filter(\.kind.isLevel).map(\.name) }
    private var edges: [String] { configuration.channels.filter { !$0.kind.isLevel }.map(\.name) }

    /// What the surfaces want to hear of jobs.
    var jobPolicy: JobPolicy { JobPolicy(hears: configuration.routing.hears(Set(levels))) }

    mutating func keep(_ item: KeptItem, isWorthWriting: Bool) {
        items[item.key] = item
        if isWorthWriting { written.insert(item.key) }
    }

    // MARK: Edges

    /// Makes an outbox entry of the event for each webhook it is routed to, or for `only` one.
    mutating func tell(
        _ record: EventRecord, _ objects: [JSON.Member], only: String? = nil, makeID: () -> String
    ) {
        let event = record.event
        let routed =
            only.map { [$0] }
            ?? configuration.routing.channels(for: event.type.rawValue, about: event.channel)
        let names = routed.filter(edges.contains)
        guard !names.isEmpty else { return }
        let reason = event.reason ?? event.type.rawValue.split(separator: ".").last.map(String.init) ?? ""
        let body = WebhookBody(
            type: event.type.rawValue, timestamp: event.at, reason: reason, objects: objects)
        for name in names {
            changes.append(
                .insertOutbox(
                    OutboxRecord(
                        id: makeID(), channel: name, cause: "event:\(record.seq):\(name)",
                        type: event.type.rawValue, reason: reason, createdAt: now, nextAt: now,
                        run: event.run,
                        body: body.bytes)))
        }
    }

    // MARK: Items

    /// Makes every channel the item is routed to show this version.
    ///
    /// A webhook that was not tried yet is rewritten.
    mutating func show(_ snapshot: ItemSnapshot, untried: [String: String], makeID: () -> String) {
        let key = "\(snapshot.key)"
        for name in channels(for: snapshot) {
            if levels.contains(name) {
                // What a person put away stays away until something rings.
                guard !snapshot.isDismissed else { continue }
                changes.append(
                    .wantSurface(
                        channel: name, item: key, revision: Int64(snapshot.revision),
                        ring: snapshot.reason.rings, at: now))
                changes.append(.dismissSurface(channel: name, item: key, false))
            } else if case .messages = snapshot.content {
                group(snapshot, on: name, untried: untried[name], makeID: makeID)
            }
        }
    }

    /// Takes the item away from every surface.
    mutating func resolve(_ key: ItemKey, revision: Int) {
        for name in levels where only[key] == nil || only[key] == name {
            changes.append(
                .wantSurface(
                    channel: name, item: "\(key)", revision: Int64(revision), ring: false, at: now))
        }
    }

    private func channels(for snapshot: ItemSnapshot) -> [String] {
        if let only = only[snapshot.key] { return [only] }
        switch snapshot.content {
        case .messages: return configuration.routing.channels(for: EventType.messageGroup.rawValue)
        case .job(let report): return configuration.routing.channels(for: "run.\(report.news.rawValue)")
        }
    }

    private mutating func group(
        _ snapshot: ItemSnapshot, on channel: String, untried: String?, makeID: () -> String
    ) {
        let reason = snapshot.reason.rawValue
        let body = WebhookBody(
            type: EventType.messageGroup.rawValue, timestamp: snapshot.at, reason: reason,
            objects: [JSON.Member("item", JSON(snapshot))])
        if let untried {
            changes.append(
                .rewriteOutbox(
                    id: untried, reason: reason, body: body.bytes, item: "\(snapshot.key)", nextAt: now))
        } else {
            changes.append(
                .insertOutbox(
                    OutboxRecord(
                        id: makeID(), channel: channel,
                        cause: "item:\(snapshot.key):\(snapshot.revision):\(channel)",
                        type: EventType.messageGroup.rawValue, reason: reason, createdAt: now, nextAt: now,
                        item: "\(snapshot.key)", body: body.bytes)))
        }
    }
}
