import Delivery
import GRDBSQLite
import Glibc
import Ledger
import LedgerSQLite
import Timeline
import Tracking

/// What a commit costs, beside SQLite itself on the same disk in the same run.
enum LedgerBench {
    private static let rows = 10_000

    /// Prints the figures; the first argument: the number of rounds, 30 when absent.
    static func run(arguments: [String]) async throws {
        let rounds = arguments.first.flatMap { Int($0) } ?? 30
        var name = Array("/var/tmp/belfry-bench-XXXXXX\0".utf8CString)
        guard let folder = unsafe mkdtemp(&name).map({ unsafe String(cString: $0) }) else { return }
        let ledger = try SQLiteLedger(path: folder + "/ledger.db")
        print("ledger: \(rounds) rounds")
        try await herds(rounds, ledger: ledger, folder: folder)
        try await single(ledger)
        try await crowd(ledger)
        await ledger.close()
        for name in ["narrow.db", "wide.db", "ledger.db"] {
            for end in ["", "-wal", "-shm", "-lock"] { unsafe unlink(folder + "/" + name + end) }
        }
        unsafe rmdir(folder)
    }

    /// 10,000 slots due together, in turn with 10,000 rows of bare tables.
    private static func herds(_ rounds: Int, ledger: SQLiteLedger, folder: String) async throws {
        let narrow = try BareTable(path: folder + "/narrow.db", width: .narrow)
        let wide = try BareTable(path: folder + "/wide.db", width: .wide)
        var times: (ours: [Duration], narrow: [Duration], wide: [Duration]) = ([], [], [])
        let clock = ContinuousClock()
        let jobs = (0..<rows).map(makeJob)
        var mark = Watermark(decidedUntil: Moment(seconds: 1_774_000_000), era: 0)
        for round in 0..<rounds {
            let slot = mark.decidedUntil + .seconds(60)
            let ids = (0..<rows).map { makeID(round, $0) }
            let next = Watermark(decidedUntil: slot, era: 0)
            var list = zip(jobs, ids).map {
                Change.insertRun(makeRun($1, job: $0, slot: slot), orIgnore: true)
            }
            list.append(.moveWatermark(from: mark, to: next))
            mark = next
            for (table, isWide) in [(narrow, false), (wide, true)] {
                let time = try clock.measure {
                    try table.insert(
                        jobs, slot: slot.microseconds, ids: ids, cause: RunCause.slot(slot, era: 0))
                }
                if isWide { times.wide.append(time) } else { times.narrow.append(time) }
            }
            let start = clock.now
            let commit = try await ledger.commit(list)
            times.ours.append(clock.now - start)
            guard commit.inserted.count == rows else { return print("  not every slot became a run") }
            // They end before the next minute, as runs do.
            try await ledger.commit(
                ids.map { .moveRun(RunMove(run: $0, from: [.queued], attempt: 1, to: .completed)) })
        }
        compare("a row of job, slot and state (to reach: 2)", times.ours, times.narrow)
        compare("a row of what a run holds", times.ours, times.wide)
    }

    private static func compare(_ peer: String, _ ours: [Duration], _ theirs: [Duration]) {
        let (ours, theirs) = (ours.sorted(), theirs.sorted())
        for (word, share) in [("p50", 0.5), ("p99", 0.99)] {
            let place = min(ours.count - 1, Int((Double(ours.count) * share).rounded()))
            let ratio = (ours[place] / theirs[place] * 100).rounded() / 100
            print(
                "  10,000 slots in one list, \(word): \(show(ours[place])); bare SQLite, \(peer):",
                "\(show(theirs[place])); ratio \(ratio)")
        }
    }

    private static func single(_ ledger: SQLiteLedger) async throws {
        let count = 2000
        let took = try await ContinuousClock().measure {
            for _ in 0..<count {
                try await ledger.commit([.append(NewEvent(.test(channel: nil), at: Moment(seconds: 0)))])
            }
        }
        print("  one change a commit, one caller: \(rate(count, took)) commits/s")
    }

    private static func crowd(_ ledger: SQLiteLedger) async throws {
        let callers = 64
        let each = 200
        let before = ledger.transactions
        let took = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<callers {
                    group.addTask {
                        for _ in 0..<each {
                            try await ledger.commit([
                                .append(NewEvent(.test(channel: nil), at: Moment(seconds: 0)))
                            ])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        print(
            "  one change a commit, \(callers) callers: \(rate(callers * each, took)) commits/s,",
            "\(ledger.transactions - before) transactions for \(callers * each) lists")
    }

    private static func makeRun(_ id: String, job: String, slot: Moment) -> RunRecord {
        RunRecord(
            id: id, job: job, bot: "belfry", kind: .scheduled, cause: RunCause.slot(slot, era: 0),
            slot: slot, queuedAt: slot + .milliseconds(3), revision: 1)
    }

    /// As long as a UUIDv7, and rising like one.
    private static func makeID(_ round: Int, _ number: Int) -> String {
        let digits = String(round * rows + number)
        return "0199f000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Names come in no order, as those of jobs do.
    private static func makeJob(_ number: Int) -> String {
        "job-" + String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15 >> 40, radix: 36)
    }

    private static func rate(_ count: Int, _ took: Duration) -> Int {
        Int(Double(count) / (took / .seconds(1)))
    }

    private static func show(_ duration: Duration) -> String {
        "\((duration / .milliseconds(1) * 10).rounded() / 10) ms"
    }
}

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
        let (creation, insertion) = Self.statements(width)
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

    /// What makes the table, and what a row is inserted by.
    private static func statements(_ width: Width) -> (creation: String, insertion: String) {
        switch width {
        case .narrow:
            (
                table("job TEXT, slot INTEGER, state INTEGER, UNIQUE (slot, job)"),
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
                table(
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
