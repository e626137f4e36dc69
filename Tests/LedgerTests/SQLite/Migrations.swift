import Delivery
import FoundationEssentials
import GRDB
import Ledger
import TestSupport
import Testing

@testable import LedgerSQLite

@Suite struct `a ledger of an older schema` {
    private func old(in folder: TemporaryFolder) async throws -> String {
        let path = folder.file("ledger.sqlite")
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            try Schema.migrate(database, path: path, migrations: [.first])
            try database.execute(
                sql: """
                    INSERT INTO fact VALUES ('zone', 'UTC');
                    INSERT INTO event (type, at, detail) VALUES ('test', 1, '');
                    """)
        }
        try pool.close()
        return path
    }

    @Test func `of the first migration only is opened, with all that it holds`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let ledger = try SQLiteLedger(path: path)
        #expect(try await ledger.fact(named: "zone") == "UTC")
        #expect(try await ledger.lastEvent() == 1)
        try await ledger.commit([.event()])
        await ledger.close()
        if Migration.newest > 1 {
            let copy = LedgerFile(path: folder.file("ledger-before-\(Migration.newest).sqlite"))
            #expect(try copy.check().schema == 1)
            #expect(try copy.check().lastEvent == 1)
        }
    }

    @Test func `has entries that wait for their channel where they were held for it`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    INSERT INTO outbox (id, channel, cause, type, reason, state, attempts, created_at, body)
                    VALUES ('o1', 'hook', 'c', 'test', 'r', 'held', 1, 1, x'7B7D');
                    INSERT INTO channel VALUES ('hook', x'7B7D', 1);
                    """)
        }
        try pool.close()
        let ledger = try SQLiteLedger(path: path)
        #expect(try await ledger.outbox(id: "o1")?.state == .waiting)
        #expect(try await ledger.channel(named: "hook")?.identity == nil)
        await ledger.close()
    }

    @Test func `is copied before a migration, and left as it was by one that fails`() async throws {
        let folder = try TemporaryFolder()
        let path = try await old(in: folder)
        let copy = folder.file("ledger-before-1000.sqlite")
        let good = Migration(version: 1000, sql: "DROP TABLE fact; CREATE TABLE tower (bell TEXT) STRICT;")
        let bad = Migration(version: 1000, sql: "DROP TABLE fact; CREATE TABLE tower (;")
        let pool = try DatabasePool(path: path)
        try await pool.writeWithoutTransaction { database in
            #expect(throws: LedgerError.self) {
                try Schema.migrate(database, path: path, migrations: [.first, bad])
            }
            #expect(try String.fetchOne(database, sql: "SELECT value FROM fact") == "UTC")
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 1)
            try Schema.migrate(database, path: path, migrations: [.first, good])
            #expect(try Int.fetchOne(database, sql: "PRAGMA user_version") == 1000)
        }
        try pool.close()
        let summary = try LedgerFile(path: copy).check()
        #expect(summary.schema == 1)
        #expect(summary.lastEvent == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(!FileManager.default.fileExists(atPath: copy + ".new"))
    }

    @Test func `is named after its schema beside it`() {
        #expect(Schema.copyPath(of: "/a.b/ledger.sqlite", before: 2) == "/a.b/ledger-before-2.sqlite")
        #expect(Schema.copyPath(of: "/a.b/ledger", before: 2) == "/a.b/ledger-before-2")
    }
}
