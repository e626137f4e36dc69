import Foundation
import Glibc
import Host
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `belfry exec without a daemon` {
    @Test(
        arguments: [
            (["sh", "-c", "exit 0"], 0), (["sh", "-c", "exit 9"], 9), (["/nowhere/at/all"], 127),
            (["/etc/passwd"], 126), (["sh", "-c", "kill -KILL $$"], 137),
        ] as [([String], Int32)])
    func `runs it all the same, and passes its code on`(command: [String], code: Int32) async throws {
        let belfry = try Belfry()
        #expect(try await belfry.run("belfry", ["exec", "--"] + command).code == code)
        #expect(belfry.spooled.count == 1)
        // Its warden goes with it.
        try await belfry.until { Household.members(of: belfry.folder.path, named: "belfry-warden").isEmpty }
        let runtime = try Folder.names(in: belfry.folder.file("run/belfry"))
        #expect(runtime.isEmpty, "\(runtime)")
    }

    @Test func `is taken into the history by the next daemon, once`() async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run(
            "exec", "--name", "probe", "--bot", "ops", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
        #expect(answer.code == 3)
        #expect(answer.lines == ["out"] && answer.errors == "err\n")
        try await belfry.start()
        let run = try await belfry.json("run", "show", "probe#1")
        #expect(run["kind"].text == "exec" && run["bot"].text == "ops" && run["state"].text == "failed")
        #expect(run["cause"].text == "exec:" + (run["id"].text ?? "-"))
        #expect(run["exitCode"].number == 3 && run["reason"].text == "exitCode")
        #expect(run["startedAt"].text != nil && run["endedAt"].text != nil && run["outputBytes"].number == 8)
        let logs = try await belfry.run("run", "logs", "probe#1")
        #expect(Set(logs.lines) == ["out", "err"])
        #expect(belfry.spooled.isEmpty)
        #expect(try await belfry.events().event("run.failed", of: "probe")["reason"].text == "exitCode")
        try await belfry.restart()
        #expect(try await belfry.run("runs", "--json").json().list.count == 1)
    }

    @Test func `is taken in once, though the file came back from the dead`() async throws {
        let belfry = try Belfry()
        _ = try await belfry.run("exec", "--name", "probe", "--", "true")
        let file = try #require(belfry.spooled.first)
        let path = belfry.statePath + "/spool/" + file
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try await belfry.start()
        #expect(belfry.spooled.isEmpty)
        // As if the daemon had died between the row and the file's end.
        try await belfry.kill()
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try await belfry.start()
        #expect(belfry.spooled.isEmpty)
        #expect(try await belfry.run("runs", "--json").json().list.count == 1)
    }

    @Test func `reports to a daemon that started meanwhile`() async throws {
        let belfry = try Belfry()
        let (gate, next) = (try Gate(in: belfry.folder), try Gate("next", in: belfry.folder))
        let process = try belfry.startShell(
            "exec belfry exec --name probe -- sh -c 'echo >gate; read line <next'",
            output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        try await gate.passed()
        try await belfry.start()
        #expect(try await belfry.run("runs", "--json").json().list.isEmpty)
        try next.open()
        #expect(await process.status() == 0)
        #expect(try await belfry.json("run", "show", "probe#1")["state"].text == "completed")
    }

    @Test func `is killed, and its command continues, and is recorded all the same`() async throws {
        let belfry = try Belfry()
        let (gate, next) = (try Gate(in: belfry.folder), try Gate("next", in: belfry.folder))
        let process = try belfry.startShell(
            "exec belfry exec --name probe -- sh -c 'echo >gate; read line <next; echo late; exit 5'",
            output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        try await gate.passed()
        await process.end()
        try next.open()
        let saved = belfry.statePath + "/spool/warden"
        #expect(
            try await belfry.shell(
                "for i in $(seq 1200); do ls '\(saved)'/* 2>/dev/null && exit; sleep 0.1; done; exit 1"
            ).code == 0)
        try await belfry.start()
        let run = try await belfry.ended("probe#1")
        #expect(run["state"].text == "failed" && run["exitCode"].number == 5)
        #expect(try await belfry.run("run", "logs", "probe#1").lines == ["late"])
        try await belfry.until { try Folder.names(in: saved).isEmpty }
    }

    @Test func `is lost when its warden is killed with it, and the next daemon reports it`() async throws {
        let belfry = try Belfry()
        let gate = try Gate(in: belfry.folder)
        let process = try belfry.startShell(
            "exec belfry exec --name probe -- sh -c 'echo >gate; exec sleep 1000'",
            output: belfry.folder.file("out"), errors: belfry.folder.file("err"))
        try await gate.passed()
        let wardens = Household.members(of: belfry.folder.path, named: "belfry-warden")
        #expect(wardens.count == 1)
        await process.end()
        for warden in wardens { kill(warden, SIGKILL) }
        try await belfry.until { Household.members(of: belfry.folder.path, named: "belfry-warden").isEmpty }
        try await belfry.start()
        let run = try await belfry.ended("probe#1")
        #expect(run["state"].text == "lost" && run["reason"].text == "wardenLost")
    }

    @Test(
        arguments: [
            ("not-an-id", "{}", "its name is no run's id"),
            ("0190aaaa-0000-7000-8000-000000000001", "{", "it is not valid JSON"),
            ("0190aaaa-0000-7000-8000-000000000002", #"{"form":1}"#, "missing"),
            (
                "0190aaaa-0000-7000-8000-000000000003",
                #"{"form":1,"id":"0190aaaa-0000-7000-8000-000000000003","job":"../x","command":["true"],"cwd":"/","state":"completed","startedAt":"2026-01-01T00:00:00Z","watcher":{"pid":1,"startTime":1,"boot":"x"}}"#,
                "a name"
            ),
            (
                "0190aaaa-0000-7000-8000-000000000004",
                #"{"form":1,"id":"0190aaaa-0000-7000-8000-000000000005","job":"x","command":["true"],"cwd":"/","state":"completed","startedAt":"2026-01-01T00:00:00Z","watcher":{"pid":1,"startTime":1,"boot":"x"}}"#,
                "it names the run"
            ),
            (
                "0190aaaa-0000-7000-8000-000000000006",
                #"{"form":1,"id":"0190aaaa-0000-7000-8000-000000000006","job":"x","command":["true"],"cwd":"/","state":"missed","startedAt":"2026-01-01T00:00:00Z","watcher":{"pid":1,"startTime":1,"boot":"x"}}"#,
                "no run of it ends as missed"
            ),
        ])
    func `sets a file aside that is none of its own, with a sentence`(
        name: String, text: String, sentence: String
    ) async throws {
        let belfry = try Belfry()
        _ = try await belfry.run("exec", "--name", "good", "--", "true")
        try belfry.write(text, to: "state/spool/\(name).json")
        try await belfry.start()
        let line = try await belfry.logged("a spooled run was refused")
        #expect(line.contains(sentence), "\(line)")
        let aside = belfry.statePath + "/spool/refused/\(name).json"
        try await belfry.until { FileManager.default.fileExists(atPath: aside) }
        #expect(try await belfry.run("runs", "--json").json().list.count == 1)
    }

    @Test func `runs also where nothing can be kept, and reports it`() async throws {
        let belfry = try Belfry()
        try belfry.write("in the way", to: "state")
        let answer = try await belfry.run("exec", "--", "sh", "-c", "echo out; exit 4")
        #expect(answer.code == 4 && answer.lines == ["out"])
        #expect(answer.errors.contains("this run can't be recorded"))
    }

    @Test func `runs it all the same while the daemon is stopped, once, and reports it`() async throws {
        let belfry = try await Belfry.start()
        belfry.set("BELFRY_TIMEOUT", nil)
        try belfry.process().signal(SIGSTOP)
        let answer = try await belfry.run(
            "exec", "--name", "probe", "--", "sh", "-c", "echo out; echo ran >>ran; exit 3")
        try belfry.process().signal(SIGCONT)
        #expect(answer.code == 3 && answer.lines == ["out"])
        #expect(answer.errors.contains("the daemon on \(belfry.socketPath) did not answer within 5"))
        #expect(answer.errors.contains("the command runs without it and is recorded when it next starts"))
        try await belfry.restart()
        let runs = try await belfry.run("runs", "--json").json().list
        #expect(runs.map { $0["name"].text } == ["probe#1"] && runs.first?["exitCode"].integer == 3)
        #expect(belfry.lines(of: "ran") == ["ran"])
    }

    @Test func `runs it while the daemon has too many connections, and reports it`() async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.shell(
            """
            exec python3 -c '
            import os, socket, subprocess, threading
            pause = threading.Event()
            idle = [socket.socket(socket.AF_UNIX) for _ in range(256)]
            for one in idle: one.connect(os.environ["BELFRY_SOCKET"])
            def stay():
                while True:
                    for one in idle: one.send(b"GET /healthz HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n")
                    for one in idle: one.recv(4096)
                    pause.wait(1)
            threading.Thread(target=stay, daemon=True).start()
            raise SystemExit(subprocess.call(["belfry", "exec", "--name", "probe", "--", "sh", "-c", "echo out; exit 3"]))
            '
            """)
        #expect(answer.code == 3 && answer.lines == ["out"])
        #expect(answer.errors.contains("too many connections"))
        #expect(answer.errors.contains("the command runs without it"))
        try await belfry.restart()
        #expect(try await belfry.json("run", "show", "probe#1")["exitCode"].integer == 3)
    }

    @Test func `fails when a daemon was named that does not answer`() async throws {
        let belfry = try await Belfry.start()
        belfry.set("BELFRY_TIMEOUT", nil)
        try belfry.process().signal(SIGSTOP)
        let answer = try await belfry.run("exec", "--socket", belfry.socketPath, "--", "touch", "ran")
        try belfry.process().signal(SIGCONT)
        #expect(answer.code == 125 && answer.errors.contains("did not answer within 5"))
        #expect(!FileManager.default.fileExists(atPath: belfry.folder.file("ran")))
    }

    @Test func `refuses when a daemon was named`() async throws {
        let belfry = try Belfry()
        let answer = try await belfry.run("exec", "--socket", belfry.socketPath, "--", "true")
        #expect(answer.code == 125 && answer.errors.contains("no daemon answers"))
    }

    @Test func `prints live states in place of the output`() async throws {
        let belfry = try Belfry()
        let gate = try Gate(in: belfry.folder)
        let report = "echo '{\"progress\":0.5,\"phase\":\"half\"}' >&$PROGRESS_FD"
        let process = try ChildProcess(
            BuiltProgram.path("belfry"),
            [
                "exec", "--name", "probe", "--json", "--", "sh", "-c",
                "echo not shown; \(report); read line <gate; exit 2",
            ], environment: belfry.environment, folder: belfry.folder.path)
        let states = Feed(process)
        _ = try await states.next { $0["phase"].text == "half" && $0["progress"].number == 0.5 }
        try gate.open()
        #expect(try await states.rest().last?["state"].text == "failed")
        #expect(await states.code() == 2)
    }
}
