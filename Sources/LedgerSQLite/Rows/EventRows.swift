import Delivery
import GRDB
import Grouping
import Ledger
import Timeline
import Tracking

/// Events, and how far each consumer has read them.
struct EventRows {
    private let insert: Prepared
    private let moveCursor: Prepared
    private let addCursor: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO event (seq, type, at, reason, job, run, bot, subject, channel, payload)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, in: database)
        moveCursor = try Prepared("UPDATE consumer SET seq = ? WHERE name = ? AND seq = ?", in: database)
        addCursor = try Prepared(
            "INSERT INTO consumer (seq, name) VALUES (?, ?) ON CONFLICT DO NOTHING", in: database)
    }

    func append(_ event: NewEvent, numbered seq: Int64) throws(StoreFailure) {
        let columns = event.fact.columns
        var payload = ""
        if let value = event.fact.payload { payload = try JSONText.encode(value) }
        try insert.run {
            $0.put(seq)
            $0.put(event.type)
            $0.put(event.at)
            $0.put(columns.reason)
            $0.put(columns.job)
            $0.put(columns.run)
            $0.put(columns.bot)
            $0.put(columns.subject)
            $0.put(columns.channel)
            $0.put(payload)
        }
    }

    func moveConsumer(_ name: String, from old: Int64, to new: Int64) throws(StoreFailure) {
        let moved = try moveCursor.run {
            $0.put(new)
            $0.put(name)
            $0.put(old)
        }
        if moved > 0 { return }
        // One that never read stands at 0.
        let added =
            try old != 0
            ? 0
            : addCursor.run {
                $0.put(new)
                $0.put(name)
            }
        if added == 0 { throw .fenced }
    }
}

extension EventRows {
    private static let cursorQuery = "SELECT seq FROM consumer WHERE name = ?"

    static func events(after seq: Int64, limit: Int, in database: Database) throws(StoreFailure)
        -> [EventRecord]
    {
        let statement = try Prepared(
            """
            SELECT seq, type, at, reason, job, run, bot, subject, channel, payload
            FROM event WHERE seq > ? ORDER BY seq LIMIT ?
            """, in: database)
        return try statement.all({
            $0.put(seq)
            $0.put(limit)
        }) { row in record(from: &row) }
    }

    static func events(
        of types: Set<EventType>, after seq: Int64, limit: Int, in database: Database
    ) throws(StoreFailure) -> [EventRecord] {
        let words = try JSONText.encode(types.map(\.rawValue).sorted())
        return try Prepared(
            """
            SELECT seq, type, at, reason, job, run, bot, subject, channel, payload
            FROM event WHERE seq > ? AND type IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?
            """, in: database
        ).all({
            $0.put(seq)
            $0.put(words)
            $0.put(limit)
        }) { row in record(from: &row) }
    }

    /// The newest `limit` about something, oldest first.
    static func events(
        about subject: EventSubject, limit: Int, in database: Database
    ) throws(StoreFailure) -> [EventRecord] {
        let (column, value) =
            switch subject {
            case .job(let name): ("job", name)
            case .run(let id): ("run", id)
            case .subject(let text): ("subject", text)
            }
        return try Prepared(
            """
            SELECT seq, type, at, reason, job, run, bot, subject, channel, payload
            FROM event WHERE \(column) = ? ORDER BY seq DESC LIMIT ?
            """, in: database
        ).all({
            $0.put(value)
            $0.put(limit)
        }) { row in record(from: &row) }.reversed()
    }

    static func events(numbered numbers: [Int64], in database: Database) throws(StoreFailure) -> [EventRecord]
    {
        let list = try JSONText.encode(numbers)
        return try Prepared(
            """
            SELECT seq, type, at, reason, job, run, bot, subject, channel, payload
            FROM event WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq
            """, in: database
        ).all({ $0.put(list) }) { row in record(from: &row) }
    }

    /// A row as a fact; what can't be read of it must not stop those that follow the events.
    private static func record(from row: inout Columns) -> EventRecord {
        let seq = row.integer()
        let word = row.text()
        let type = EventType(rawValue: word)
        let at = row.moment()
        let columns = FactColumns(
            reason: row.optionalText(), job: row.optionalText(), run: row.optionalText(),
            bot: row.optionalText(), subject: row.optionalText(), channel: row.optionalText())
        var payload = StoredPayload(text: row.text())
        let fact = Fact(type ?? .unknown, columns, from: &payload)
        return EventRecord(
            seq: seq, event: NewEvent(fact, at: at),
            fault: type == nil ? "\"\(word)\" is not a known type" : payload.fault)
    }

