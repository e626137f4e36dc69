import GRDB
import Ledger
import Timeline
import Tracking

/// How far conversations are, reactions, and files that came with messages.
struct ConversationRows {
    private let give: Prepared
    private let mark: Prepared
    private let answer: Prepared
    private let show: Prepared
    private let keep: Prepared
    private let summarize: Prepared
    private let begin: Prepared
    private let react: Prepared
    private let attach: Prepared

    init(in database: Database) throws(StoreFailure) {
        give = try Prepared(
            """
            INSERT INTO conversation (bot, thread, cursor, given, given_at, since) VALUES (?, ?, 0, ?, ?, 0)
            ON CONFLICT (bot, thread) DO UPDATE SET given = excluded.given, given_at = excluded.given_at
            """, in: database)
        mark = try Prepared(
            """
            UPDATE message SET asked_run = ?4
            WHERE bot = ?1 AND thread = ?2 AND author = 'user' AND asked_run IS NOT 'elsewhere'
                AND number <= ?3 AND number >
                (SELECT cursor FROM conversation WHERE bot = ?1 AND thread = ?2)
            """, in: database)
        answer = try Prepared(
            "UPDATE conversation SET cursor = given WHERE bot = ? AND thread = ?", in: database)
        show = try Prepared(
            """
            UPDATE reaction SET shown = 1 WHERE shown = 0
                AND at <= (SELECT given_at FROM conversation WHERE bot = ?1 AND thread = ?2)
                AND message IN (SELECT id FROM message WHERE bot = ?1 AND thread = ?2)
            """, in: database)
        keep = try Prepared(
            """
            UPDATE conversation SET continuation = ?3, known = coalesce(
                (SELECT max(number) FROM message WHERE bot = ?1 AND thread = ?2), 0)
            WHERE bot = ?1 AND thread = ?2 AND given > since
            """, in: database)
        summarize = try Prepared(
            """
            INSERT INTO conversation (bot, thread, cursor, given, given_at, since, summary, summarized)
            VALUES (?, ?, 0, 0, 0, 0, ?, ?)
            ON CONFLICT (bot, thread) DO UPDATE SET summary = excluded.summary, summarized = excluded.summarized
            WHERE since < excluded.summarized AND summarized < excluded.summarized
            """, in: database)
        begin = try Prepared(
            """
            INSERT INTO conversation (bot, thread, cursor, given, given_at, since)
            SELECT bot, thread, 0, 0, 0, max(number) FROM message WHERE bot = ? GROUP BY bot, thread
            ON CONFLICT (bot, thread) DO UPDATE SET since = excluded.since, continuation = NULL,
                summary = NULL, summarized = 0, cursor = max(cursor, min(given, excluded.since))
            """, in: database)
        react = try Prepared(
            """
            INSERT INTO reaction (message, word, at, shown)
            SELECT ?1, ?2, ?3, 0 WHERE EXISTS (SELECT 1 FROM message WHERE id = ?1)
            ON CONFLICT (message, word) DO NOTHING
            """, in: database)
        attach = try Prepared(
            """
            INSERT INTO attachment (message, name, bytes, content)
            SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM message WHERE id = ?1) ON CONFLICT DO NOTHING
            """, in: database)
    }

    func give(
        bot: String, thread: String, run: String, through number: Int64, at moment: Moment
    ) throws(StoreFailure) {
        try give.run {
            $0.put(bot)
            $0.put(thread)
            $0.put(number)
            $0.put(moment)
        }
        try mark.run {
            $0.put(bot)
            $0.put(thread)
            $0.put(number)
            $0.put(run)
        }
    }

    func answer(bot: String, thread: String) throws(StoreFailure) {
        for statement in [answer, show] {
            try statement.run {
                $0.put(bot)
                $0.put(thread)
            }
        }
    }

    func keep(_ session: SessionOutcome, bot: String, thread: String) throws(StoreFailure) {
        var text: String?
        if case .kept(let continuation) = session { text = try JSONText.encode(continuation) }
        try keep.run {
            $0.put(bot)
            $0.put(thread)
            $0.put(text)
        }
    }

    func keep(summary: String, through number: Int64, bot: String, thread: String) throws(StoreFailure) {
        try summarize.run {
            $0.put(bot)
            $0.put(thread)
            $0.put(summary)
            $0.put(number)
        }
    }

    func beginSession(bot: String) throws(StoreFailure) { try begin.run { $0.put(bot) } }

    func react(_ reaction: ReactionRecord) throws(StoreFailure) {
        try react.run {
            $0.put(reaction.message)
            $0.put(reaction.word)
            $0.put(reaction.at)
        }
    }

