import Foundation
import TestSupport
import Testing

/// The binaries, with channels that were made by `belfry channel add`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a channel of the command line` {
    private func start(_ folder: TemporaryFolder) async throws -> Belfry {
        let belfry = try Belfry(in: folder)
        try belfry.write(
            """
            channels:
              notes: { kind: command, command: [sh, -c, 'cat >>\(folder.file("notes"))'] }
            routes:
              - { when: [failed], to: [notes] }
            jobs:
              backup: { schedule: manual, shell: "exit 3" }

            """, to: "belfry.yaml")
        try await belfry.start()
        return belfry
    }

    @Test func `is tested, notified, kept by the daemon, and removed with its secret`() async throws {
        let folder = try TemporaryFolder()
        let server = try await MailServerProcess(["--login", "bell", "s3cret-word", "--insecure"])
        let belfry = try await start(folder)
        let words = [
            "channel", "add", "mail", "--name", "inbox", "--set", "to=ops@example.org", "--set",
            "from=b@example.org",
            "--set", "url=smtp://localhost:\(server.port)", "--set", "tls=none", "--set", "allow=localhost",
            "--set", "user=bell", "--secret", "-",
        ]
        let added = try await belfry.run("belfry", words, input: "s3cret-word\n")
        #expect(added.code == 0 && added.text.hasPrefix("Added inbox (mail).\ndelivered"), "\(added)")
        #expect(try await server.mail().headers["Subject"] != nil)
        let secret = belfry.statePath + "/secrets/channel-inbox.password"
        let mode = try FileManager.default.attributesOfItem(atPath: secret)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let again = try await belfry.run("belfry", words, input: "s3cret-word\n")
        #expect(again.code == 5 && again.errors.contains("there is a channel \"inbox\" already"), "\(again)")
        // A new daemon has it, with its route.
        try await belfry.restart()
        #expect(try await belfry.run("run", "backup", "--follow").code == 3)
        #expect(try await server.mail().headers["Subject"] == "backup failed")
        #expect(try await belfry.run("reload").code == 0)
        #expect(
            try await belfry.json("channel", "list").list.compactMap { $0["origin"].text } == ["file", "cli"])
        #expect(try await belfry.run("channel", "rm", "inbox").code == 0)
        #expect(!FileManager.default.fileExists(atPath: secret))
        #expect(try await belfry.json("channel", "list").list.compactMap { $0["name"].text } == ["notes"])
        let file = try await belfry.run("channel", "rm", "notes")
        #expect(file.code == 5 && file.errors.contains("belfry.yaml"), "\(file)")
        #expect(try await belfry.run("channel", "rm", "inbox").code == 4)
    }

    @Test func `moves with its state, and takes what waits for it along when it is removed`() async throws {
        let folder = try TemporaryFolder()
        let receiver = try await Belfry.receiver("--status-plan", "200,200,503")
        let belfry = try await start(folder)
        let added = try await belfry.run(
            "belfry",
            [
                "channel", "add", "gotify", "--set", "url=http://127.0.0.1:\(receiver.port)", "--set",
                "allow=127.0.0.1", "--secret", "-",
            ], input: "s3cret-word\n")
        #expect(added.code == 0, "\(added)")
        _ = try await receiver.record()
        try await belfry.stop()
        let moved = folder.file("moved")
        try FileManager.default.moveItem(atPath: belfry.statePath, toPath: moved)
        try await belfry.start(["--config", belfry.configPath, "--state", moved])
        #expect(try await belfry.run("channel", "test", "gotify").code == 0)
        #expect(try await receiver.record().headers["x-gotify-key"] == "s3cret-word")
        // It is not well from now on: what fails meanwhile waits.
        #expect(try await belfry.run("run", "backup", "--follow").code == 3)
        try await belfry.until {
            try await belfry.json("outbox", "--state", "pending,waiting").list.contains {
                $0["channel"].text == "gotify" && ($0["attempts"].integer ?? 0) > 0
            }
        }
        let removed = try await belfry.run("channel", "rm", "gotify")
        #expect(
            removed.code == 0
                && removed.text == "Removed gotify. Discarded 1 entry that was waiting for it.\n",
            "\(removed)")
        #expect(!FileManager.default.fileExists(atPath: moved + "/secrets/channel-gotify.token"))
        let entries = try await belfry.json("outbox", "--state", "pending,waiting").list
        #expect(entries.isEmpty, "\(entries)")
        #expect(try await belfry.run("outbox", "discard", "--channel", "gotify").code == 4)
    }

    @Test func `is sent a text by itself, with the daemon and without it`() async throws {
        let folder = try TemporaryFolder()
        let receiver = try await Belfry.receiver("--status-plan", "200,200,403")
        let belfry = try await start(folder)
        let added = try await belfry.run(
            "belfry",
            [
                "channel", "add", "gotify", "--set", "url=http://127.0.0.1:\(receiver.port)", "--set",
                "allow=127.0.0.1", "--secret", "-", "--no-test",
            ], input: "s3cret-word\n")
        #expect(added.code == 0, "\(added)")
        let unknown = try await belfry.run("notify", "--to", "gotfy", "hello")
        #expect(unknown.code == 4 && unknown.errors.contains("Did you mean \"gotify\"?"), "\(unknown)")
        #expect(try await belfry.run("notify", "--to", "gotify", "Dinner is ready").code == 0)
        let posted = try await receiver.record()
        let body = try JSON(posted.body ?? "")
        #expect(body["title"].text == "belfry" && body["message"].text == "Dinner is ready", "\(posted)")
        // Only the channel got it.
        #expect(!FileManager.default.fileExists(atPath: folder.file("notes")))
        try await belfry.stop()
        func send(_ words: String...) async throws -> Answer {
            let places = ["send", "--config", belfry.configPath, "--state", belfry.statePath]
            return try await belfry.run("belfryd", places + words)
        }
        let sent = try await send("--to", "gotify", "--title", "t", "No daemon here")
        #expect(sent.code == 0 && sent.text == "delivered: status 200; HTTP/1.1\n", "\(sent)")
        #expect(try JSON(try await receiver.record().body ?? "")["message"].text == "No daemon here")
        let refused = try await send("--to", "gotify", "No daemon here")
        #expect(refused.code == 1 && refused.errors.contains("answered 403"), "\(refused)")
        #expect(!(refused.text + refused.errors).contains("s3cret-word"))
        let program = try await send("--to", "notes", "To a program")
        #expect(program.code == 0 && program.text == "delivered\n", "\(program)")
        let written = try String(contentsOfFile: folder.file("notes"), encoding: .utf8)
        #expect(written.contains("To a program"))
        let nobody = try await send("--to", "nots", "x")
        #expect(nobody.code == 4 && nobody.errors.contains("Did you mean \"notes\"?"), "\(nobody)")
    }

    @Test func `gets what it lost once more`() async throws {
        let folder = try TemporaryFolder()
        let receiver = try await Belfry.receiver("--status-plan", "200")
        let belfry = try await start(folder)
        let added = try await belfry.run(
            "channel", "add", "http://127.0.0.1:\(receiver.port)/in", "--set", "allow=127.0.0.1", "--name",
            "hook",
            "--no-test")
        #expect(added.code == 0, "\(added)")
        #expect(try await belfry.run("channel", "test", "hook").code == 0)
        let first = try await receiver.record()
        let replay = try await belfry.run("outbox", "replay", "--channel", "hook", "--since", "1h")
        #expect(replay.text == "Sending 1 entry of channel \"hook\" again.\n", "\(replay)")
        let second = try await receiver.record()
        #expect(first.id != nil && second.id == first.id && second.body == first.body)
        let none = try await belfry.run(
            "outbox", "replay", "--since", "2020-01-01T00:00:00Z", "--channel", "hok")
        #expect(none.code == 4, "\(none)")
    }

    @Test func `is refused with its fault, and leaves nothing behind`() async throws {
        let folder = try TemporaryFolder()
        let belfry = try await start(folder)
        let bad = try await belfry.run("channel", "add", "https://hooks.slack.com:1/services/T/B/s3cret-word")
        #expect(bad.code == 2 && !(bad.text + bad.errors).contains("s3cret-word"), "\(bad)")
        let missing = try await belfry.run("channel", "add", "telegram", "--set", "chat=42")
        #expect(
            missing.code == 2
                && missing.errors.contains("this telegram has no token; pipe it in: --secret - < FILE"),
            "\(missing)")
        let unknown = try await belfry.run("channel", "add", "carrier-pigeon")
        #expect(unknown.code == 2 && unknown.errors.contains("is not a kind of channel"), "\(unknown)")
        #expect(try await belfry.json("channel", "list").list.count == 1)
        let secrets = try? FileManager.default.contentsOfDirectory(atPath: belfry.statePath + "/secrets")
        #expect(secrets?.isEmpty ?? true)
    }

    @Test func `gets by mail what the jobs of a crontab print`() async throws {
        let folder = try TemporaryFolder()
        let server = try await MailServerProcess()
        let belfry = try await start(folder)
        let crontab = "MAILTO=ops@example.org\n0 3 * * * echo it is done\nMAILTO=\n0 4 * * * ls\n"
        let before = try await belfry.run("import", "crontab", "-", "--user-form", input: crontab)
        #expect(
            before.text.contains("first add a channel, belfry channel add mailto:ops@example.org"),
            "\(before)")
        let added = try await belfry.run(
            "channel", "add", "mailto:ops@example.org", "--set", "from=b@example.org", "--set", "tls=none",
            "--set", "url=smtp://localhost:\(server.port)", "--set", "allow=localhost", "--when",
            "recovered", "--no-test")
        #expect(added.code == 0, "\(added)")
        let shown = try await belfry.run("import", "crontab", "-", "--user-form", input: crontab)
        #expect(shown.text.contains("MAILTO: channel mail mails what it prints"), "\(shown)")
        #expect(shown.text.contains("MAILTO: failures go to the channels of the routes, not to mail"))
        let applied = try await belfry.run("import", "crontab", "-", "--user-form", "--apply", input: crontab)
        #expect(applied.code == 0, "\(applied)")
        #expect(try await belfry.run("run", "ls", "--follow").code == 0)
        #expect(try await belfry.run("run", "echo-it", "--follow").code == 0)
        let mail = try await server.mail()
        #expect(mail.to == ["ops@example.org"])
        #expect(mail.plain?.contains("it is done") == true, "\(mail.plain ?? "")")
        #expect(try await belfry.run("job", "show", "echo-it").text.contains("its output goes to: mail"))
    }

    @Test func `asks at a terminal for what is missing, and shows no secret`() async throws {
        let folder = try TemporaryFolder()
        let receiver = try await Belfry.receiver("--status-plan", "200")
        let belfry = try await start(folder)
        try belfry.write(
            #"[["wait","url (the server): "],["type","http://127.0.0.1:\#(receiver.port)\r"],"#
                + #"["wait","token (the token of the application): "],["type","s3cret-word\r"],["wait","delivered"]]"#,
            to: "steps")
        let answer = try await belfry.shell(
            """
            exec env TERM=xterm-256color LANG=C.UTF-8 \
            '\(try PythonTools.interpreter())' '\(PythonTools.script("pty-driver.py"))' "$(cat steps)" \
            belfry channel add gotify --set allow=127.0.0.1
            """)
        let seen = try answer.json()
        #expect(seen["failed"] == nil && seen["code"].number == 0, "\(seen["text"].text ?? "")")
        #expect(seen["text"].text?.contains("Added gotify (gotify).") == true)
        #expect(seen["text"].text?.contains("s3cret-word") == false && seen["canonical"] == .bool(true))
        #expect(try await receiver.record().headers["x-gotify-key"] == "s3cret-word")
    }
}
