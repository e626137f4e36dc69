import Foundation
import Host
import TestSupport
import Testing

/// What the doctor finds, and how it ends.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the doctor` {
    private let job = """
        jobs:
          job: { schedule: manual, command: ["true"] }
        """

    @Test func `ends with 0 when there are only warnings, and finds an open secret`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(job, hook: hook)
        #expect(try await belfry.run("channel", "test", "hook").code == 0)
        _ = try await hook.record()
        try await Shell.run("chmod 644 hook.secret", in: belfry.folder.path)
        let open = try await findings(belfry)
        #expect(open.code == 0, "\(open)")
        #expect(open.severities == ["warning"])
        #expect(open.kinds.contains("secret"))
        try await Shell.run("chmod 600 hook.secret", in: belfry.folder.path)
        #expect(try await findings(belfry).kinds.contains("secret") == false)
        #expect(try await belfry.run("doctor").code == 0)
    }

    @Test func `finds a configuration that is newer than the active one, or was refused`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(job, hook: hook)
        try belfry.configure(job + "\n  other: { schedule: manual, command: [\"true\"] }")
        let newer = try await findings(belfry)
        #expect(newer.code == 0)
        #expect(newer.kinds.contains("configNotLoaded"))
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await findings(belfry).kinds.contains("configNotLoaded") == false)

        try belfry.configure("jobs: { job: { schedule: nonsense, command: [\"true\"] } }")
        try belfry.process().signal(SIGHUP)
        try await belfry.logged("refused")
        try await belfry.until { try await findings(belfry).kinds.contains("refusedConfiguration") }
        let refused = try await findings(belfry)
        #expect(refused.code == 1)
        #expect(refused.kinds.contains("refusedConfiguration"))
        #expect(refused.kinds.contains("badConfiguration"))
        #expect(
            try await belfry.json("status")["problems"].list.contains {
                $0["kind"].text == "refusedConfiguration"
            })
        #expect(try await belfry.json("job", "list").list.count == 2)
        try belfry.configure(job)
        #expect(try await belfry.run("reload").code == 0)
        #expect(try await findings(belfry).code == 0)
    }

    @Test func `finds a channel that no route leads to, and one that fails`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "500")
        let belfry = try await Belfry.start(job, hook: hook)
        _ = try await belfry.run("channel", "test", "hook")
        _ = try await hook.record()
        while try await belfry.json("channel", "list").list.first?["state"].text != "failing" {}
        let failing = try await findings(belfry)
        #expect(failing.code == 1)
        #expect(failing.kinds.contains("channel"))
        // The next daemon knows it from its first moment on.
        try await belfry.restart()
        try await belfry.until {
            try await belfry.json("channel", "list").list.first?["state"].text == "failing"
        }
        let channel = try await belfry.json("channel", "list").list.first
        #expect(channel?["lastError"].text?.isEmpty == false)

        try belfry.write(
            """
            zone: UTC
            channels:
              desk: { kind: desktop }
              lonely: { kind: desktop }
            routes:
              - { when: [failed], to: [desk] }
            """, to: "belfry.yaml")
        let lonely = try await belfry.run("doctor", "--json").json().list
        #expect(lonely.contains { $0["message"].text?.contains("\"lonely\"") == true })
    }

    @Test func `finds a state folder that was moved or removed under the daemon`() async throws {
        let belfry = try await Belfry.start(job)
        #expect(try await findings(belfry).kinds.contains("stateMoved") == false)
        let away = belfry.folder.file("elsewhere")
        try FileManager.default.moveItem(atPath: belfry.statePath, toPath: away)
        let moved = try await findings(belfry)
        #expect(moved.code == 1)
        #expect(moved.kinds.contains("stateMoved"))
        try await belfry.logged("the ledger is no longer at its path")
        // What is moved back must not land inside of an empty folder that a run has made.
        let run = try await belfry.run("run", "job", "--follow")
        #expect(run.code != 0)
        #expect(!FileManager.default.fileExists(atPath: belfry.statePath))
        // Another ledger in its place is not the one that is open.
        try FileManager.default.createDirectory(
            atPath: belfry.statePath, withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            atPath: away + "/ledger.sqlite", toPath: belfry.statePath + "/ledger.sqlite")
        #expect(
            try await belfry.json("status")["problems"].list.contains { $0["kind"].text == "stateMoved" })
        try FileManager.default.removeItem(atPath: belfry.statePath)
        try FileManager.default.moveItem(atPath: away, toPath: belfry.statePath)
        #expect(try await findings(belfry).kinds.contains("stateMoved") == false)
    }

    @Test func `looks at what it can when no daemon answers, and ends with 3`() async throws {
        let belfry = try await Belfry.start(job)
        try await belfry.stop()
        belfry.set("BELFRY_STATE", belfry.statePath)
        belfry.set("BELFRY_CONFIG", belfry.configPath)
        let away = try await findings(belfry)
        #expect(away.code == 3)
        #expect(away.kinds.first == "noDaemon")
        #expect(away.kinds.contains("ledger") == false)
        let ledger = belfry.statePath + "/ledger.sqlite"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: ledger))
        bytes.replaceSubrange(100..<bytes.count, with: repeatElement(0xA5, count: bytes.count - 100))
        try bytes.write(to: URL(fileURLWithPath: ledger))
        let damaged = try await belfry.run("doctor", "--json").json().list
        #expect(
            damaged.contains {
                $0["kind"].text == "ledger" && $0["message"].text?.contains("damaged") == true
            })
    }

    @Test func `finds a daemon that holds the state and does not answer`() async throws {
        let belfry = try await Belfry.start(job)
        belfry.set("BELFRY_STATE", belfry.statePath)
        try FileManager.default.removeItem(atPath: belfry.socketPath)
        let silent = try await belfry.run("doctor", "--json")
        #expect(silent.code == 3)
        let pid = try belfry.process().pid
        #expect(
            try silent.json().list.contains {
                $0["kind"].text == "silentDaemon" && $0["message"].text?.contains("process \(pid) ") == true
            })
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "this user may not mount"))
    func `finds a disk that is full, or soon will be`() async throws {
        let belfry = try Belfry(job)
        let disk = try SmallDisk(at: belfry.statePath, kilobytes: 16 * 1024)
        belfry.set("BELFRY_STATE", belfry.statePath)
        #expect(try await findings(belfry).kinds.contains("diskLow"))
        try disk.fill()
        #expect(try await findings(belfry).kinds.contains("diskFull"))
    }

    @Test func `finds how few files may be open, here or in the warden`() async throws {
        let belfry = try Belfry(job)
        let doctor = ["--nofile=64", try BuiltProgram.path("belfry"), "doctor", "--json"]
        let away = try await belfry.run("/usr/bin/prlimit", doctor)
        #expect(away.code == 3)
        let few = try away.json().list.filter { $0["kind"].text == "fewDescriptors" }
        #expect(few.first?["message"].text?.contains("only 64 files; belfryd needs 128") == true)
        #expect(try await !findings(belfry).kinds.contains("fewDescriptors"))
        try await belfry.start(through: ["/usr/bin/prlimit", "--nofile=160"])
        #expect(try await belfry.run("status", "--wait", "60s").code == 0)
        let narrow = try await belfry.run("doctor", "--json").json().list.filter {
            $0["kind"].text == "fewDescriptors"
        }
        #expect(narrow.first?["message"].text?.contains("no more than 13 runs fit at once") == true)
        try await belfry.stop()
    }

    @Test func `finds programs that were replaced under their processes`() async throws {
        let folder = try TemporaryFolder()
        let bin = folder.file("bin")
        try PrivateFolder.make(bin)
        for name in ["belfryd", "belfry-warden"] {
            try await Shell.run("cp '\(try BuiltProgram.path(name))' '\(bin)/'")
        }
        let belfry = try Belfry(job, in: folder)
        belfry.set("LD_LIBRARY_PATH", SmallFile.parent(of: try BuiltProgram.path("belfryd")))
        try await belfry.start(program: bin + "/belfryd")
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        #expect(try await findings(belfry).kinds.contains { $0.hasPrefix("old") } == false)
        try await Shell.run("for p in belfryd belfry-warden; do cp $p $p.new && mv $p.new $p; done", in: bin)
        let old = try await findings(belfry).kinds
        #expect(old.contains("oldDaemon"))
        #expect(old.contains("oldWarden"))
    }

    @Test func `finds a clock that no time source keeps, and only such a one`() async throws {
        let belfry = try await Belfry.start(job)
        let isFound = try await findings(belfry).kinds.contains("clockNotSynchronised")
        #expect(isFound == !Machine.isClockSynchronised)
    }

    @Test func `finds zone data that the daemon does not follow`() async throws {
        let belfry = try await Belfry.start(job)
        #expect(try await findings(belfry).kinds.contains("zoneDataChanged") == false)
        // As if the daemon had not noticed: the doctor sees another machine.
        try FileManager.default.createDirectory(
            atPath: belfry.folder.file("newer"), withIntermediateDirectories: false)
        try belfry.write("# version 2099z\n", to: "newer/tzdata.zi")
        belfry.set("TZDIR", belfry.folder.file("newer"))
        let message = try await belfry.run("doctor", "--json").json().list
            .first { $0["kind"].text == "zoneDataChanged" }?["message"].text
        #expect(message?.hasSuffix("the machine has 2099z") == true)
    }

    /// `/run` is replaced in a mount name space of its own, and `loginctl` by one with given answers.
    @Test(.enabled(if: SmallDisk.isAllowed, "this user may not mount"), arguments: ["yes", "no"])
    func `finds lingering that is off, where systemd runs`(_ answer: String) async throws {
        let belfry = try Belfry(job)
        try belfry.write("#!/bin/sh\necho \(answer)\n", to: "loginctl")
        try await Shell.run("chmod 755 loginctl && chmod 755 .", in: belfry.folder.path)
        let program = try BuiltProgram.path("belfry")
        let script = """
            mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && cd / &&
            PATH='\(belfry.folder.path)':$PATH exec setpriv --reuid 65534 --regid 65534 --clear-groups \
            '\(program)' doctor --json
            """
        let answers = try await belfry.run("/usr/bin/unshare", ["-m", "sh", "-c", script])
        #expect(answers.code == 3, "\(answers)")
        let kinds = try answers.json().list.compactMap { $0["kind"].text }
        #expect(kinds.contains("notLingering") == (answer == "no"))
    }

    @Test func `shows where it looked for a session bus`() async throws {
        let belfry = try Belfry(job)
        belfry.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus,guid=1")
        let found = try await belfry.run("doctor", "--json").json().list
        let bus = try #require(found.first { $0["kind"].text == "noSessionBus" })
        #expect(
            bus["message"].text
                == "there is no session bus at /nowhere/bus; nothing pops up on a desktop")
    }

    @Test func `warns of a machine without a desktop, and of a desktop that breaks it is a failure`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let belfry = try await Belfry.start(job, bus: bus)
        while try await belfry.json("channel", "list").list.first?["state"].text != "away" {}
        let none = try await belfry.run("doctor", "--json")
        #expect(none.code == 0)
        let warning = try #require(try none.json().list.first { $0["kind"].text == "noDesktop" })
        #expect(warning["severity"].text == "warning")
        #expect(
            warning["message"].text == "no desktop here; failures are only listed in \"belfry runs\"")
        #expect(
            warning["hint"].text
                == "add a webhook to \(belfry.configPath): "
                + "channels: { desk: { kind: desktop }, hook: { kind: webhook, url: https://... } }")
        let status = try await belfry.run("status")
        #expect(status.text.contains(": ok\n") && !status.text.contains("needs a look"), "\(status.text)")
        #expect(try await belfry.run("doctor").text.contains("\nNo problems; "))

        let server = try await NotificationServer.start(at: bus.address)
        // A test of a channel that was in trouble waits a second, in which a busy machine may not find the server.
        try await belfry.until { try await belfry.run("channel", "test", "desk").code == 0 }
        #expect(try await !findings(belfry).kinds.contains("noDesktop"))
        await server.process.end()
        while try await belfry.json("channel", "list").list.first?["state"].text != "away" {}
        let broken = try await findings(belfry)
        #expect(broken.code == 1 && broken.kinds.contains("channel"), "\(broken)")
    }

    private struct Findings {
        var code: Int32
        var kinds: [String]
        var severities: Set<String>
    }

    private func findings(_ belfry: Belfry) async throws -> Findings {
        let answer = try await belfry.run("doctor", "--json")
        let list = try answer.json().list
        return Findings(
            code: answer.code, kinds: list.compactMap { $0["kind"].text },
            severities: Set(list.compactMap { $0["severity"].text }))
    }
}
