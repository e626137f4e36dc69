import API
import Delivery
import Engine
import Grouping
import Ledger
import Timeline

extension DaemonHandler {
    func silences(_ query: SilencesQuery) async throws(APIError) -> [WireSilence] {
        let now = control.clock.now
        return try await asking(await control.silences(all: query.all)).map { WireSilence($0, at: now) }
    }

    func addSilence(_ asked: SilenceRequest) async throws(APIError) -> WireSilence {
        if let note = asked.note { try Self.check(note, "a note", limit: 200) }
        if let by = asked.by { try Self.check(by, "by", limit: 40) }
        let from = asked.from?.moment
        guard (asked.until == nil) != (asked.forMs == nil) else {
            throw APIError(
                .badValue, "a silence needs an end: until or forMs", hint: "Add --for 2h or --until TIME.")
        }
        if let milliseconds = asked.forMs {
            guard milliseconds > 0, .milliseconds(milliseconds) <= Control.longestSilence else {
                throw APIError(.badValue, "a silence lasts longer than zero and up to 366d")
            }
        }
        let start = from ?? control.clock.now
        let until = asked.until?.moment ?? start + .milliseconds(asked.forMs ?? 0)
        var draft = SilenceDraft(matchers: asked.matchers, until: until, by: asked.by ?? "api")
        (draft.from, draft.note) = (from, asked.note)
        let silence = try await asking(await control.addSilence(draft))
        return WireSilence(silence, at: control.clock.now)
    }

    func digest() async throws(APIError) -> [WireHeldItem] {
        try await asking(await control.digest()).map { held in
            switch held.content {
            case .version(let version):
                return WireHeldItem(
                    channel: held.channel, item: WireItem(version, pinned: []), until: Timestamp(held.until))
            case .entry(let entry, let matter):
                var item = WireHeldItem(
                    channel: held.channel, item: WireItem(entry, matter), until: Timestamp(held.until))
                item.outbox = entry.id
                return item
            }
        }
    }

    func endSilence(_ id: String) async throws(APIError) -> WireSilence {
        WireSilence(try await asking(await control.endSilence(id)), at: control.clock.now)
    }
}

extension WireItem {
    /// What waits in the outbox; it has no version, and its text is how a digest lists it.
    fileprivate init(_ entry: OutboxRecord, _ held: HeldMatter) {
        let kind = entry.type.split(separator: ".").first == "run" ? "job" : "thread"
        self.init(
            key: entry.item ?? entry.cause, kind: kind, urgency: held.topic.urgency.rawValue, revision: 0)
        (job, bot, reason) = (held.topic.job, held.topic.bot, held.line)
    }
}

extension WireSilence {
    /// The silence as it is at that moment.
    fileprivate init(_ silence: Silence, at now: Moment) {
        let state = silence.until <= now ? "ended" : silence.from > now ? "pending" : "active"
        self.init(
            id: silence.id, matchers: silence.matchers.map(\.text), from: Timestamp(silence.from),
            until: Timestamp(silence.until), by: silence.by, state: state)
        note = silence.note
    }
}