    func attach(_ note: AttachmentNote, _ content: [UInt8], to message: String) throws(StoreFailure) {
        try attach.run {
            $0.put(message)
            $0.put(note.name)
            $0.put(note.bytes)
            $0.put(content)
        }
    }
}

extension ConversationRows {
    private static let query = "SELECT number, \(TalkRows.messageColumns) FROM message"

    static func messages(
        bot: String, thread: String, after number: Int64, limit: Int, in database: Database
    ) throws(StoreFailure) -> [NumberedMessage] {
        try messages(of: bot, thread, "number > ? ORDER BY number DESC LIMIT ?", number, limit, in: database)
    }

    static func said(
        bot: String, thread: String, after number: Int64, limit: Int, in database: Database
    ) throws(StoreFailure) -> [NumberedMessage] {
        try messages(
            of: bot, thread,
            "author = 'user' AND asked_run IS NOT 'elsewhere' AND number > ? ORDER BY number LIMIT ?", number,
            limit, in: database)
    }

    /// Those of a thread for which the rest of the condition holds, with a number and a limit in it.
    private static func messages(
        of bot: String, _ thread: String, _ rest: String, _ number: Int64, _ limit: Int,
        in database: Database
    ) throws(StoreFailure) -> [NumberedMessage] {
        try Prepared("\(query) WHERE bot = ? AND thread = ? AND \(rest)", in: database).all(
            {
                $0.put(bot)
                $0.put(thread)
                $0.put(number)
                $0.put(limit)
            }, message)
    }

    static func conversation(
        bot: String, thread: String, in database: Database
    ) throws(StoreFailure) -> ConversationRecord? {
        try Prepared(
            """
            SELECT cursor, given, since, known, continuation, summary, summarized FROM conversation
            WHERE bot = ? AND thread = ?
            """, in: database
        ).first({
            $0.put(bot)
            $0.put(thread)
        }) { row throws(StoreFailure) in
            var record = ConversationRecord(
                bot: bot, thread: thread, cursor: row.integer(), given: row.integer(), since: row.integer())
            record.known = row.integer()
            if let text = row.optionalText() { record.continuation = try JSONText.decode(text) }
            record.summary = row.optionalText()
            record.summarized = row.integer()
            return record
        }
    }

    static func unasked(in database: Database) throws(StoreFailure) -> [UnaskedThread] {
        try Prepared(
            """
            SELECT open.bot, open.thread, open.oldest, message.id FROM (
                SELECT bot, thread, min(number) AS oldest, max(number) AS latest
                FROM message INDEXED BY message_unasked
                WHERE author = 'user' AND asked_run IS NULL GROUP BY bot, thread) AS open
            JOIN message ON message.number = open.latest ORDER BY open.bot, open.thread
            """, in: database
        ).all { row in
            UnaskedThread(
                bot: row.text(), thread: row.text(), first: row.integer(), newest: row.text())
        }
    }

    static func newReactions(
        bot: String, thread: String, in database: Database
    ) throws(StoreFailure) -> [ReactionRecord] {
        try Prepared(
            """
            SELECT reaction.message, reaction.word, reaction.at FROM reaction INDEXED BY reaction_new
            JOIN message ON message.id = reaction.message
            WHERE reaction.shown = 0 AND message.bot = ? AND message.thread = ? ORDER BY reaction.number
            """, in: database
        ).all({
            $0.put(bot)
            $0.put(thread)
        }) { row in ReactionRecord(message: row.text(), word: row.text(), at: row.moment()) }
    }

    static func attachment(of message: String, in database: Database) throws(StoreFailure) -> [UInt8]? {
        try Prepared("SELECT content FROM attachment WHERE message = ?", in: database)
            .first({ $0.put(message) }) { row in row.bytes() }
    }

    static func mentions(
        after number: Int64, limit: Int, in database: Database
    ) throws(StoreFailure) -> (messages: [NumberedMessage], last: Int64) {
        let messages = try Prepared(
            query + " WHERE number > ? AND instr(text, '@') > 0 ORDER BY number LIMIT ?", in: database
        ).all(
            {
                $0.put(number)
                $0.put(limit)
            }, message)
        let last = try Prepared("SELECT max(number) FROM message", in: database)
            .first { row in row.optionalInteger() ?? 0 }
        return (messages, last ?? 0)
    }

    private static func message(from row: inout Columns) throws(StoreFailure) -> NumberedMessage {
        let number = row.integer()
        return NumberedMessage(number: number, record: try TalkRows.message(from: &row))
    }
}
