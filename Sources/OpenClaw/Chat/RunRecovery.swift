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

/// Decides what became of a prompt that was perhaps sent: after a lost connection, or a crash of either side.
///
/// Pure: what the gateway shows in, what to do out. Nothing is sent again unless the gateway shows that it never arrived.
package enum RunRecovery: Hashable, Sendable {
    /// The gateway is at work on it.
    case isRunning
    /// It ended with this reply.
    case replied(String)
    /// It failed.
    case failed(String)
    /// The gateway has ended it, or was itself ended, and has no reply.
    case lost
    /// It never arrived.
    case neverSent

    /// How far the clocks of both sides may differ beyond what is known.
    static let tolerance = Duration.seconds(120)

    /// What became of the run `key`, which was to send `message` at `sent`.
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
            self = wait == .ok ? .replied("") : isBeforeAll ? .lost : .neverSent
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
    private static func end(
        of earlier: [SentPrompt], before sent: Moment, in history: SessionHistory
    ) -> Int {
        earlier.filter { $0.isTaken && $0.at < sent }.reduce(0) { start, prompt in
            let row = history.rows[start...].firstIndex { row in
                row.role == .user && prompt.isShown(by: row)
                    && row.at.map { $0 <= prompt.at + tolerance } ?? false
            }
            return row.map { $0 + 1 } ?? start
        }
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
