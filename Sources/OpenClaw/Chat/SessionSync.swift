package import Timeline
package import Tracking

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

    /// A prompt that is sent now.
    package init(_ text: String, to session: String, at moment: Moment) {
        let words = Self.words(text)
        (self.session, at) = (session, moment)
        (count, mark) = (words.count, Self.mark(words[...]))
    }

    /// Whether a message of the history is this prompt: gateways put a time in front of what people say.
    func isShown(by row: HistoryRow) -> Bool {
        let words = Self.words(row.text)
        guard words.count >= count, count > 0 else { return false }
        guard row.at.map({ $0 >= at - RunRecovery.tolerance }) ?? true else { return false }
        return Self.mark(words.suffix(count)) == mark
    }

    private static func words(_ text: String) -> [Substring.UTF8View] {
        text.utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
    }

    private static func mark(_ words: ArraySlice<Substring.UTF8View>) -> UInt64 {
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
            "at": .int(at.microseconds), "isTaken": .bool(isTaken),
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
    package mutating func review(_ history: SessionHistory, sent: [SentPrompt]) -> [Saying] {
        var open = sent
        var (isOwn, new) = (false, [Saying]())
        let isFirst = last == nil
        for row in history.rows {
            guard let at = row.at, !row.text.isEmpty, row.role != .other else { continue }
            if row.role == .user {
                let place = open.firstIndex { $0.isShown(by: row) }
                isOwn = place != nil
                if let place { open.remove(at: place) }
            }
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
