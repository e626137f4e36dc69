import GRDB
import Grouping
import Ledger
import Timeline

/// Messages, and the items they become.
struct TalkRows {
    private let insert: Prepared
    private let read: Prepared
    private let pin: Prepared
    private let addItem: Prepared
    private let putItem: Prepared
    private let rewriteItem: Prepared

    init(in database: Database) throws(StoreFailure) {
        insert = try Prepared(
            """
            INSERT INTO message (id, bot, thread, author, text, at, urgency, title, appearance, replace_key,
                run_name, read, pinned, run, reply_to,
                asked_run, sender, hops)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
            """, in: database)
        read = try Prepared(
            "UPDATE message SET read = 1 WHERE bot = ? AND thread = ? AND at <= ? AND read = 0", in: database)
        pin = try Prepared("UPDATE message SET pinned = ? WHERE id = ?", in: database)
        addItem = try Prepared(
            "INSERT INTO item (revision, state, flush_at, updated_at, key) VALUES (?, ?, ?, ?, ?)",
            in: database)
        putItem = try Prepared(
            """
            UPDATE item SET revision = ?, state = ?, flush_at = ?, updated_at = ?
            WHERE key = ? AND revision = ?
            """, in: database)
        // Of an item that continues to wait for the same moment the index stays as it is.
        rewriteItem = try Prepared(
            "UPDATE item SET revision = ?, state = ?, updated_at = ? WHERE key = ? AND revision = ? AND flush_at IS ?",
            in: database)
    }

    /// Returns false when a message of that id is there already.
    func insert(_ record: MessageRecord) throws(StoreFailure) -> Bool {
        let message = record.message
        let appearance =
            message.appearance == Appearance() ? Self.plain : try JSONText.encode(message.appearance)
        let changed = try insert.run {
            $0.put(message.id)
            $0.put(message.bot)
            $0.put(message.thread)
            $0.put(message.author)
            $0.put(message.text)
            $0.put(message.at)
            $0.put(message.urgency)
            $0.put(message.title)
            $0.put(appearance)
            $0.put(message.replaceKey)
            $0.put(message.run)
            $0.put(record.read)
            $0.put(record.pinned)
            $0.put(record.run)
            $0.put(record.replyTo)
            $0.put(record.askedRun)
            $0.put(record.sender)
            $0.put(record.hops)
        }
        return changed > 0
    }

    func markRead(bot: String, thread: String, through: Moment) throws(StoreFailure) {
        try read.run {
            $0.put(bot)
            $0.put(thread)
            $0.put(through)
        }
    }

    func pin(_ id: String, _ isPinned: Bool) throws(StoreFailure) {
        try pin.run {
            $0.put(isPinned)
            $0.put(id)
        }
    }

    func put(_ item: ItemRecord, replacing old: Int64?) throws(StoreFailure) {
        if let old, try rewrite(item, replacing: old) { return }
        let statement = old == nil ? addItem : putItem
        try statement.change {
            $0.put(item.revision)
            $0.put(item.state)
            $0.put(item.flushAt)
            $0.put(item.updatedAt)
            $0.put(item.key.description)
            if let old { $0.put(old) }
        }
    }
}

extension TalkRows {
    /// The appearance of most messages.
    private static let plain = "{}"

    /// Whether it was there with the same moment to wake it.
    private func rewrite(_ item: ItemRecord, replacing old: Int64) throws(StoreFailure) -> Bool {
        let changed = try rewriteItem.run {
            $0.put(item.revision)
            $0.put(item.state)
            $0.put(item.updatedAt)
            $0.put(item.key.description)
            $0.put(old)
            $0.put(item.flushAt)
        }
        return changed > 0
    }

    /// The columns of a message.
    static let messageColumns = """
        id, bot, thread, author, text, at, urgency, title, appearance, replace_key, run_name, read,
            pinned, run, reply_to, asked_run, sender, hops,
            (SELECT json_group_array(word) FROM (
                SELECT word FROM reaction WHERE reaction.message = message.id ORDER BY number)),
            (SELECT json_object('name', name, 'bytes', bytes) FROM attachment
                WHERE attachment.message = message.id)
        """
    static let messageQuery = "SELECT \(messageColumns) FROM message"
    private static let itemQuery = "SELECT key, revision, state, flush_at, updated_at FROM item"

    static func message(id: String, in database: Database) throws(StoreFailure) -> MessageRecord? {
        try Prepared(messageQuery + " WHERE id = ?", in: database).first({ $0.put(id) }, message)
    }

    static func messages(
        bot: String?, search: String?, since: Moment?, limit: Int, in database: Database
    ) throws(StoreFailure) -> [MessageRecord] {
        var query = messageQuery + " WHERE true"
        if bot != nil { query += " AND bot = ?2" }
        if search != nil { query += " AND \(TextSearch.name)(text, ?3)" }
        if since != nil { query += " AND at >= ?4" }
        return try Prepared(query + " ORDER BY number DESC LIMIT ?1", in: database).all(
            {
                $0.put(limit)
                $0.put(bot)
                $0.put(search.map(TextSearch.folded))
                $0.put(since)
            }, message)
    }

