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

    @Test func `is refused with its fault, and leaves nothing behind`() async throws {
        let folder = try TemporaryFolder()
        let belfry = try await start(folder)
        let bad = try await belfry.run("channel", "add", "https://hooks.slack.com:1/services/T/B/s3cret-word")
        #expect(bad.code == 2 && !(bad.text + bad.errors).contains("s3cret-word"), "\(bad)")
        let missing = try await belfry.run("channel", "add", "telegram", "--set", "chat=42")
        #expect(missing.code == 2 && missing.errors.contains("this telegram has no token"), "\(missing)")
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
            "--set", "url=smtp://localhost:\(server.port)", "--set", "allow=localhost", "--no-test")
        #expect(added.code == 0, "\(added)")
        let applied = try await belfry.run("import", "crontab", "-", "--user-form", "--apply", input: crontab)
        #expect(applied.code == 0, "\(applied)")
        #expect(try await belfry.run("run", "ls", "--follow").code == 0)
        #expect(try await belfry.run("run", "echo-it", "--follow").code == 0)
        let mail = try await server.mail()
        #expect(mail.to == ["ops@example.org"])
        #expect(mail.plain?.contains("it is done") == true, "\(mail.plain ?? "")")
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
