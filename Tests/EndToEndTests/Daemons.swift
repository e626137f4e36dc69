import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon beside another one, and one in places that are out of the ordinary.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a daemon` {
    @Test func `leaves the socket of another one alone`() async throws {
        let belfry = try await Belfry.start("jobs:\n  first: { schedule: manual, command: [\"true\"] }")
        let pid = try #require(try await belfry.json("status")["pid"].integer)
        let second = try await belfry.run(
            "belfryd", ["--config", belfry.configPath, "--state", belfry.folder.file("other")])
        #expect(second.code == 1)
        #expect(second.errors.contains("\(belfry.socketPath) is in use by the daemon with process id \(pid)"))
        #expect(try await belfry.json("status")["pid"].integer == pid)
        #expect(try await belfry.json("job", "list").list.map { $0["name"].text } == ["first"])
        try await belfry.stop()
        #expect(!FileManager.default.fileExists(atPath: belfry.socketPath))
        try await belfry.start()
        #expect(try await belfry.json("status")["pid"].integer != pid)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `of an account of its own runs jobs, and what root wraps, as that account`() async throws {
        let belfry = try Belfry("jobs:\n  who: { schedule: manual, command: [id, -u] }")
        try #require(try await Shell.run("chown -R 65534 \(belfry.folder.path)") == 0)
        try await belfry.start(through: ["setpriv", "--reuid=65534", "--clear-groups", "--"])
        #expect(try await belfry.run("run", "who", "--follow").code == 0)
        #expect(try await belfry.run("run", "logs", "who#1").lines == ["65534"])
        let exec = try await belfry.run("exec", "--name", "mine", "--", "id", "-u")
        #expect(exec.code == 0 && exec.lines == ["65534"])
        #expect(try await belfry.ended("mine#1")["state"].text == "completed")
    }

    @Test(.enabled(if: geteuid() == 0))
    func `of another user than the warden reports that both must be one, and so does exec`() async throws {
        let belfry = try Belfry("jobs:\n  long: { schedule: manual, command: [sleep, \"1000\"] }")
        try await belfry.start()
        let events = try belfry.events()
        try await belfry.run("run", "long")
        _ = try await events.event("run.started", of: "long")
        let warden = try #require(try await belfry.json("status")["warden"]["directory"].text)
        try await belfry.stop()
        let home = belfry.folder.path
        try #require(try await Shell.run("chown -R 65534 \(home) && chown -R 0 \(warden)") == 0)

        try await belfry.start(through: ["setpriv", "--reuid=65534", "--clear-groups", "--"])
        let owner = "\(warden) belongs to user root, and not to nobody"
        let why = "\(owner): daemon and warden must run as the same user"
        try await belfry.until {
            let problems = try await belfry.json("status")["problems"].list
            let problem = problems.first { $0["kind"].text == "noWarden" }
            return problem?["message"].text?.hasSuffix(why) == true
        }
        let exec = try await belfry.run("exec", "--", "true")
        #expect(exec.code == 125 && exec.errors.contains(why + ". Fix: "))
    }

    @Test func `is waited for while it starts, and no longer than was asked`() async throws {
        let belfry = try Belfry()
        let nobody = try await belfry.run("status", "--wait", "10ms")
        #expect(nobody.code == 3 && nobody.errors.contains("no daemon"), "\(nobody)")
        async let waited = belfry.run("status", "--wait", "50s")
        try await belfry.start()
        let answer = try await waited
        #expect(answer.code == 0 && answer.text.contains("jobs     0"), "\(answer)")
    }

    @Test func `does not start without the configuration that was named`() async throws {
        let belfry = try Belfry()
        let nowhere = belfry.folder.file("nowhere.yaml")
        let answer = try await belfry.run("belfryd", ["--config", nowhere])
        #expect(answer.code == 2)
        #expect(answer.errors.hasPrefix("belfryd: there is no configuration at \(nowhere)"))
        let check = try await belfry.run("belfryd", ["--check", "--config", nowhere])
        #expect(check.code == 2 && check.errors == answer.errors)
    }

    @Test func `keeps a configuration whose file is missing for a moment`() async throws {
        let belfry = try await Belfry.start("jobs:\n  first: { schedule: manual, command: [\"true\"] }")
        let before = try await belfry.json("config", "show")
        try FileManager.default.moveItem(atPath: belfry.configPath, toPath: belfry.folder.file("away"))
        let refused = try await belfry.run("reload")
        #expect(refused.code == 2)
        #expect(refused.errors.contains("\(belfry.configPath) no longer exists"))
        #expect(try await belfry.json("config", "show") == before)
        let kinds = try await belfry.json("status")["problems"].list.map { $0["kind"].text }
        #expect(kinds.contains("refusedConfiguration"))
        try FileManager.default.moveItem(atPath: belfry.folder.file("away"), toPath: belfry.configPath)
        #expect(try await belfry.run("reload").code == 0)
        #expect(
            try await belfry.json("status")["problems"].list.allSatisfy {
                $0["kind"].text != "refusedConfiguration"
            })
    }

    @Test func `works in folders that were given as relative paths`() async throws {
        let belfry = try Belfry("jobs:\n  first: { schedule: manual, command: [\"true\"] }")
        try await belfry.start(["--config", "belfry.yaml", "--state", "state", "--socket", "run/near.sock"])
        let answer = try await belfry.run("run", "first", "--follow", "--socket", "run/near.sock")
        #expect(answer.code == 0)
        #expect(
            try await belfry.json("status", "--socket", "./run/near.sock")["state"].text == belfry.statePath)
    }
}
