package import Timeline
package import Tracking

/// One message of a session's history.
package struct HistoryRow: Hashable, Sendable {
    /// Who wrote it.
    package enum Role: Hashable, Sendable {
        case user
        case assistant
        case other
    }

    package var role: Role
    package var text: String
    /// When it was written, where the gateway says so.
    package var at: Moment?
    /// What identifies it within its session; nil: nothing does.
    package var id: String?
    /// The key under which it was sent; nil: the gateway does not say.
    package var key: String?

    /// A row of `chat.history`; nil where it is none.
    init?(_ json: JSON) {
        guard let word = json["role"]?.text else { return nil }
        role = word == "user" ? .user : word == "assistant" ? .assistant : .other
        text = ChatEvent.text(of: json)
        at = json["timestamp"]?.double.flatMap { time in
            time > 0 && time < 9e15 ? Moment(microseconds: Int64(time) * 1000) : nil
        }
        let own = json["__openclaw"]
        id = own?["id"]?.text ?? own?["seq"]?.int.map { "\($0)" }
        key = json["idempotencyKey"]?.text ?? own?["idempotencyKey"]?.text
    }
}

/// The newest part of a session, as the gateway shows it.
package struct SessionHistory: Hashable, Sendable {
    /// Its messages, the oldest first.
    package var rows: [HistoryRow]
    /// The runs that are under way; nil: the gateway does not say.
    package var active: Set<String>?
    /// Whether there may be older messages that it does not show.
    package var isCut: Bool

    /// How many messages are asked for at once.
    package static let limit = 200

    /// The answer to `chat.history`.
    package init(_ payload: JSON) {
        rows = (payload["messages"]?.elements ?? []).compactMap { HistoryRow($0) }
        isCut = rows.count >= Self.limit || payload["hasMore"] == .bool(true)
        let flight = payload["inFlightRun"]
        let info = payload["sessionInfo"]
        if let info, info["hasActiveRun"] != nil || info["activeRunIds"] != nil {
            active = Set((info["activeRunIds"]?.elements ?? []).compactMap(\.text))
        }
        if let run = flight?["runId"]?.text { active = (active ?? []).union([run]) }
    }
}

/// What a gateway says of a run that it was waited for.
package enum RunWaitResult: Hashable, Sendable {
    /// It has ended, well.
    case ok
    /// It has failed.
    case failed(String)
    /// It has not ended yet, or nobody knows it.
    case unknown

    /// The answer to `agent.wait`; what must not be shown is `hidden`.
    package init(_ payload: JSON, hiding hidden: HiddenTexts = HiddenTexts()) {
        switch payload["status"]?.text {
        case "ok": self = .ok
        case "error":
            self = .failed(CleanText.line(hidden.clean(payload["error"]?.text ?? ""), limit: 300))
        default: self = .unknown
        }
    }
}

