import Foundation
import TestSupport
import Testing

/// Copies of the ledger, and the way back.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a backup` {
    private let ticking = """
        jobs:
          tick: { schedule: "* * * * * *", command: ["true"], overlap: skip }
          job: { schedule: manual, command: ["true"] }
        """

    @Test func `of a daemon at work is whole, private, and replaces nothing unasked`() async throws {
        let belfry = try await Belfry.start(ticking)
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        let copy = belfry.folder.file("copy.sqlite")
        for attempt in 1...5 {
            let words = ["backup", copy, "--state", belfry.statePath] + (attempt > 1 ? ["--force"] : [])
            let answer = try await belfry.run("belfryd", words)
            #expect(answer.code == 0, "\(answer)")
            #expect(answer.text.hasPrefix("\(copy): written; schema "))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: belfry.folder.path)
        #expect(names.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
        let again = try await belfry.run("belfryd", ["backup", copy, "--state", belfry.statePath])
        #expect(again.code == 1)
        #expect(again.errors.contains("already exists"))
        let check = try await belfry.run("belfryd", ["backup", "--check", copy])
        #expect(check.code == 0)
        #expect(check.text.contains(" 2 jobs, "))
        // It continued meanwhile.
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try await belfry.stop()
    }

    @Test func `is restored while no daemon is there, with the old ledger kept`() async throws {
        let belfry = try await Belfry.start(ticking)
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try await belfry.stop()
        let copy = belfry.folder.file("copy.sqlite")
        #expect(try await belfry.run("belfryd", ["--state", belfry.statePath, "backup", copy]).code == 0)
        try await belfry.start()
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        // Not under a daemon's feet.
        let refused = try await belfry.run("belfryd", ["restore", copy, "--state", belfry.statePath])
        #expect(refused.code == 1)
        #expect(
            refused.errors.contains("is in use by the daemon with process id \(try belfry.process().pid)"))
        try await belfry.stop()
        let restored = try await belfry.run("belfryd", ["restore", copy, "--state", belfry.statePath])
        #expect(restored.code == 0, "\(restored)")
        try await belfry.start()
        #expect(try await belfry.json("runs", "job").list.map { $0["name"].text } == ["job#1"])
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try await belfry.stop()
        let kept = try await belfry.run(
            "belfryd", ["backup", "--check", belfry.statePath + "/ledger-before-restore.sqlite"])
        #expect(kept.code == 0, "\(kept)")
        // The next one keeps its own, and not in the place of the first.
        let original = try Data(
            contentsOf: URL(fileURLWithPath: belfry.statePath + "/ledger-before-restore.sqlite"))
        let again = try await belfry.run("belfryd", ["restore", copy, "--state", belfry.statePath])
        #expect(again.code == 0, "\(again)")
        #expect(again.text.contains("\(belfry.statePath)/ledger-before-restore-2.sqlite: "))
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: belfry.statePath + "/ledger-before-restore.sqlite"))
                == original)
        let second = try await belfry.run(
            "belfryd", ["backup", "--check", belfry.statePath + "/ledger-before-restore-2.sqlite"])
        #expect(second.code == 0, "\(second)")
    }

    @Test(arguments: ["PRAGMA user_version = 4711", "garbage", ""])
    func `of a newer Belfry, or that is none, is refused, and nothing is touched`(_ fault: String)
        async throws
    {
        let belfry = try await Belfry.start(ticking)
        try await belfry.stop()
        let copy = belfry.folder.file("copy.sqlite")
        let words = ["backup", copy, "--state", belfry.statePath]
        #expect(try await belfry.run("belfryd", words).code == 0)
        let isNewer = fault.hasPrefix("PRAGMA")
        if !isNewer {
            try belfry.write(
                fault.isEmpty ? "" : String(repeating: "no ledger\n", count: 99), to: "copy.sqlite")
        } else {
            let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute(sys.argv[2])"
            #expect(try await belfry.run("/usr/bin/python3", ["-c", script, copy, fault]).code == 0)
        }
        let ledger = URL(fileURLWithPath: belfry.statePath + "/ledger.sqlite")
        let before = try Data(contentsOf: ledger)
        for words in [["restore", copy, "--state", belfry.statePath], ["backup", "--check", copy]] {
            let refused = try await belfry.run("belfryd", words)
            #expect(refused.code == 1)
            #expect(refused.errors.contains(isNewer ? "written by a newer Belfry" : "is damaged"))
            if fault.isEmpty {
                #expect(refused.errors.contains("(it is empty, or was not written by Belfry)"))
            }
            if !isNewer { #expect(refused.errors.contains("hint: use another copy")) }
        }
        #expect(try Data(contentsOf: ledger) == before)
        try await belfry.start()
        try await belfry.stop()
    }

    @Test func `of a state that is none is refused`() async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("belfryd", ["backup", "copy.sqlite", "--state", belfry.statePath])
        #expect(answer.code == 1)
        #expect(answer.errors.contains("there is no ledger in \(belfry.statePath)"))
    }
}
