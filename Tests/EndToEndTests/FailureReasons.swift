import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `a failure` {
    private static let script = #"i=1; while [ $i -le 7 ]; do echo step $i; i=$((i+1)); done; "#

    @Test func `says why: in the row, the event, the webhook, the popup and on the terminal`() async throws {
        let hook = try await Belfry.receiver()
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let belfry = try await Belfry.start(
            """
            jobs:
              backup:
                schedule: { cron: "0 3 * * *", zone: UTC }
                shell: '\(Self.script) printf "\\033[31mno tape in the drive\\033[0m\\n" >&2; exit 3'
              ghost: { schedule: manual, command: [/usr/bin/nonexistent] }
              nowhere: { schedule: manual, command: [foo] }
              boom: { schedule: manual, shell: "echo step 1; kill -SEGV $$" }
              good: { schedule: manual, shell: "echo fine" }
            """, bus: bus, hook: hook)
        let followed = try await belfry.run("run", "backup", "--follow")
        #expect(followed.code == 3)
        let expected = ["step 4", "step 5", "step 6", "step 7", "no tape in the drive"]
        #expect(followed.lines.suffix(5) == expected.map { "  " + $0 })

        let run = try await belfry.json("run", "show", "backup#1")
        #expect(run["outputTail"].text == (1...7).map { "step \($0)\n" }.joined() + "no tape in the drive")
        let shown = try await belfry.run("run", "show", "backup#1").lines
        #expect(shown.contains("state     failed: exit code 3"))
        #expect(!shown.contains { $0.hasPrefix("why") })
        #expect(shown.suffix(5) == expected.map { "          " + $0 }[...])

        let webhook = try await hook.webhook { $0.type == "run.failed" }
        #expect(webhook.data["run"]["outputTail"].text == run["outputTail"].text)
        let event = try await belfry.events().event("run.failed")
        #expect(event["data"]["message"].text == "no tape in the drive")
        let popup = try await notice("backup failed", on: server)
        #expect(popup.body.hasPrefix("no tape in the drive\nexit code 3"))
        #expect(popup.body.hasSuffix(", next try 03:00"))

        try await belfry.run("run", "ghost", "--follow")
        #expect(try await notice("ghost failed", on: server).body == "/usr/bin/nonexistent does not exist")
        let nowhere = try await belfry.run("run", "nowhere", "--follow")
        #expect(nowhere.code == 127 && nowhere.lines.last?.hasSuffix(#"failed: no program "foo""#) == true)
        #expect(try await notice("nowhere failed", on: server).body == #"no program "foo""#)
        for listing in [["runs", "nowhere"], ["job", "list"], ["job", "history", "nowhere"]] {
            let lines = try await belfry.run("belfry", listing).lines.filter {
                $0.contains(#"failed: no program "foo""#)
            }
            #expect(lines.count == 1 && !lines[0].contains("/bin"), "\(listing)")
        }
        let shownWhere = try await belfry.run("run", "show", "nowhere")
        #expect(shownWhere.lines.contains { $0.hasPrefix(#"why       no program "foo" in /"#) })
        #expect(try await belfry.run("run", "boom", "--follow").text.contains("SIGSEGV"))
        #expect(try await notice("boom crashed", on: server).body.hasPrefix("step 1\nSIGSEGV"))
        try await belfry.run("run", "good", "--follow")
        #expect(try await belfry.json("run", "show", "good#1")["outputTail"].text == nil)
    }

    private func notice(_ title: String, on server: NotificationServer) async throws -> ServerCall {
        while true {
            let call = try #require(try await server.next())
            if call.summary == title { return call }
        }
    }

    @Test func `of a wrapped command is the last line of its standard error`() async throws {
        let belfry = try await Belfry.start()
        let command = "echo no tape >&2; echo bye; exit 3"
        #expect(try await belfry.run("exec", "--name", "w", "--", "sh", "-c", command).code == 3)
        let event = try await belfry.events().event("run.failed")
        #expect(event["data"]["message"].text == "no tape")
    }

    @Test func `never shows a secret that comes from a file`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try Belfry(hook: hook)
        try belfry.write("hunter2-and-more\n", to: "token")
        try belfry.configure(
            """
            jobs:
              leak:
                schedule: manual
                env: { TOKEN: { file: \(belfry.folder.file("token")) }, PLAIN: text }
                shell: 'echo "error: $PLAIN, token $TOKEN refused"; exit 3'
              none: { schedule: manual, env: { TOKEN: { file: /no/such } }, shell: "true" }
            """)
        try await belfry.start()
        let followed = try await belfry.run("run", "leak", "--follow")
        #expect(followed.lines.last == "  error: text, token *** refused")
        let webhook = try await hook.webhook { $0.type == "run.failed" }
        #expect(webhook.data["run"]["outputTail"].text == "error: text, token *** refused")
        for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
            #expect(!belfry.lines(of: "state/\(name)").contains { $0.contains("hunter2") }, "\(name)")
        }
        #expect(
            try await belfry.run("job", "show", "leak", "--json").text.contains(#""env":["PLAIN","TOKEN"]"#))
        // The log is the job's own.
        #expect(try await belfry.run("run", "logs", "leak#1").text.contains("hunter2-and-more"))

        try await belfry.run("run", "none", "--follow")
        let why = "TOKEN can't be read from /no/such: No such file or directory"
        #expect(try await belfry.run("run", "show", "none#1").lines.contains("why       \(why)"))
    }
}
