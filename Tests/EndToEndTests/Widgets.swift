import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `the widget of status bars` {
    private static let jobs = "jobs: { long: { schedule: manual, shell: 'echo 42%; sleep 1000' } }"

    @Test func `is empty while no run is active, and shows the one that is`() async throws {
        let belfry = try await Belfry.start(Self.jobs)
        let idle = try await belfry.json("widget")
        #expect(idle["text"].text == "" && idle["state"].text == "idle")
        try await belfry.run("run", "long")
        let shown = try await belfry.json("widget")
        #expect(shown["text"].text?.contains("long") == true && shown["state"].text != "idle")
        let line = try await belfry.run("widget", "--format", "waybar").json()
        #expect(line["class"].list.count == 1 && line["tooltip"].text?.hasPrefix("long#1") == true)
    }

    @Test func `prints a line at each change, and says so when the daemon is away`() async throws {
        let belfry = try await Belfry.start(Self.jobs)
        let feed = try belfry.feed("widget", "--watch", "--snapshot")
        #expect(try await feed.next()["state"].text == "idle")
        try await belfry.run("run", "long")
        _ = try await feed.next { $0["state"].text == "running" }
        let snapshot = try JSON(String(contentsOfFile: belfry.folder.file("run/live.json"), encoding: .utf8))
        #expect(snapshot["tasks"].list.first?["run"].text == "long#1" && snapshot["v"].number == 1)
        try await belfry.kill()
        _ = try await feed.next { $0["state"].text == "offline" }
        try await belfry.start()
        _ = try await feed.next { $0["state"].text == "running" }
    }

    @Test func `shows bots with what is unread`() async throws {
        let belfry = try await Belfry.start("bots: { ops: { backend: { kind: command } } }")
        try await belfry.run("notify", "--bot", "ops", "Disk is full")
        let shown = try await belfry.json("widget", "--bots", "ops")
        #expect(shown["text"].text?.hasSuffix("ops 1") == true && shown["state"].text == "unread")
        #expect(shown["tooltip"].list.first?.text?.hasSuffix("Disk is full") == true)
        let unknown = try await belfry.run("widget", "--bots", "opps")
        #expect(unknown.code == 4 && unknown.errors.contains("opps"))
    }

    @Test func `of i3bar is a stream alone`() async throws {
        let belfry = try await Belfry.start()
        let answer = try await belfry.run("widget", "--format", "i3bar")
        #expect(answer.code == 2 && answer.errors.contains("--watch"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a process that runs already` {
    @Test func `is followed until it ends`() async throws {
        let belfry = try await Belfry.start()
        let other = try ChildProcess("/bin/cat", [], environment: [:])
        let events = try belfry.events()
        let follower = try ChildProcess(
            BuiltProgram.path("belfry"), ["exec", "--attach", "\(other.pid)", "--progress", "plain"],
            environment: belfry.environment)
        _ = try await events.event("run.started", of: "cat")
        #expect(try await belfry.json("run", "show", "cat")["state"].text == "running")
        try other.closeInput()
        #expect(await follower.status() == 0)
        let run = try await belfry.json("run", "show", "cat")
        #expect(run["state"].text == "completed" && run["name"].text == "cat#1")
        let log = try await belfry.run("run", "logs", "cat#1").text
        #expect(log.hasPrefix("following process \(other.pid) (cat)\n"))
    }

    @Test func `must exist, and takes no command beside it`() async throws {
        let belfry = try Belfry()
        // Above what the kernel gives.
        let missing = try await belfry.run("exec", "--attach", "2000000000")
        #expect(missing.code == 125 && missing.errors.contains("no process 2000000000"))
        #expect(try await belfry.run("exec", "--attach", "1", "--", "true").code == 2)
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the hook of a shell` {
    @Test func `notifies of a command that took long enough, and how it ended`() async throws {
        let belfry = try await Belfry.start()
        let events = try belfry.events()
        try belfry.write(
            #"[["wait","ready"],["type",". ./hook\r"],["type","false --long\r"],["type","exit 0\r"]]"#,
            to: "steps")
        let answer = try await belfry.shell(
            """
            belfry shell-hook bash --after 0s >hook
            exec env TERM=dumb PS1='ready ' HISTFILE= '\(try PythonTools.interpreter())' \
            '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" bash --norc --noprofile -i
            """)
        #expect(try answer.json()["failed"] == nil)
        var said: [String] = []
        while !said.contains(where: { $0.contains("false --long") }) {
            let event = try await events.event("message.posted")
            let message = try await belfry.json("messages", "show", event["subject"].text ?? "")
            said.append(message["text"].text ?? "")
        }
        #expect(said.last?.hasPrefix("false --long\nfailed after") == true)
        #expect(said.last?.hasSuffix("exit code 1") == true)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `is a script that the shell accepts`(shell: String) async throws {
        let belfry = try Belfry()
        let script = try await belfry.run("shell-hook", shell, "--after", "90s")
        #expect(script.code == 0 && script.text.contains("90") && !script.text.contains("SECONDS_LIMIT"))
        try belfry.write(script.text, to: "hook")
        // A shell that is not installed is not asked.
        #expect(
            try await Shell.run(
                "if command -v \(shell) >/dev/null; then \(shell) -n hook; fi", in: belfry.folder.path) == 0)
    }

    @Test func `says nothing of programs one sits in, nor of what was interrupted`() async throws {
        let belfry = try await Belfry.start()
        for (line, code) in [("vim notes", "0"), ("sudo /usr/bin/less x", "0"), ("make", "130")] {
            let answer = try await belfry.run("shell-report", "--code", code, "--seconds", "60", "--", line)
            #expect(answer.code == 0)
        }
        try await belfry.run("shell-report", "--code", "0", "--seconds", "72", "--", "FOO=1 make -j4 all")
        let messages = try await belfry.json("messages").list
        #expect(messages.map { $0["text"].text } == ["FOO=1 make -j4 all\ndone in 1 min 12 s"])
        #expect(messages.first?["thread"].text == "shell")
    }
}