    static func unread(in database: Database) throws(StoreFailure) -> [String: Int] {
        let counts = try Prepared(
            "SELECT bot, count(*) FROM message INDEXED BY message_unread WHERE read = 0 GROUP BY bot",
            in: database
        )
        .all { row in (row.text(), row.int()) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    static func messages(
        ids: some Collection<String>, in database: Database
    ) throws(StoreFailure) -> [MessageRecord] {
        guard !ids.isEmpty else { return [] }
        let statement = try Prepared(messageQuery + " WHERE id = ?", in: database)
        var found: [MessageRecord] = []
        for id in ids {
            if let message = try statement.first({ $0.put(id) }, message) { found.append(message) }
        }
        return found
    }

    /// The ids of the pinned messages of these threads.
    static func pinned(
        in threads: some Collection<ItemKey>, _ database: Database
    ) throws(StoreFailure) -> [String] {
        guard !threads.isEmpty else { return [] }
        let statement = try Prepared(
            "SELECT id FROM message WHERE bot = ? AND thread = ? AND pinned = 1", in: database)
        var pinned: [String] = []
        for case .thread(let bot, let thread) in threads {
            pinned += try statement.all({
                $0.put(bot)
                $0.put(thread)
            }) { row in row.text() }
        }
        return pinned
    }

    /// The newest unread messages of each of these threads.
    static func unread(
        in threads: some Collection<ItemKey>, limit: Int, _ database: Database
    ) throws(StoreFailure) -> [MessageRecord] {
        guard !threads.isEmpty, limit > 0 else { return [] }
        let statement = try Prepared(
            messageQuery + """
                 INDEXED BY message_unread WHERE bot = ? AND thread = ? AND read = 0
                ORDER BY at DESC, number DESC LIMIT ?
                """, in: database)
        var unread: [MessageRecord] = []
        for case .thread(let bot, let thread) in threads {
            unread += try statement.all(
                {
                    $0.put(bot)
                    $0.put(thread)
                    $0.put(limit)
                }, message)
        }
        return unread
    }

    static func items(
        of keys: some Collection<ItemKey>, in database: Database
    ) throws(StoreFailure) -> [ItemRecord] {
        guard !keys.isEmpty else { return [] }
        let statement = try Prepared(itemQuery + " WHERE key = ?", in: database)
        var found: [ItemRecord] = []
        for key in keys {
            if let item = try statement.first({ $0.put(key.description) }, item) { found.append(item) }
        }
        return found
    }

    static func item(_ key: ItemKey, in database: Database) throws(StoreFailure) -> ItemRecord? {
        try Prepared(itemQuery + " WHERE key = ?", in: database).first({ $0.put(key.description) }, item)
    }

    static func items(limit: Int, in database: Database) throws(StoreFailure) -> [ItemRecord] {
        try Prepared(itemQuery + " ORDER BY updated_at DESC, key LIMIT ?", in: database)
            .all({ $0.put(limit) }, item)
    }

    static func itemsToWake(limit: Int, in database: Database) throws(StoreFailure) -> [ItemRecord] {
        try Prepared(itemQuery + " WHERE flush_at IS NOT NULL ORDER BY flush_at, key LIMIT ?", in: database)
            .all({ $0.put(limit) }, item)
    }

    private static func appearance(_ text: String) throws(StoreFailure) -> Appearance {
        text == plain ? Appearance() : try JSONText.decode(text)
    }

    static func message(from row: inout Columns) throws(StoreFailure) -> MessageRecord {
        let message = Message(
            id: row.text(), bot: row.text(), thread: row.text(), author: try row.word(), text: row.text(),
            at: row.moment(), urgency: try row.word(), title: row.optionalText(),
            appearance: try appearance(row.text()), replaceKey: row.optionalText(),
            run: row.optionalText())
        var record = MessageRecord(
            message: message, read: row.bool(), pinned: row.bool(), run: row.optionalText(),
            replyTo: row.optionalText())
        record.askedRun = row.optionalText()
        (record.sender, record.hops) = (row.optionalText(), row.int())
        let reactions = row.text()
        if reactions != "[]" { record.reactions = try JSONText.decode(reactions) }
        record.attachment = try row.optionalText().map { text throws(StoreFailure) in
            try JSONText.decode(text)
        }
        return record
    }

    private static func item(from row: inout Columns) throws(StoreFailure) -> ItemRecord {
        let text = row.text()
        guard let key = ItemKey(text) else { throw .unreadable("\"\(text)\" is no key of an item") }
        return ItemRecord(
            key: key, revision: row.integer(), state: row.bytes(), flushAt: row.optionalMoment(),
            updatedAt: row.moment())
    }
}

/// Looking for text inside text, case ignored in every script; SQLite itself knows only the letters a to z.
enum TextSearch {
    /// The name of the SQL function: `belfry_holds(text, folded needle)`.
    static let name = "belfry_holds"

    /// `text` without the difference of case.
    static func folded(_ text: String) -> String { text.lowercased() }

    static let function = DatabaseFunction(name, argumentCount: 2, pure: true) { values in
        guard let text = String.fromDatabaseValue(values[0]), let needle = String.fromDatabaseValue(values[1])
        else { return false }
        return needle.isEmpty || folded(text).contains(needle)
    }
}
