import GRDB
import Ledger
import Timeline
import Tracking

/// Bots: what they used month by month, and how they were found last.
struct BotRows {
    private let add: Prepared
    private let replied: Prepared
    private let answered: Prepared
    private let failed: Prepared
    private let note: Prepared
    private let insert: Prepared
    private let update: Prepared
    private let delete: Prepared

    init(in database: Database) throws(StoreFailure) {
        add = try Prepared(
            """
            INSERT INTO bot_month (bot, month, replies, input, cached, output, cost)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (bot, month) DO UPDATE SET replies = replies + excluded.replies,
                input = input + excluded.input, cached = cached + excluded.cached,
                output = output + excluded.output,
                cost = CASE WHEN excluded.cost IS NULL THEN cost
                    ELSE coalesce(cost, 0) + excluded.cost END
            """, in: database)
        replied = try Prepared(
            """
            INSERT INTO bot_state (name, replied_at, first_word, whole) VALUES (?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET replied_at = excluded.replied_at,
                first_word = excluded.first_word, whole = excluded.whole
            """, in: database)
        answered = try Prepared(
            """
            INSERT INTO bot_state (name, replied_at) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET replied_at = excluded.replied_at
            """, in: database)
        failed = try Prepared(
            """
            INSERT INTO bot_state (name, failed_at, reason, failure) VALUES (?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET failed_at = excluded.failed_at, reason = excluded.reason,
                failure = excluded.failure
            """, in: database)
        note = try Prepared(
            "INSERT INTO bot_state (name, note) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET note = excluded.note",
            in: database)
        insert = try Prepared(
            "INSERT INTO bot (settings, revision, name) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
            in: database)
        update = try Prepared(
            "UPDATE bot SET settings = ?, revision = ? WHERE name = ? AND revision = ?", in: database)
        delete = try Prepared("DELETE FROM bot WHERE name = ? AND revision = ?", in: database)
    }

    func put(_ bot: BotEntry, replacing old: Int?) throws(StoreFailure) {
        let settings = String(decoding: bot.settings.bytes, as: UTF8.self)
        try (old == nil ? insert : update).change {
            $0.put(settings)
            $0.put(bot.revision)
            $0.put(bot.name)
            if let old { $0.put(old) }
        }
    }

    func remove(_ name: String, revision: Int) throws(StoreFailure) {
        try delete.change {
            $0.put(name)
            $0.put(revision)
        }
    }

    func record(_ reply: BotReply) throws(StoreFailure) {
        var month = BotMonth(bot: reply.bot, month: reply.month)
        month.apply(reply)
        try add.run {
            $0.put(month.bot)
            $0.put(month.month)
            $0.put(month.replies)
            $0.put(month.usage.inputTokens)
            $0.put(month.usage.cachedTokens)
            $0.put(month.usage.outputTokens)
            $0.put(month.usage.costMicros)
        }
        switch reply.outcome {
        case .replied(let first, let whole):
            try replied.run {
                $0.put(reply.bot)
                $0.put(reply.at)
                $0.put(first)
                $0.put(whole)
            }
        case .answered:
            try answered.run {
                $0.put(reply.bot)
                $0.put(reply.at)
            }
        case .failed(let reason, let text):
            try failed.run {
                $0.put(reply.bot)
                $0.put(reply.at)
                $0.put(reason)
                $0.put(text)
            }
        case .canceled: break
        }
    }
}

extension BotRows {
    func put(_ record: BotNote, of name: String) throws(StoreFailure) {
        let text = try JSONText.encode(record)
        try note.run {
            $0.put(name)
            $0.put(text)
        }
    }

    static func bots(in database: Database) throws(StoreFailure) -> [BotRecord] {
        let columns = "name, replied_at, first_word, whole, failed_at, reason, failure, note"
        return try Prepared("SELECT \(columns) FROM bot_state ORDER BY name", in: database)
            .all { row throws(StoreFailure) in
                var bot = BotRecord(name: row.text())
                let replied = row.optionalMoment()
                let (first, whole) = (row.optionalDuration(), row.optionalDuration())
                bot.lastSuccess = replied.map { BotRecord.Success(at: $0, first: first, whole: whole) }
                let failed = row.optionalMoment()
                let reason: RunReason? = try row.optionalWord()
                let text = row.optionalText()
                if let failed, let reason {
                    bot.lastFailure = BotRecord.Failure(at: failed, reason: reason, text: text)
                }
                if let note = row.optionalText() { bot.note = try JSONText.decode(note) }
                return bot
            }
    }

    static func entries(in database: Database) throws(StoreFailure) -> [BotEntry] {
        try Prepared("SELECT name, revision, settings FROM bot ORDER BY name", in: database)
            .all { row throws(StoreFailure) in
                let (name, revision, text) = (row.text(), row.int(), row.text())
                guard let settings = JSON(parsing: Array(text.utf8)[...]) else {
                    throw .unreadable("the settings of bot \(name) can't be read")
                }
                var entry = BotEntry(name: name, settings: settings)
                entry.revision = revision
                return entry
            }
    }

    static func months(of bot: String?, in database: Database) throws(StoreFailure) -> [BotMonth] {
        try Prepared(
            """
            SELECT bot, month, replies, input, cached, output, cost FROM bot_month
            WHERE ?1 IS NULL OR bot = ?1 ORDER BY bot, month
            """, in: database
        ).all({ $0.put(bot) }) { row in
            var month = BotMonth(bot: row.text(), month: row.text(), replies: row.int())
            month.usage = BotUsage(
                inputTokens: row.int(), cachedTokens: row.int(), outputTokens: row.int(),
                costMicros: row.optionalInteger())
            return month
        }
    }
}
