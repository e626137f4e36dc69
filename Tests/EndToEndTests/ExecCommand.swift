import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `belfry exec` {
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
        #expect(answer.lines == [belfry.folder.path, belfry.folder.file("run"), "nightly-build#1"])
        #expect(answer.errors == "oops\n")
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

    @Test func `is no run of the job whose name the command bears`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              echo: { schedule: manual, command: ["true"] }
            """)
        let taken = try await belfry.run("exec", "--name", "echo", "--", "echo", "hello")
        #expect(taken.code == 125)
        #expect(taken.errors == "belfry: \"echo\" is the name of a job. Choose another with --name.\n")
        #expect(try await belfry.run("exec", "--", "echo", "hello").lines == ["hello"])
        #expect(try await belfry.json("run", "show", "echo.exec#1")["kind"].text == "exec")
        #expect(try await belfry.json("job", "show", "echo")["lastRun"] == nil)
    }

    @Test func `fails with 125 by itself, so that nobody takes it for the command`() async throws {
        let belfry = try Belfry()
        let away = try await belfry.run("exec", "--socket", belfry.socketPath, "--", "true")
        #expect(away.code == 125 && away.errors.hasPrefix("belfry: "))
        let json = try await belfry.run("exec", "--json", "--socket", belfry.socketPath, "--", "true")
        #expect(json.code == 125)
        #expect(try JSON(json.errors)["error"]["kind"].text == "noDaemon")
        let help = try await belfry.run("exec", "--help").text.split { $0.isWhitespace }
        #expect(help.joined(separator: " ").contains("125 means that Belfry failed, not the command"))
    }

    @Test func `says of a reserved name that it is one`() async throws {
        let answer = try await Belfry().run("exec", "--name", "logs", "--", "true")
        #expect(
            answer.code == 2 && answer.errors.contains("\"logs\": a subcommand of belfry run has this name"))
    }

    @Test(arguments: [
        ["exec"], ["exec", "--"], ["exec", "--", ""], ["exec", "--notify", "loudly", "--", "true"],
        ["exec", "--name", "Not A Name", "--", "true"], ["exec", "--bot", "-", "--", "true"],
        ["exec", "--nme", "x", "--", "true"],
    ])
    func `shows what it can't do before it does anything`(words: [String]) async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("belfry", words)
        #expect(answer.code == 2 && answer.errors.hasPrefix("belfry: "), "\(answer)")
        #expect(
            answer.errors.split(separator: "\n").count == 1 && answer.errors.contains("belfry exec --help"))
        #expect(belfry.spooled.isEmpty)
    }

    @Test func `can't be repeated by the daemon, which shows why`() async throws {
        let belfry = try await Belfry.start()
        #expect(try await belfry.run("exec", "--name", "probe", "--", "false").code == 1)
        try await belfry.ended("probe#1")
        let answer = try await belfry.run("run", "retry", "probe#1")
        #expect(answer.code == 5 && answer.errors.contains("environment and terminal are never stored"))
    }

    @Test func `is asked for once, however often the request arrives`() async throws {
        let belfry = try await Belfry.start()
        let body = """
            {"id":"0190aaaa-0000-7000-8000-000000000001","name":"probe","command":["true"],"cwd":"/","env":{}}
            """
        let request = "curl -sf --unix-socket \(belfry.socketPath) -d '\(body)' http://belfry/v1/exec"
        for _ in 0..<2 {
            #expect(try await belfry.shell(request).code == 0)
        }
        _ = try await belfry.events().event("run.completed", of: "probe")
        // Also where a job of that name was added meanwhile.
        #expect(try await belfry.run("job", "add", "probe", "--", "true").code == 0)
        #expect(try await belfry.shell(request).code == 0)
        #expect(try await belfry.run("runs", "--json").json().list.count == 1)
    }

    /// Issue 10, 19.
    @Test func `says of a warden that is stopped that it does not answer`() async throws {
        let belfry = try await Belfry.start()
        let warden = try #require(try await belfry.json("status")["warden"]["pid"].integer)
        kill(Int32(warden), SIGSTOP)
        defer { kill(Int32(warden), SIGCONT) }
        let answer = try await belfry.run("exec", "--", "true")
        #expect(answer.code == 125)
        #expect(
            answer.errors
                == "belfry: the warden did not answer for 5 s. It may be stopped or overloaded. See: belfry doctor\n"
        )
    }
}
