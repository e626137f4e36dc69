import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct `belfry exec` {
    @Test(
        arguments: [
            (["sh", "-c", "exit 0"], 0), (["sh", "-c", "exit 9"], 9), (["/nowhere/at/all"], 127),
            (["/etc/passwd"], 126), (["sh", "-c", "kill -KILL $$"], 137),
        ] as [([String], Int32)])
    func `passes the code of a command on`(command: [String], code: Int32) async throws {
        let belfry = try await Belfry.start()
        #expect(try await belfry.run("belfry", ["exec", "--"] + command).code == code)
    }

    @Test func `runs in this folder with this environment, and copies the output`() async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.run(
            "exec", "--name", "Nightly Build".lowercased().replacing(" ", with: "-"), "--bot", "ops", "--",
            "sh",
            "-c", "pwd; echo $XDG_RUNTIME_DIR; echo $BELFRY_RUN; echo oops >&2")
        #expect(answer.code == 0)
        #expect(
            Set(answer.lines) == [
                belfry.folder.path, belfry.folder.file("run"), "nightly-build#1", "oops",
            ])
        let run = try await belfry.json("run", "show", "nightly-build#1")
        #expect(run["kind"].text == "exec")
        #expect(run["bot"].text == "ops")
        #expect(run["slot"] == nil)
    }

    @Test func `leaves no environment in the ledger`() async throws {
        let belfry = try await Belfry.start()
        let secret = belfry.folder.file("run")
        let answer = try await belfry.run(
            "exec", "--name", "quiet", "--", "sh", "-c", "test -n \"$XDG_RUNTIME_DIR\"")
        #expect(answer.code == 0)
        _ = try await belfry.stop()
        for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
            let path = belfry.folder.file("state/\(name)")
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
        }
    }

    @Test func `tells its own failures from those of the command`() async throws {
        let belfry = try Belfry()
        #expect(try await belfry.run("exec", "--", "true").code == 3)
        #expect(try await belfry.run("exec").code == 2)
    }
}
