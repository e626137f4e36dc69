import FoundationEssentials
import GRDB
import Ledger
import LedgerSQLite
import TestSupport
import Testing

@Suite struct `readers of the file` {
    @Test func `answer while a writer is at work, with what was committed before`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        let ledger = try SQLiteLedger(path: path)
        try await ledger.commit([.event()])
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let stranger = try DatabaseQueue(path: path, configuration: configuration)
        try await stranger.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE; INSERT INTO fact VALUES ('held', 'yes')")
        }
        // It waits for the stranger's transaction; the reads do not.
        async let commit = commit([.event()], to: ledger)
        for _ in 0..<20 {
            #expect(try await ledger.lastEvent() == 1)
            #expect(try await ledger.fact(named: "held") == nil)
        }
        try await stranger.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await commit.lastEvent == 2)
        #expect(try await ledger.fact(named: "held") == "yes")
        try stranger.close()
        await ledger.close()
    }

    /// Commits as the keepers do: who is kept waiting for longer than a store's patience asks again.
    private func commit(_ changes: [Change], to ledger: SQLiteLedger) async throws -> Commit {
        while true {
            do throws(LedgerError) {
                return try await ledger.commit(changes)
            } catch {
                guard case .locked = error else { throw error }
            }
        }
    }

    @Test func `answer everybody, however many ask at once`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try SQLiteLedger(path: folder.file("ledger.db"))
        try await ledger.commit((0..<50).map { _ in .event() })
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    // One is read on a reader's own thread, the other where it is asked for if a reader is free.
                    number.isMultiple(of: 2)
                        ? try await ledger.events(after: 0, limit: 100).count == 50
                        : try await ledger.outboxLine(of: "hook", limit: 10).pending.isEmpty
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await ledger.close()
    }

    @Test func `write nothing`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        let ledger = try SQLiteLedger(path: path)
        try await ledger.commit([.putJob(.sample("a"), replacing: nil), .run("r1", job: "a"), .event()])
        let before = try contents(of: folder)
        _ = try await Snapshot(of: ledger, asking: ModelLedger(), depth: 9)
        #expect(try contents(of: folder) == before)
        await ledger.close()
    }

    @Test(arguments: [
        ("SELECT * FROM run WHERE id = 'x'", "INDEX sqlite_autoindex_run_1 (id=?)"),
        (
            "SELECT * FROM run WHERE cause = 'x' AND job = 'y'",
            "INDEX sqlite_autoindex_run_2 (cause=? AND job=?)"
        ),
        (
            "SELECT * FROM run WHERE job = 'x' AND state >= 20 ORDER BY ordinal DESC",
            "INDEX run_ended (job=?)"
        ),
        ("SELECT * FROM run WHERE state < 20 AND state = 1 ORDER BY number", "INDEX run_open (state=?)"),
        ("SELECT * FROM item WHERE flush_at IS NOT NULL ORDER BY flush_at, key", "INDEX item_wake"),
        (
            "SELECT * FROM outbox WHERE channel = 'x' AND state = 'pending' ORDER BY next_at",
            "INDEX outbox_pending"
        ),
        (
            "SELECT 1 FROM outbox WHERE state = 'pending' AND channel = 'x' AND coalesce(item, run) = 'y' AND number < 9",
            "INDEX outbox_line (channel=? AND <expr>=? AND rowid<?)"
        ),
        (
            "SELECT * FROM outbox WHERE channel = 'x' AND coalesce(item, run) = 'y' AND item = 'y' AND state = 'pending' AND attempts = 0 ORDER BY number LIMIT 1",
            "INDEX outbox_line (channel=? AND <expr>=?)"
        ),
        (
            "SELECT * FROM message WHERE bot = 'x' AND thread = 'y' AND at <= 1 AND read = 0",
            "INDEX message_unread"
        ),
        (
            "SELECT id FROM message WHERE bot = 'x' AND thread = 'y' AND pinned = 1",
            "INDEX message_pinned (bot=? AND thread=?)"
        ),
    ])
    func `find what the stations ask for by an index`(query: String, index: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        await (try SQLiteLedger(path: path)).close()
        let plan = try await shell(path, "EXPLAIN QUERY PLAN \(query)").joined(separator: " ")
        #expect(plan.contains(index), "\(plan)")
        #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
    }
}

/// The bytes of the database and of its log.
private func contents(of folder: TemporaryFolder) throws -> [Data] {
    try ["ledger.db", "ledger.db-wal"].map { try Data(contentsOf: URL(fileURLWithPath: folder.file($0))) }
}
