import FoundationEssentials
import Glibc
import Ledger
import LedgerSQLite
import TestSupport
import Testing

@Suite struct `a file that can't be the ledger` {
    @Test func `is refused when it is no database, and left as it was`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        for text in ["x", String(repeating: "not a database\n", count: 99)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: LedgerError.damaged(path: path, detail: "it is not a database")) {
                try SQLiteLedger(path: path)
            }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test(arguments: ["delete", "wal"])
    func `is refused when it is another program's database, and left as it was`(mode: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        try await shell(path, "PRAGMA journal_mode=\(mode); CREATE TABLE song (name TEXT);")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: LedgerError.damaged(path: path, detail: "it is a database of another program")) {
            try SQLiteLedger(path: path)
        }
        if mode == "delete" { #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before) }
        #expect(
            try await shell(path, "SELECT name FROM sqlite_schema; PRAGMA journal_mode;") == ["song", mode])
    }

    @Test func `is refused when a newer Belfry wrote it, and keeps its rows`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        let ledger = try SQLiteLedger(path: path)
        try await ledger.commit([.event()])
        await ledger.close()
        let newest = try #require(try await shell(path, "PRAGMA user_version;").first)
        try await shell(path, "PRAGMA user_version = 999;")
        #expect(throws: LedgerError.newer(path: path, found: "schema 999, this one knows \(newest)")) {
            try SQLiteLedger(path: path)
        }
        #expect(try await shell(path, "PRAGMA user_version; SELECT count(*) FROM event;") == ["999", "1"])
    }

    @Test func `is refused while another ledger has it open, and taken afterwards`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        let first = try SQLiteLedger(path: path)
        #expect(throws: LedgerError.locked(path: path)) { try SQLiteLedger(path: path) }
        try await first.commit([.event()])
        await first.close()
        let second = try SQLiteLedger(path: path)
        #expect(try await second.lastEvent() == 1)
        await second.close()
    }

    @Test(arguments: [true, false])
    func `opens when the one before it was closed or released, also while a child is about to exec`(
        isClosed: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        var first: SQLiteLedger? = try SQLiteLedger(path: path)
        let child = try ForkGap(sharing: path + "-lock")
        #expect(child.count == 1)
        if isClosed { await first?.close() }
        first = nil
        await (try SQLiteLedger(path: path)).close()
        _ = consume child
    }

    @Test func `is refused when its pages are damaged`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        let ledger = try SQLiteLedger(path: path)
        try await ledger.commit((0..<200).map { .insertMessage(.sample("m\($0)")) })
        await ledger.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(100..<bytes.count, with: repeatElement(0xA5, count: bytes.count - 100))
        try bytes.write(to: URL(fileURLWithPath: path))
        do {
            _ = try SQLiteLedger(path: path)
            Issue.record("was opened")
        } catch {
            guard case .damaged(path, _) = error else {
                Issue.record("was refused otherwise: \(error)")
                return
            }
        }
    }

    @Test func `is refused when its folder is missing`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/ledger.db")
        do {
            _ = try SQLiteLedger(path: path)
            Issue.record("was opened")
        } catch {
            guard case .storage(Int(ENOENT), let detail) = error else {
                Issue.record("was refused otherwise: \(error)")
                return
            }
            #expect(detail.contains(path))
        }
    }

    @Test func `belongs to its owner alone`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try SQLiteLedger(path: folder.file("ledger.db"))
        try await ledger.commit([.event()])
        for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        await ledger.close()
    }
}