    /// The newest event's number; it is never removed, so that no number is given twice.
    static func last(in database: Database) throws(StoreFailure) -> Int64 {
        try Prepared("SELECT max(seq) FROM event", in: database).first { row in row.integer() } ?? 0
    }

    static func cursor(of consumer: String, in database: Database) throws(StoreFailure) -> Int64 {
        try Prepared(cursorQuery, in: database).first({ $0.put(consumer) }) { row in row.integer() } ?? 0
    }
}

/// The JSON of an event's payload.
private struct StoredPayload: FactPayloadSource {
    let text: String
    /// Why it can't be read.
    var fault: String?

    mutating func payload<Payload: Decodable>(_: Payload.Type) -> Payload? {
        guard !text.isEmpty else { return nil }
        do {
            return try JSON.decode(from: text.utf8)
        } catch {
            fault = "\(error)"
            return nil
        }
    }
}

/// What was decided about events, channel by channel.
struct VerdictRows {
    private let insert: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT OR REPLACE INTO verdict (event, channel, item, at, action, stage, reason, until, rule)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, in: database)
    }

    func insert(_ verdicts: [VerdictRecord]) throws(StoreFailure) {
        for verdict in verdicts {
            try insert.run {
                $0.put(verdict.event)
                $0.put(verdict.channel)
                $0.put(verdict.item)
                $0.put(verdict.at)
                $0.put(verdict.action)
                $0.put(verdict.stage)
                $0.put(verdict.reason)
                $0.put(verdict.until)
                $0.put(verdict.rule)
            }
        }
    }
}

extension VerdictRows {
    private static let query = """
        SELECT event, channel, item, at, action, stage, reason, until, rule FROM verdict
        """

    static func verdicts(on events: [Int64], in database: Database) throws(StoreFailure) -> [VerdictRecord] {
        let numbers = try JSONText.encode(events)
        return try Prepared(
            query + " WHERE event IN (SELECT value FROM json_each(?)) ORDER BY event, channel", in: database
        ).all({ $0.put(numbers) }, record)
    }

    static func verdicts(
        onItem key: String, from event: Int64, newest: Bool, limit: Int, in database: Database
    ) throws(StoreFailure) -> [VerdictRecord] {
        let order = newest ? "DESC" : "ASC"
        let found = try Prepared(
            query + " WHERE event >= ? AND item = ? ORDER BY event \(order), channel \(order) LIMIT ?",
            in: database
        ).all(
            {
                $0.put(event)
                $0.put(key)
                $0.put(limit)
            }, record)
        return newest ? found.reversed() : found
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> VerdictRecord {
        VerdictRecord(
            event: row.integer(), channel: row.text(), item: row.optionalText(), at: row.moment(),
            action: try row.word(), stage: try row.word(), reason: row.text(), until: row.optionalMoment(),
            rule: row.optionalText())
    }
}

/// Events and messages that the open transaction wrote: its turns get them from here instead of reading them back.
///
/// Belongs to the writer. What may no longer be as it was written is forgotten, and is read then.
final class FreshRows {
    /// The newest events, without a gap.
    private var events: [EventRecord] = []
    private var messages: [String: MessageRecord] = [:]

    func add(_ event: NewEvent, numbered seq: Int64) {
        if let last = events.last, last.seq + 1 != seq { events = [] }
        events.append(EventRecord(seq: seq, event: event))
    }

    func add(_ message: MessageRecord) { messages[message.message.id] = message }

    /// Nothing is known: a transaction begins, or a list was undone.
    func forget() {
        events.removeAll(keepingCapacity: events.capacity <= 1024)
        messages.removeAll(keepingCapacity: messages.capacity <= 1024)
    }

    /// Forgets what `change` may touch.
    func forget(by change: Change) {
        switch change {
        case .markRead, .pinMessage, .giveMessages, .answerMessages, .beginSession, .react, .insertAttachment,
            .removeRun, .removeHistory:
            forget()
        default: break
        }
    }

    /// The events after `seq`, at most `limit`; nil: some of them are not known here.
    func events(after seq: Int64, limit: Int) -> [EventRecord]? {
        guard let first = events.first, first.seq <= seq + 1 else { return nil }
        return Array(events.dropFirst(Int(seq + 1 - first.seq)).prefix(limit))
    }

    /// The message of that id; nil: it is not known here.
    func message(_ id: String) -> MessageRecord? { messages[id] }
}
