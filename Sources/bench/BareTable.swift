import GRDBSQLite

/// SQLite without us, with the same durability: a transaction of ten thousand rows in plain C calls.
@safe final class BareTable {
    /// What a row holds.
    enum Width {
        /// A job, a slot and a state, the two first unique together.
        case narrow
        /// What a decided run holds, its id unique as well.
        case wide
        /// The very same as a decided run, with all its indexes: in the file of a ledger that nobody has open.
        case run
    }

    /// What the library refused.
    struct Failure: Error {
        var code: Int32
    }

    private let database: OpaquePointer?
    private let insertion: OpaquePointer?
    private let width: Width

    /// Makes the table in a new file at `path`, unless it is that of a ledger.
    init(path: String, width: Width) throws {
        self.width = width
        var database: OpaquePointer?
        try Self.check(unsafe sqlite3_open(path, &database))
        unsafe self.database = database
        let (creation, insertion) =
            switch width {
            case .narrow:
                (
                    Self.table("job TEXT, slot INTEGER, state INTEGER, UNIQUE (slot, job)"),
                    "row (job, slot, state) VALUES (?1, ?2, 1)"
                )
            case .run:
                (
                    "",
                    """
                    run (id, job, ordinal, bot, kind, cause, slot, era, state, attempt, queued_at, lateness,
                        revision, token, forced)
                    VALUES (?3, ?1, 1, 'belfry', 'scheduled', ?4, ?2, 0, 1, 1, ?2, 0, 1, 0, 0)
                    """
                )
            case .wide:
                (
                    Self.table(
                        """
                        job TEXT, slot INTEGER, state INTEGER, id TEXT UNIQUE, ordinal INTEGER, bot TEXT,
                            kind TEXT, cause TEXT, era INTEGER, attempt INTEGER, queued INTEGER,
                            revision INTEGER, UNIQUE (cause, job)
                        """),
                    """
                    row (job, slot, state, id, ordinal, bot, kind, cause, era, attempt, queued, revision)
                    VALUES (?1, ?2, 1, ?3, 1, 'belfry', 'scheduled', ?4, 0, 1, ?2, 1)
                    """
                )
            }
        try Self.check(
            unsafe sqlite3_exec(
                database,
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
                    + creation,
                nil, nil, nil))
        var statement: OpaquePointer?
        try Self.check(
            unsafe sqlite3_prepare_v2(database, "INSERT INTO " + insertion, -1, &statement, nil))
        unsafe self.insertion = statement
    }

    private static func table(_ columns: String) -> String {
        "CREATE TABLE row (number INTEGER PRIMARY KEY, \(columns));"
    }

    deinit {
        unsafe sqlite3_finalize(insertion)
        unsafe sqlite3_close(database)
    }

    /// One transaction with a row for each of `jobs`; `ids` and `cause` are for wide rows.
    func insert(_ jobs: [String], slot: Int64, ids: [String], cause: String) throws {
        try Self.check(unsafe sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil))
        for (job, id) in zip(jobs, ids) {
            bind(job, at: 1)
            unsafe sqlite3_bind_int64(insertion, 2, slot)
            if width != .narrow {
                bind(id, at: 3)
                bind(cause, at: 4)
            }
            guard unsafe sqlite3_step(insertion) == SQLITE_DONE else { throw Failure(code: SQLITE_ERROR) }
            unsafe sqlite3_reset(insertion)
        }
        try Self.check(unsafe sqlite3_exec(database, "COMMIT", nil, nil, nil))
    }

    private func bind(_ text: String, at place: Int32) {
        var text = text
        text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { text in
                _ = unsafe sqlite3_bind_text(
                    insertion, place, text.baseAddress, Int32(text.count),
                    unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            }
        }
    }

    /// What a query for one number answers, by a connection of its own to the database at `path`.
    static func integer(_ query: String, in path: String) throws -> Int64 {
        var database: OpaquePointer?
        defer { unsafe sqlite3_close(database) }
        try check(unsafe sqlite3_open(path, &database))
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(database, query, -1, &statement, nil))
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_step(statement) == SQLITE_ROW else { throw Failure(code: SQLITE_ERROR) }
        return unsafe sqlite3_column_int64(statement, 0)
    }

    private static func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw Failure(code: code) }
    }
}

@available(*, unavailable) extension BareTable: Sendable {}
