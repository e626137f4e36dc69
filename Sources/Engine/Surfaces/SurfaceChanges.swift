import Delivery
import Ledger
import Timeline

/// What happens to the surfaces of one channel, as changes of the ledger.
struct SurfaceChanges {
    let channel: String
    let now: Moment

    /// It shows this revision now; nil remote: nothing is left to show.
    func shown(_ surface: SurfaceRecord, revision: Int64, remote: RemoteID?) -> [Change] {
        var changes: [Change] = [
            .showSurface(channel: channel, item: surface.item, revision: revision, remote: remote, at: now)
        ]
        guard remote != nil else { return changes }
        // What rang in place of another version was shown by itself.
        if surface.remote != remote || surface.ring {
            changes.append(receipt(.accepted, of: surface, detail: ""))
        }
        if surface.refused != 0 { changes.append(event(.channelRestored(news(of: surface)))) }
        return changes
    }

    /// The channel never takes this revision.
    ///
    /// Reported once an item, until one of its revisions is shown.
    func refused(_ surface: SurfaceRecord, revision: Int64, _ error: DeliveryError) -> [Change] {
        let refusal = Change.refuseSurface(
            channel: channel, item: surface.item, revision: revision, reason: error.sentence)
        guard surface.refused == 0 else { return [refusal] }
        return [
            refusal,
            event(.channelFailing(news(of: surface, error))),
        ]
    }

    /// What was refused is tried again.
    func retried(_ surface: SurfaceRecord) -> Change {
        .refuseSurface(channel: channel, item: surface.item, revision: 0, reason: nil)
    }

    /// It left the screen without having been read: the next revision brings it up again.
    func gone(_ surface: SurfaceRecord) -> Change {
        .showSurface(channel: channel, item: surface.item, revision: surface.shown, remote: nil, at: now)
    }

    /// A person put it away: it was seen, and stays away until something rings.
    func dismissed(_ surface: SurfaceRecord) -> [Change] {
        [
            gone(surface), .dismissSurface(channel: channel, item: surface.item, true),
            receipt(.seen, of: surface, detail: "dismissed"), dismissal(of: surface),
        ]
    }

    /// A person opened it: it was seen.
    func opened(_ surface: SurfaceRecord, key: String) -> [Change] {
        [receipt(.acted, of: surface, detail: key), dismissal(of: surface)]
    }

    /// A person pressed a button, which says nothing of what else the item shows.
    func pressed(_ surface: SurfaceRecord, key: String) -> [Change] {
        [
            receipt(.acted, of: surface, detail: key),
            event(.itemActed(Fact.Action(surface.item, on: channel, key: key))),
        ]
    }

    /// A person wants to be reminded later: it leaves the screen, and nothing brings it back before.
    ///
    /// Its item is kept back from the channel until then, as what a rule holds.
    func snoozed(_ surface: SurfaceRecord, key: String) -> [Change] {
        pressed(surface, key: key) + [
            // In this order: only what shows its newest version can be put away.
            .dismissSurface(channel: channel, item: surface.item, true),
            .showSurface(channel: channel, item: surface.item, revision: 0, remote: nil, at: now),
        ]
    }

    /// A person typed a reply.
    func replied(_ surface: SurfaceRecord, _ text: String) -> [Change] {
        [
            receipt(.acted, of: surface, detail: NoticeAction.replyKey),
            event(
                .itemActed(
                    Fact.Action(
                        surface.item, on: channel, key: NoticeAction.replyKey,
                        text: Self.kept(ofReply: text)))),
        ]
    }

    /// How many Unicode scalars of a typed reply are kept; not characters, of which each may have any number of scalars.
    private static let longestReply = 16_000

    /// What is kept of a typed reply.
    static func kept(ofReply text: String) -> String { String(text.unicodeScalars.prefix(longestReply)) }

    private func dismissal(of surface: SurfaceRecord) -> Change {
        event(.itemDismissed(Fact.Dismissal(surface.item, on: channel, revision: Int(surface.shown))))
    }

    private func news(of surface: SurfaceRecord, _ error: DeliveryError? = nil) -> Fact.Channel {
        Fact.Channel(channel, reason: error?.reason, item: surface.item, error: error?.sentence)
    }

    private func event(_ fact: Fact) -> Change { .append(NewEvent(fact, at: now)) }

    private func receipt(_ kind: ReceiptKind, of surface: SurfaceRecord, detail: String) -> Change {
        .insertReceipt(
            ReceiptRecord(
                outbox: "\(channel)/\(surface.item)", receipt: Receipt(at: now, kind: kind, detail: detail)))
    }
}

/// The items that rest until a moment, because the far end refused them for now.
struct SurfaceRests {
    /// The longest that a refusal for now puts an item off.
    private static let longest: Duration = .seconds(3600)

    private var ends: [String: Moment] = [:]
    /// How often in a row something was refused for now.
    private var refusals = 0

    /// Until when the item rests; nil: it does not.
    func end(of item: String, at now: Moment) -> Moment? {
        // One that lies further ahead was set before the clock was set back.
        guard let end = ends[item], end > now, end - now <= Self.longest else { return nil }
        return end
    }

    /// Has the item rest: as long as the far end asked for, else twice as long after each refusal in a row.
    ///
    /// Returns until when.
    mutating func begin(_ item: String, asked: Duration?, at now: Moment) -> Moment {
        refusals += 1
        let end = now + min(asked ?? .seconds(1 << min(refusals - 1, 6)), Self.longest)
        ends[item] = end
        return end
    }

    /// The item was shown after all.
    mutating func end(_ item: String) { ends[item] = nil }

    /// The far end takes things: the next refusal is the first in a row.
    mutating func restart() { refusals = 0 }
}

/// The far end of a channel that edits in place: another server, or the same one after its restart, begins with nothing.
struct FarEnd {
    /// Its life; nil: nobody is there, or nobody answers.
    private(set) var generation: String?
    /// The last life that was known.
    private var last: String?
    /// What is shown and could not be recorded yet; it is not shown a second time.
    var unrecorded: [String: (revision: Int64, remote: RemoteID?)] = [:]
    /// What had a button pressed; the server closes it for that, which is no dismissal.
    var pressed: Set<RemoteID> = []
    var rests = SurfaceRests()

    /// Whether this life is another one than the last that was known.
    func isAnother(_ generation: String) -> Bool { generation != last }

    /// It is there, in this life.
    mutating func begin(_ generation: String) {
        if isAnother(generation) { self = FarEnd() }
        rests.restart()
        (self.generation, last) = (generation, generation)
    }

    /// It is away; what is known of its life is kept, in case it only hung.
    mutating func leave() { generation = nil }
}
