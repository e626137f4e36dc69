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

/// Disks of their own, which only root can mount; elsewhere these say that they were skipped.
@Suite struct `a ledger on a bad disk` {
    /// With several callers the writer is never idle, and so has less time to look after its log.
    @Test(.enabled("needs the right to mount a file system") { await Disk.mayMount() }, arguments: [1, 8])
    func `refuses new work, ends the old from its reserve, and continues when there is room`(
        callers: Int
    ) async throws {
        try await Disk.withNew(megabytes: 8) { disk in
            let ledger = try SQLiteLedger(path: disk.file("ledger.db"))
            let text = String(repeating: "x", count: 50_000)
            let ends = await withTaskGroup(of: (Int, LedgerError?).self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        for number in 0..<1000 {
                            let message = MessageRecord.sample("m\(caller)-\(number)", text: text)
                            do throws(LedgerError) {
                                try await ledger.commit([.insertMessage(message), .event()])
                            } catch {
                                return (number, error)
                            }
                        }
                        return (1000, nil)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            var kept = ends.map(\.0).reduce(0, +)
            #expect(ends.allSatisfy { $0.1 == .full })
            #expect(kept > 0)
            #expect(ledger.condition == .short)
            #expect(!FileManager.default.fileExists(atPath: disk.file("ledger.db-reserve")))
            // Many more commits than the reserve has pages fit, as long as they begin nothing.
            for number in 1...2000 {
                try await ledger.commit([.setFact(name: "noted", value: "\(number)")])
            }
            try await ledger.commit([.event()])
            kept += 1
            let again = await #expect(throws: LedgerError.self) {
                try await ledger.commit([.insertMessage(.sample("small"))])
            }
            #expect(again == .full)
            #expect(try await ledger.lastEvent() == Int64(kept))
            #expect(try await ledger.messages(bot: nil, search: nil, limit: 999).count == kept - 1)
            try await disk.resize(megabytes: 32)
            let commit = try await ledger.commit([.insertMessage(.sample("last", text: text)), .event()])
            #expect(commit.lastEvent == Int64(kept + 1))
            #expect(ledger.condition == .sound)
            #expect(FileManager.default.fileExists(atPath: disk.file("ledger.db-reserve")))
            await ledger.close()
            let next = try SQLiteLedger(path: disk.file("ledger.db"))
            #expect(try await next.messages(bot: nil, search: nil, limit: 999).count == kept)
            await next.close()
        }
    }

    @Test(.enabled("needs the right to mount a file system") { await Disk.mayMount() })
    func `is refused where there is no room for it`() async throws {
        try await Disk.withNew(megabytes: 1) { disk in
            // Whatever fits is written; the disk is full afterwards.
            _ = FileManager.default.createFile(
                atPath: disk.file("filler"), contents: Data(repeating: 1, count: 1 << 20))
            #expect(throws: LedgerError.full) { try SQLiteLedger(path: disk.file("ledger.db")) }
        }
    }

    @Test(.enabled("needs the right to mount a file system") { await Disk.mayMount() })
    func `is refused where nothing can be written, new or not`() async throws {
        try await Disk.withNew(megabytes: 4) { disk in
            let path = disk.file("ledger.db")
            let ledger = try SQLiteLedger(path: path)
            try await ledger.commit([.event()])
            await ledger.close()
            try await disk.makeReadOnly()
            #expect(throws: LedgerError.readOnly(path: path)) { try SQLiteLedger(path: path) }
            let other = disk.file("other.db")
            #expect(throws: LedgerError.readOnly(path: other)) { try SQLiteLedger(path: other) }
        }
    }
}

/// A small file system in memory, mounted for one test.
private struct Disk {
    private let folder: TemporaryFolder

    static func mayMount() async -> Bool {
        (try? await withNew(megabytes: 1) { _ in }) != nil
    }

    static func withNew(megabytes: Int, _ body: (Disk) async throws -> Void) async throws {
        let disk = Disk(folder: try TemporaryFolder())
        try await disk.run(
            "mount", "-t", "tmpfs", "-o", "size=\(megabytes)m,mode=700", "tmpfs", disk.folder.path)
        do {
            try await body(disk)
        } catch {
            try? await disk.run("umount", "-l", disk.folder.path)
            throw error
        }
        try await disk.run("umount", disk.folder.path)
    }

    func file(_ name: String) -> String { folder.file(name) }

    func resize(megabytes: Int) async throws {
        try await run("mount", "-o", "remount,size=\(megabytes)m", folder.path)
    }

    func makeReadOnly() async throws {
        try await run("mount", "-o", "remount,ro", folder.path)
    }

    private struct Refused: Error {
        var command: String
    }

    private func run(_ program: String, _ arguments: String...) async throws {
        let child = try ChildProcess(program, arguments, isQuiet: true)
        guard await child.status() == 0 else { throw Refused(command: program) }
    }
}

@Suite struct `an index of words that is damaged` {
    @Test func `keeps nothing from being written`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("ledger.db")
        let first = try SQLiteLedger(path: path)
        try await first.commit([.insertMessage(.sample("m", text: "a tape"))])
        #expect(try await first.search("tape", bot: nil, since: nil, limit: 1).messages.count == 1)
        await first.close()
        try await shell(path, "UPDATE message_words_data SET block = x'00' WHERE id = 10;")
        let second = try SQLiteLedger(path: path)
        // More than are entered without a search.
        for number in 0..<300 {
            try await second.commit([.insertMessage(.sample("m\(number)", text: "a disk")), .event()])
        }
        _ = try? await second.search("disk", bot: nil, since: nil, limit: 1)
        try await second.commit([.event()])
        #expect(try await second.lastEvent() == 301)
        #expect(try await second.messages(bot: nil, search: "disk", limit: 999).count == 300)
        await second.close()
    }
}