/// Decides what happened to a prompt that was perhaps sent: after a lost connection, or a crash of either side.
///
/// Pure: what the gateway shows in, what to do out. Nothing is sent again unless the gateway shows that it never arrived.
package enum RunRecovery: Hashable, Sendable {
    /// The gateway is at work on it.
    case isRunning
    /// It ended with this reply.
    case replied(String)
    /// It failed.
    case failed(String)
    /// The gateway had it, and has ended it or was itself ended: there is no reply.
    case lost
    /// It may stand before all that the gateway shows.
    case notShown
    /// It never arrived.
    case neverSent

    /// How far the clocks of both sides may differ beyond what is known.
    static let tolerance = Duration.seconds(120)

    /// What happened to the run `key`, which was to send `message` at `sent`.
    ///
    /// A row of an `earlier` prompt of the session, of which the oldest comes first, is not taken for ours: a job that asks
    /// often says the same each time. The gateway's clock, whose times the rows have, is `ahead` of ours.
    package init(
        _ key: String, message: String, sent: Moment, wait: RunWaitResult, history: SessionHistory,
        earlier: [SentPrompt] = [], ahead: Duration = .zero
    ) {
        let sent = sent + ahead
        let earlier = earlier.map { $0.shown(byClockAhead: ahead) }
        if history.active?.contains(key) == true {
            self = .isRunning
            return
        }
        if case .failed(let why) = wait {
            self = .failed(why)
            return
        }
        let own = history.rows[Self.end(of: earlier, before: sent, in: history)...].lastIndex { row in
            guard row.role == .user else { return false }
            if let other = row.key { return other == key }
            return row.at.map { $0 >= sent - Self.tolerance } ?? true
                && Self.isSame(row.text, message)
        }
        guard let own else {
            // What is not shown may have been said before what is.
            let isBeforeAll = history.isCut && (history.rows.first?.at.map { $0 > sent } ?? true)
            self = wait == .ok ? .replied("") : isBeforeAll ? .notShown : .neverSent
            return
        }
        let after = history.rows[(own + 1)...].prefix { $0.role != .user }
        let reply = after.last { $0.role == .assistant && !$0.text.isEmpty }?.text
        switch (wait, history.active) {
        case (.ok, _): self = .replied(reply ?? "")
        // Between two tools the agent may have said something that is not its reply.
        case (_, nil): self = reply.map { .replied($0) } ?? .isRunning
        case (_, _?): self = reply.map { .replied($0) } ?? .lost
        }
    }

    /// The row after those of the earlier prompts that the gateway has taken.
    ///
    /// Each of them has a row. Of the others nobody knows: a row without the reply of the one looked for may be theirs.
    private static func end(
        of earlier: [SentPrompt], before sent: Moment, in history: SessionHistory
    ) -> Int {
        var start = 0
        var doubtful = 0
        for prompt in earlier where prompt.at < sent {
            guard prompt.isTaken else {
                doubtful += 1
                continue
            }
            let candidates = history.rows[start...].indices.lazy.filter { place in
                let row = history.rows[place]
                return row.role == .user && prompt.isShown(by: row)
                    && row.at.map { $0 <= prompt.at + tolerance } ?? false
            }.prefix(1 + doubtful)
            let places = Array(candidates)
            let replied = places.firstIndex { place in
                let after = history.rows[(place + 1)...].prefix { $0.role != .user }
                return after.contains { $0.role == .assistant && prompt.end?.isShown(by: $0) == true }
            }
            guard !places.isEmpty else { continue }
            start = places[replied ?? 0] + 1
            doubtful -= replied ?? 0
        }
        return start
    }

    /// Gateways put a time in front of what people say, and leave white space out.
    private static func isSame(_ row: String, _ message: String) -> Bool {
        func words(_ text: String) -> [Substring.UTF8View] {
            text.utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
        }
        let (shown, sent) = (words(row), words(message))
        guard shown.count >= sent.count, !sent.isEmpty else { return false }
        return zip(shown.suffix(sent.count), sent).allSatisfy { $0.elementsEqual($1) }
    }
}

/// A prompt that Belfry sent into a session, as far as it must be known again in the session's history.
package struct SentPrompt: Hashable, Sendable {
    /// The key of the session.
    package var session: String
    /// How many words it has, and what they come to.
    package var count: Int
    package var mark: UInt64
    /// When it was sent.
    package var at: Moment
    /// Whether the gateway is known to have taken it.
    package var isTaken = false
    /// How it ended; nil: it has not, as far as is known.
    package var end: End?

    /// The end of a prompt: what came after it is no part of its reply.
    package struct End: Hashable, Sendable {
        /// When it was known here.
        package var at: Moment
        /// How many words the reply has, and what they come to; nil: there was none.
        package var count: Int?
        package var mark: UInt64?

        /// The end with this reply, if there is one.
        package init(_ reply: String?, at moment: Moment) {
            at = moment
            let words = SentPrompt.words(reply ?? "")
            if !words.isEmpty { (count, mark) = (words.count, SentPrompt.mark(words[...])) }
        }

        /// Whether a message of the agent is all of the reply.
        func isShown(by row: HistoryRow) -> Bool {
            let words = SentPrompt.words(row.text)
            return words.count == count && SentPrompt.mark(words[...]) == mark
        }
    }

    /// A prompt that is sent now.
    package init(_ text: String, to session: String, at moment: Moment) {
        let words = Self.words(text)
        (self.session, at) = (session, moment)
        (count, mark) = (words.count, Self.mark(words[...]))
    }

    /// The prompt with its times as a clock that is so far ahead of ours shows them.
    func shown(byClockAhead ahead: Duration) -> SentPrompt {
        var prompt = self
        prompt.at = at + ahead
        prompt.end?.at = (end?.at ?? at) + ahead
        return prompt
    }

    /// Whether a message of the history is this prompt: gateways put a time in front of what people say.
    func isShown(by row: HistoryRow) -> Bool {
        let words = Self.words(row.text)
        guard words.count >= count, count > 0 else { return false }
        guard row.at.map({ $0 >= at - RunRecovery.tolerance }) ?? true else { return false }
        return Self.mark(words.suffix(count)) == mark
    }

    fileprivate static func words(_ text: String) -> [Substring.UTF8View] {
        text.utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }

    fileprivate static func mark(_ words: ArraySlice<Substring.UTF8View>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for word in words {
            for byte in word { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0x20) &* 0x100_0000_01B3
        }
        return hash
    }
}

extension SentPrompt {
    /// The prompt as a file keeps it.
    package var json: JSON {
        .object([
            "session": .string(session), "words": .int(count), "mark": .string(String(mark)),
            "at": .int(at.microseconds), "isTaken": .bool(isTaken), "end": end.map(\.json),
        ])
    }

