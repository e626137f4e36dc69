import Foundation
import TestSupport
import Testing

/// The binaries, with a program as a channel.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a channel that is a program` {
    /// A home whose channel runs `command` for failures and tests, and whose `notify.sh` is `script`.
    private func start(_ command: String, script: String, in folder: TemporaryFolder) async throws -> Belfry {
        let belfry = try Belfry(in: folder)
        try belfry.write(script, to: "notify.sh")
        try belfry.write(
            """
            channels:
              any: { kind: command, command: \(command) }
            routes:
              - { when: [failed, test], to: [any] }
            jobs:
              backup: { schedule: manual, shell: "echo no tape in the drive; exit 3" }

            """, to: "belfry.yaml")
        try await belfry.start()
        return belfry
    }

    /// Waits until the outbox has so many entries, and has settled all of them; their states.
    private func settled(_ belfry: Belfry, count: Int = 1) async throws -> [String] {
        while true {
            let states = try await belfry.json("outbox").list.compactMap { $0["state"].text }
            if states.count >= count, !states.contains(where: ["pending", "sending"].contains) {
                return states
            }
        }
    }

    @Test func `is run for a failure, with its words as data`() async throws {
        let folder = try TemporaryFolder()
        let script = """
            cat >\(folder.file("input"))
            printf '%s\\n%s\\n' "$NOTICE_TITLE" "$NOTICE_BODY" >\(folder.file("words"))
            """
        let belfry = try await start("[sh, \(folder.file("notify.sh"))]", script: script, in: folder)
        #expect(try await belfry.run("run", "backup", "--follow").code == 3)
        #expect(try await settled(belfry) == ["delivered"])
        let words = belfry.lines(of: "words")
        #expect(words.prefix(2) == ["backup failed", "no tape in the drive"], "\(words)")
        #expect(words.last?.hasPrefix("exit code 3") == true, "\(words)")
        let body = try #require(belfry.lines(of: "input").first)
        #expect(
            body.contains(#""type":"run.failed""#) && body.contains(#""title":"backup failed""#), "\(body)")
        #expect(body.contains(#""outputTail":"no tape in the drive""#), "\(body)")
        // The program is no run of a job.
        #expect(try await belfry.json("runs").list.count == 1)
        #expect(try await belfry.json("channel", "list").list.first?["kind"].text == "command")
    }

    @Test func `reports in its test what it printed, and what is missing`() async throws {
        let folder = try TemporaryFolder()
        let script = "echo 'no such room' >&2; exit 4\n"
        let belfry = try await start("[sh, \(folder.file("notify.sh"))]", script: script, in: folder)
        let refused = try await belfry.run("channel", "test", "any", "--json")
        #expect(refused.code == 1)
        #expect(try refused.json()["detail"].text?.contains("sh exited with code 4: no such room") == true)
        let text = try String(contentsOfFile: belfry.configPath, encoding: .utf8)
        let other = text.replacing("[sh, \(folder.file("notify.sh"))]", with: "[no-such-notifier]")
        try belfry.write(other, to: "belfry.yaml")
        let checked = try await belfry.run("config", "check", "--config", belfry.configPath)
        let doubt =
            #"there is no program "no-such-notifier" in the service's PATH, so nothing is delivered there"#
        #expect(checked.code == 0 && (checked.text + checked.errors).contains(doubt), "\(checked)")
        #expect(try await belfry.run("reload").code == 0)
        let missing = try await belfry.run("channel", "test", "any", "--json")
        #expect(missing.code == 1)
        let reason = #"no program "no-such-notifier"; install it, or correct command: of this channel"#
        #expect(try missing.json()["detail"].text?.contains(reason) == true, "\(missing)")
    }

    @Test func `is a mail program, whose mails readers understand`() async throws {
        let folder = try TemporaryFolder()
        let belfry = try Belfry(in: folder)
        // What a reader makes of it, as one line of JSON.
        let reader = """
            import email, email.policy, json, sys
            mail = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.default)
            names = ["Subject", "To", "From", "Date", "Message-ID", "References"]
            seen = {name: str(mail[name]) for name in names}
            for kind in ["plain", "html"]:
                seen[kind] = mail.get_body(preferencelist=(kind,)).get_content()
            seen["defects"] = [str(d) for part in mail.walk() for d in part.defects]
            seen["arguments"] = sys.argv[1:]
            open("\(folder.file("mails"))", "a").write(json.dumps(seen) + "\\n")

            """
        try belfry.write(reader, to: "reader.py")
        try belfry.write(
            "#!/bin/sh\nexec /usr/bin/python3 \(folder.file("reader.py")) \"$@\"\n", to: "sendmail")
        _ = unsafe chmod(folder.file("sendmail"), 0o700)
        try belfry.write(
            """
            channels:
              inbox: { kind: mail, to: [ops@example.org, root], from: b@example.org, sendmail: \(folder.file("sendmail")) }
            routes:
              - { when: [failed, recovered], to: [inbox] }
            jobs:
              backup: { schedule: manual, shell: "echo naïve; echo '<no tape> 🎞'; test -e \(folder.file("tape"))" }

            """, to: "belfry.yaml")
        try await belfry.start()
        #expect(try await belfry.run("run", "backup", "--follow").code == 1)
        #expect(try await settled(belfry) == ["delivered"])
        try belfry.write("", to: "tape")
        #expect(try await belfry.run("run", "backup", "--follow").code == 0)
        #expect(try await settled(belfry, count: 2) == ["delivered", "delivered"])
        let mails = try belfry.lines(of: "mails").map { try JSON($0) }
        try #require(mails.count == 2)
        #expect(mails.map { $0["Subject"].text } == ["backup failed", "backup recovered"], "\(mails)")
        #expect(mails[0]["References"].text == mails[1]["References"].text)
        #expect(mails[0]["Message-ID"].text != mails[1]["Message-ID"].text)
        #expect(mails.allSatisfy { $0["defects"].list.isEmpty && $0["To"].text == "ops@example.org, root" })
        #expect(
            mails[0]["arguments"].list.compactMap(\.text) == [
                "-i", "-f", "b@example.org", "ops@example.org", "root",
            ])
        let plain = try #require(mails[0]["plain"].text)
        #expect(plain.hasPrefix("<no tape> 🎞\nexit code 1"), "\(plain)")
        #expect(plain.contains("\n\nThe last lines of its output:\n\nnaïve\n<no tape> 🎞\n"), "\(plain)")
        #expect(plain.hasSuffix("\n-- \nbelfry run show backup#1\n"), "\(plain)")
        #expect(mails[0]["html"].text?.contains("&lt;no tape&gt; 🎞\nexit code 1") == true)
        #expect(mails[1]["plain"].text?.contains("last lines") == false)
    }

    @Test func `outlives the daemon, and is not run twice for that`() async throws {
        let folder = try TemporaryFolder()
        let (begun, gate) = (try Gate("begun", in: folder), try Gate(in: folder))
        let script = """
            echo x >>\(folder.file("count"))
            echo >\(begun.path)
            read line <\(gate.path)
            """
        let belfry = try await start("[sh, \(folder.file("notify.sh"))]", script: script, in: folder)
        #expect(try await belfry.run("run", "backup", "--follow").code == 3)
        try await begun.passed()
        try await belfry.restart()
        try gate.open()
        #expect(try await settled(belfry) == ["delivered"])
        #expect(belfry.lines(of: "count") == ["x"])
    }
}
