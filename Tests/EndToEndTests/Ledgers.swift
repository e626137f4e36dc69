import Foundation
import Host
import TestSupport
import Testing

/// Files and disks that can't be used.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a ledger` {
    @Test func `that is no database is refused with a sentence and left alone`() async throws {
        let belfry = try Belfry()
        let garbage = String(repeating: "no database at all\n", count: 500)
        try PrivateFolder.make(belfry.statePath)
        try belfry.write(garbage, to: "state/ledger.sqlite")
        let answer = try await refusal(of: belfry)
        #expect(answer.errors.contains("\(belfry.statePath)/ledger.sqlite is damaged"))
        #expect(belfry.lines(of: "state/ledger.sqlite").joined(separator: "\n") + "\n" == garbage)
    }

    @Test func `of a newer Belfry is refused with a sentence and left alone`() async throws {
        let belfry = try await Belfry.start(jobs)
        try await belfry.run("run", "job", "--follow")
        try await belfry.stop()
        let version = try sql("PRAGMA user_version", in: belfry)
        try sql("PRAGMA user_version = 4711", in: belfry)
        let answer = try await refusal(of: belfry)
        #expect(answer.errors.contains("was written by a newer Belfry"))
        #expect(answer.errors.contains("4711"))

        // The ledger is as it was: the right version takes it up again.
        try sql("PRAGMA user_version = \(version)", in: belfry)
        try await belfry.start()
        #expect(try await belfry.json("runs").list.map { $0["name"].text } == ["job#1"])
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "this user may not mount"))
    func `on a full disk is refused with a sentence`() async throws {
        let belfry = try Belfry(jobs)
        let disk = try SmallDisk(at: belfry.statePath, kilobytes: 8 * 1024)
        try disk.fill()
        let answer = try await refusal(of: belfry)
        #expect(answer.errors.contains("full") || answer.errors.contains("No space"))
        try disk.free()
        try await belfry.start()
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try await belfry.stop()
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "this user may not mount"))
    func `on a disk that gets full reports it, and continues when there is room`() async throws {
        let belfry = try Belfry(jobs)
        let disk = try SmallDisk(at: belfry.statePath, kilobytes: 8 * 1024)
        try await belfry.start()
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try disk.fill()
        // What can't be recorded does not run, and says so.
        var refused = Answer(code: 0, bytes: [], errors: "")
        for _ in 1...200 where refused.code == 0 { refused = try await belfry.run("run", "job", "--force") }
        #expect(refused.code == 1)
        #expect(refused.errors.contains("full"))
        #expect(try await belfry.run("status").code == 0)
        try disk.free()
        #expect(try await belfry.run("run", "job", "--follow", "--force").code == 0)
        #expect(try await belfry.stop() == 0)
        #expect(try sql("PRAGMA integrity_check", in: belfry) == "ok")
    }

    private let jobs = """
        jobs:
          job: { schedule: manual, command: ["true"] }
        """

    /// What a daemon says that does not come up: one sentence, perhaps a hint, and a code.
    private func refusal(of belfry: Belfry) async throws -> Answer {
        let answer = try await belfry.run(
            "belfryd", ["--config", belfry.configPath, "--state", belfry.statePath])
        #expect(answer.code == 1)
        #expect(answer.errors.hasPrefix("belfryd: "))
        #expect(answer.errors.split(separator: "\n").count <= 2)
        return answer
    }

    /// Asks the ledger's file itself; what it answered.
    @discardableResult
    private func sql(_ statement: String, in belfry: Belfry) throws -> String {
        let script = """
            import sqlite3, sys
            connection = sqlite3.connect(sys.argv[1], isolation_level=None)
            print(*[row[0] for row in connection.execute(sys.argv[2])], file=open(sys.argv[3], "w"))
            """
        try belfry.write(script, to: "ask.py")
        let home = belfry.folder.path
        let code = try Shell.run(
            "python3 ask.py state/ledger.sqlite '\(statement)' answer", in: home)
        guard code == 0 else { throw NotStarted(program: "python3") }
        return belfry.lines(of: "answer").joined(separator: "\n")
    }
}
