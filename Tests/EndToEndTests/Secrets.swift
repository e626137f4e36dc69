import Foundation
import TestSupport
import Testing

/// The binaries, with a secret in every place that asks for one: none of them is found where people or programs read.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `a secret` {
    /// What every secret here has in it.
    private static let word = "s3cr3t"

    /// A kind of channel whose receiver repeats the path of what it refuses.
    private struct Kind {
        var name: String
        var settings = ""
        /// The key of its secret, and the secret; an address is given the receiver's host.
        var key: String?
        var secret = ""
        var path = ""
    }

    private static let kinds = [
        Kind(
            name: "webhook", key: "secret",
            secret: "whsec_" + Data("s3cr3t-of-signature-0123".utf8).base64EncodedString(), path: "/hook"),
        Kind(name: "cloudevents", key: "token", secret: "s3cr3t-events", path: "/in"),
        Kind(name: "slack", key: "webhook", secret: "@/services/T0/B0/s3cr3t-slack"),
        Kind(name: "discord", key: "webhook", secret: "@/api/webhooks/1/s3cr3t-discord"),
        Kind(name: "teams", key: "webhook", secret: "@/workflows/s3cr3t-teams?sig=s3cr3t"),
        Kind(name: "ntfy", key: "token", secret: "tk_s3cr3t-ntfy", path: "/alerts"),
        Kind(name: "gotify", key: "token", secret: "As3cr3t-gotify"),
        Kind(name: "telegram", settings: "chat: 7, ", key: "token", secret: "1:s3cr3t-telegram"),
        Kind(name: "matrix", settings: "room: '!a:e.org', ", key: "token", secret: "syt_s3cr3t_matrix"),
        Kind(name: "alertmanager", key: "token", secret: "s3cr3t-alertmanager"),
        Kind(name: "pagerduty", key: "key", secret: "s3cr3ts3cr3ts3cr3ts3cr3ts3cr3t12"),
        Kind(name: "ping", key: "key", secret: "s3cr3t-ping"),
        Kind(name: "live-activity", key: "token", secret: "s3cr3t-activity"),
        Kind(name: "template", settings: "body: '{}', ", key: "webhook", secret: "@/chat/s3cr3t-template"),
    ]

    /// What is searched for: the word, and what it is in base64 at each of its three places.
    private static let traces: [[UInt8]] = {
        let shifted = (0..<3).map { shift in
            let text = Data((String(repeating: "x", count: shift) + word).utf8).base64EncodedString()
            return String(text.dropFirst(shift == 0 ? 0 : 4).prefix(shift == 0 ? 8 : 4))
        }
        // Four characters alone are found by chance.
        return ([word] + shifted.filter { $0.count >= 8 }).map { Array($0.utf8) }
    }()

    private func isLeaking(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return Self.traces.contains { bytes.firstRange(of: $0) != nil }
    }

    /// Runs a command, and keeps nothing of it but whether it says a secret.
    private func drive(_ belfry: Belfry, _ words: String..., input: String? = nil) async throws {
        let answer = try await belfry.run("belfry", words, input: input)
        #expect(!isLeaking(answer.bytes), "\(words): \(answer.text)")
        #expect(!isLeaking(answer.errors.utf8), "\(words): \(answer.errors)")
    }

    @Test func `is in no log, no answer, no list and no file of the ledger, whatever happens to its channel`()
        async throws
    {
        let folder = try TemporaryFolder()
        let belfry = try Belfry(in: folder)
        let refusing = try await HookServer(["--status-plan", "403", "--echo-path"])
        let failing = try await HookServer(["--status-plan", "503", "--echo-path"])
        let mails = try await MailServerProcess(["--login", "bell", "another-word"])
        let good = try configuration(belfry, [refusing, failing], mails)
        try belfry.write(good, to: "belfry.yaml")
        let log = folder.file("daemon.log")
        let daemon = try belfry.launch(
            ["--config", belfry.configPath, "--state", belfry.statePath, "--log-level", "trace"],
            through: ["/bin/sh", "-c", "exec \"$0\" \"$@\" >>'\(log)' 2>&1"])
        #expect(try await belfry.run("status", "--wait", "60s").code == 0)
        try await addChannels(belfry, refusing)
        try await fail(belfry, good)
        try await list(belfry)
        daemon.signal(SIGTERM)
        _ = await daemon.status()

        let said = try #require(FileManager.default.contents(atPath: log))
        #expect(!said.isEmpty && !isLeaking(said), "the log: \(lines(of: said))")
        var searched = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: belfry.statePath)
        where !path.hasPrefix("secrets") {
            guard let bytes = FileManager.default.contents(atPath: belfry.statePath + "/" + path) else {
                continue
            }
            searched += 1
            #expect(!isLeaking(bytes), "\(path)")
        }
        #expect(searched > 0)
    }

    private func lines(of log: Data) -> [Substring] {
        String(decoding: log, as: UTF8.self).split(separator: "\n").filter { isLeaking($0.utf8) }
    }

    /// Each kind twice: one is refused, the other fails for now.
    private func configuration(
        _ belfry: Belfry, _ servers: [HookServer], _ mails: MailServerProcess
    ) throws -> String {
        var (channels, names): (String, [String]) = ("", [])
        for kind in Self.kinds {
            for (number, server) in servers.enumerated() {
                let name = "\(kind.name)-\(number)"
                names.append(name)
                let secret = kind.secret.replacingOccurrences(of: "@", with: server.url(""))
                try belfry.write(secret + "\n", to: name)
                _ = unsafe chmod(belfry.folder.file(name), 0o600)
                let key = kind.key.map { "\($0): { file: \(belfry.folder.file(name)) }, " } ?? ""
                channels += """
                      \(name): { kind: \(kind.name), url: "\(server.url(""))\(kind.path)", \(kind.settings)\(key)\
                    allow: [127.0.0.1/32] }

                    """
            }
        }
        try belfry.write("s3cr3t-password\n", to: "password")
        _ = unsafe chmod(belfry.folder.file("password"), 0o600)
        return """
            zone: UTC
            channels:
            \(channels)  mail: { kind: mail, to: [a@example.org], from: b@example.org, url: "smtp://127.0.0.1:\(mails.port)", \
            tls: none, user: bell, password: { file: \(belfry.folder.file("password")) }, allow: [127.0.0.1/32] }
            routes:
              - { when: [failed, started, message, test], to: [\((names + ["mail"]).joined(separator: ", "))] }
            jobs:
              backup: { schedule: manual, shell: "echo no tape; exit 3" }

            """
    }

    private func addChannels(_ belfry: Belfry, _ server: HookServer) async throws {
        for kind in Self.kinds {
            let secret = kind.secret.replacingOccurrences(of: "@", with: server.url(""))
            var words = [
                "channel", "add", kind.name, "--name", "own-\(kind.name)", "--set", "allow=127.0.0.1",
            ]
            words += ["--set", "url=\(server.url(""))\(kind.path)", "--secret", "-"]
            for setting in ["chat=7", "room=!a:e.org", "body={}"] {
                let key = String(setting.prefix { $0 != "=" })
                if kind.settings.hasPrefix(key) { words += ["--set", setting] }
            }
            let answer = try await belfry.run("belfry", words, input: secret)
            // Refused by its service: it is kept all the same.
            #expect(
                answer.code == 1 && !isLeaking(answer.bytes) && !isLeaking(answer.errors.utf8), "\(answer)")
        }
        // What is refused here names no part of the address, either.
        for address in [
            "https://me:s3cr3t@example.org/x", "https://example.org/x?token=s3cr3t", "foo://s3cr3t",
            "s3cr3t.x/y",
            "tgram://1:s3cr3t", "slack://s3cr3t", "mailtos://s3cr3t", "discord://s3cr3t",
            "ntfy://me:s3cr3t@e.org/x",
        ] {
            try await drive(belfry, "channel", "add", address, "--no-test")
        }
    }

    /// Failures of every kind: of deliveries, of reloads, and of files.
    private func fail(_ belfry: Belfry, _ good: String) async throws {
        try await drive(belfry, "run", "backup", "--follow")
        try await drive(belfry, "notify", "a word")
        for kind in Self.kinds {
            for name in ["\(kind.name)-0", "\(kind.name)-1", "own-\(kind.name)"] {
                try await drive(belfry, "notify", "--to", name, "another word")
            }
            try await drive(belfry, "channel", "test", "\(kind.name)-0")
            try await drive(belfry, "channel", "test", "own-\(kind.name)", "--json")
        }
        try await drive(belfry, "channel", "test", "mail")
        for broken in [
            "channels:\n  x: { kind: ntfy, url: \"https://me:s3cr3t@e.org/x\" }\n",
            "channels:\n  x: { kind: ntfy, url: \"https://e.org/x\", token: tk_s3cr3t }\n",
            "channels:\n  x: { kind: slack, url: \"https://hooks.slack.com/services/T/B/s3cr3t\" }\n",
        ] {
            try belfry.write(broken, to: "belfry.yaml")
            try await drive(belfry, "reload")
            let check = try await belfry.run("belfry", ["config", "check", "--config", belfry.configPath])
            #expect(check.code == 2 && check.errors.contains("belfry.yaml:2:"), "\(check)")
            #expect(!isLeaking(check.bytes) && !isLeaking(check.errors.utf8), "\(check)")
        }
        try belfry.write(good, to: "belfry.yaml")
        // A secret that is no address, one that may be read by all, and one that is not there.
        try belfry.write("s3cr3t no address\n", to: "slack-0")
        _ = unsafe chmod(belfry.folder.file("ntfy-0"), 0o644)
        try FileManager.default.removeItem(atPath: belfry.folder.file("gotify-0"))
        try await drive(belfry, "reload")
        try await drive(belfry, "config", "check", "--config", belfry.configPath)
        try await drive(belfry, "config", "show", "--config", belfry.configPath)
        try await drive(belfry, "doctor")
    }

    private func list(_ belfry: Belfry) async throws {
        for words in [
            ["status"], ["doctor"], ["channel", "list"], ["outbox", "list"], ["runs"], ["job", "list"],
            ["job", "show", "backup"], ["run", "show", "backup#1"], ["messages"], ["questions"],
            ["bot", "list"],
            ["silence", "list"], ["token", "list"], ["expect", "list"], ["why", "backup#1"],
        ] {
            for more in [[], ["--json"]] {
                let answer = try await belfry.run("belfry", words + more)
                #expect(!isLeaking(answer.bytes) && !isLeaking(answer.errors.utf8), "\(words): \(answer)")
            }
        }
        try await drive(belfry, "run", "logs", "backup#1")
        for entry in try await belfry.json("outbox", "list").list {
            try await drive(belfry, "outbox", "show", try #require(entry["id"].text))
        }
        let newest = try #require(try await belfry.json("outbox", "list").list.first?["id"].text)
        try await drive(belfry, "outbox", "show", newest, "--json")
        try await drive(belfry, "channel", "rm", "own-slack")
    }
}