    /// A prompt of a file; nil where it is none.
    package init?(_ json: JSON) {
        guard let session = json["session"]?.text, let count = json["words"]?.int,
            let mark = json["mark"]?.text.flatMap(UInt64.init), let at = json["at"]?.int
        else { return nil }
        (self.session, self.count, self.mark) = (session, count, mark)
        self.at = Moment(microseconds: Int64(at))
        isTaken = json["isTaken"] == .bool(true)
        end = json["end"].flatMap { End($0) }
    }
}

extension SentPrompt.End {
    fileprivate var json: JSON {
        .object([
            "at": .int(at.microseconds), "words": count.map { .int($0) },
            "mark": mark.map { .string(String($0)) },
        ])
    }

    fileprivate init?(_ json: JSON) {
        guard let at = json["at"]?.int else { return nil }
        self.at = Moment(microseconds: Int64(at))
        (count, mark) = (json["words"]?.int, json["mark"]?.text.flatMap(UInt64.init))
    }
}

/// Finds in the history of a session what was said there by others than Belfry.
///
/// Pure: the history and what Belfry sent in, what is new out. A reply belongs to the message before it.
package struct SessionSync: Hashable, Sendable {
    /// Something that was said elsewhere.
    package struct Saying: Hashable, Sendable {
        /// What identifies it, the same each time.
        package var id: String
        /// Whether the agent said it; a person did otherwise.
        package var isOfAgent: Bool
        package var text: String
        package var at: Moment
    }

    /// How much of a history that was never looked at is taken over.
    static let first = 20
    /// The newest message that was looked at, and those of its moment.
    private var last: Moment?
    private var seen: Set<String> = []

    /// Nothing was looked at.
    package init() {}

    /// What is new in the history.
    ///
    /// A message that is not settled, because the gateway is at work on what it answers, is left for the next time.
    /// - Parameters:
    ///   - history: the session, with the gateway's times.
    ///   - sent: what Belfry sent into it, with ours.
    ///   - ahead: how far the gateway's clock is ahead of ours.
    /// - Returns: what others said there and is new.
    package mutating func review(
        _ history: SessionHistory, sent: [SentPrompt], ahead: Duration = .zero
    ) -> [Saying] {
        let sent = sent.map { $0.shown(byClockAhead: ahead) }
        // What was sent before all that the history shows is not in it: it would only hide the same words, said later.
        let begin = history.rows.lazy.compactMap(\.at).first ?? .distantPast
        var open = sent.filter { $0.at >= begin - RunRecovery.tolerance }
        // The prompt that is answered, and when the gateway has it that it was asked.
        var own: (prompt: SentPrompt, at: Moment)?
        var new: [Saying] = []
        var isCutOff = true
        let isFirst = last == nil
        for row in history.rows {
            guard let at = row.at, !row.text.isEmpty, row.role != .other else { continue }
            if row.role == .user {
                let place = open.firstIndex { $0.isShown(by: row) }
                own = place.map { (open.remove(at: $0), at) }
                isCutOff = false
            } else if let (prompt, asked) = own, let end = prompt.end,
                at - asked > end.at - prompt.at + RunRecovery.tolerance
            {
                // Spans are compared: the clocks may differ by more than is known.
                own = nil
            }
            // What stands before the first message of a person answers one that the history does not show.
            let isOwn = own != nil || isCutOff && sent.contains { $0.end?.isShown(by: row) == true }
            // What the agent says after its reply is a note of its own.
            if row.role == .assistant, own?.prompt.end?.isShown(by: row) == true { own = nil }
            let id = row.id ?? "\(at.microseconds)"
            guard isNew(at, id) else { continue }
            if at > last ?? .distantPast { (last, seen) = (at, []) }
            seen.insert(id)
            guard !isOwn else { continue }
            new.append(Saying(id: id, isOfAgent: row.role == .assistant, text: row.text, at: at))
        }
        return isFirst ? new.suffix(Self.first) : new
    }

    private func isNew(_ at: Moment, _ id: String) -> Bool {
        guard let last else { return true }
        return at > last || at == last && !seen.contains(id)
    }
}

extension SessionSync {
    /// How far it is, to be kept.
    package var json: JSON {
        .object([
            "last": last.map { .int($0.microseconds) },
            "seen": .array(seen.sorted().map { .string($0) }),
        ])
    }

    /// What was kept; nil where it is none.
    package init?(_ json: JSON) {
        guard case .members = json else { return nil }
        last = json["last"]?.int.map { Moment(microseconds: Int64($0)) }
        seen = Set((json["seen"]?.elements ?? []).compactMap(\.text))
    }
}
