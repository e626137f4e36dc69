import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `belfryd listen` {
    @Test func `verifies what the daemon sends, and prints it`() async throws {
        let belfry = try Belfry()
        let listener = try listen(in: belfry, secret: Belfry.secret)
        let address = try #require(try await listener.next()["listening"].text)
        try belfry.write(config(for: address, in: belfry), to: "belfry.yaml")
        try await belfry.start()
        #expect(try await belfry.json("channel", "test", "here")["outcome"].text == "delivered")
        let test = try await listener.next()
        #expect(test["verified"] == .bool(true))
        #expect(test["repeated"] == .bool(false))
        #expect(test["body"]["type"].text == "test")
        #expect(try await belfry.json("outbox").list.first?["id"] == test["id"])
    }

    @Test func `refuses what was signed with another secret`() async throws {
        let belfry = try Belfry()
        let other = "whsec_" + Data((1...32).map { UInt8($0) }).base64EncodedString()
        let listener = try listen(in: belfry, secret: other)
        let address = try #require(try await listener.next()["listening"].text)
        try belfry.write(config(for: address, in: belfry), to: "belfry.yaml")
        try await belfry.start()
        let test = try await belfry.run("channel", "test", "here", "--json")
        #expect(test.code == 1)
        #expect(try test.json()["detail"].text?.contains("401") == true)
        let refused = try await listener.next()
        #expect(refused["verified"] == .bool(false))
        #expect(refused["fault"] != nil)
    }

    @Test func `reports once that its secret is not there`() async throws {
        let answer = try await Belfry().run("belfryd", ["listen", "--secret-file", "/nowhere/at/all"])
        #expect(answer.code == 2)
        #expect(answer.errors.components(separatedBy: "/nowhere/at/all").count == 2, "\(answer)")
    }

    @Test func `prints a webhook as one line: messages, failures, and who acknowledged one`() async throws {
        let belfry = try Belfry()
        let bodies = [
            #"{"type":"message.group","data":{"reason":"first","item":{"bot":"ops","count":1,"last":[{"text":"hi"}]}}}"#,
            #"{"type":"run.failed","data":{"reason":"acknowledgementExpired","item":{"bot":"ops","job":"backup","#
                + #""count":3,"last":[],"note":"acknowledged by desk 1h ago"}}}"#,
        ]
        for (number, body) in bodies.enumerated() { try belfry.write(body, to: "body\(number)") }
        let answer = try await belfry.shell(
            """
            mkfifo lines; belfryd listen >lines & exec 3<lines; read line <&3
            port=$(echo "$line" | grep -oE '127.0.0.1:[0-9]+')
            for n in 0 1; do curl -s --data-binary @body$n -o /dev/null "http://$port/"; read line <&3; echo "$line"; done
            kill $!; rm lines
            """)
        try #require(answer.lines.count == 2, "\(answer)")
        #expect(answer.lines[0].contains(#"ops: 1 new: "hi"  (first)"#), "\(answer)")
        #expect(
            answer.lines[1].contains(
                "backup: 3 failures, acknowledged by desk 1h ago  (acknowledgementExpired)"),
            "\(answer)")
    }

    @Test func `answers with the statuses that it is given, the last one for good`() async throws {
        let belfry = try Belfry()
        let answer = try await belfry.shell(
            """
            mkfifo lines; belfryd listen --status 503,429,204 --delay 1ms >lines & exec 3<lines; read line <&3
            port=$(echo "$line" | grep -oE '127.0.0.1:[0-9]+')
            for n in 1 2 3 4; do curl -s -d a -o /dev/null -w '%{http_code}\\n' "http://$port/"; done
            kill $!; rm lines
            """)
        #expect(answer.lines == ["503", "429", "204", "204"], "\(answer)")
        for words in [["--status", "99"], ["--status", "200,,"], ["--delay", "soon"]] {
            #expect(try await belfry.run("belfryd", ["listen"] + words).code == 2, "\(words)")
        }
    }

    /// The kinds that are reached by HTTP: a channel of each, what it is taken for, and what is done.
    private static let services = [
        ("hook", "webhook", "kind: webhook, url: ADDRESS/hook", ""),
        ("events", "cloudEvents", "kind: cloudevents, url: ADDRESS/in", ""),
        ("whole", "cloudEvents", "kind: cloudevents, url: ADDRESS/in, mode: structured", ""),
        ("phone", "ntfy", "kind: ntfy, url: ADDRESS/alerts", ""),
        ("tablet", "gotify", "kind: gotify, url: ADDRESS, token: { file: SECRET/token }", ""),
        ("team", "slack", "kind: slack, url: ADDRESS, webhook: { file: SECRET/slack }", ""),
        ("server", "discord", "kind: discord, url: ADDRESS, webhook: { file: SECRET/discord }", "post"),
        (
            "chat", "telegram", "kind: telegram, url: ADDRESS, chat: 1, token: { file: SECRET/bot }",
            "sendMessage"
        ),
        (
            "room", "matrix", "kind: matrix, url: ADDRESS, room: '!a:e.org', token: { file: SECRET/token }",
            "send"
        ),
        ("office", "teams", "kind: teams, url: ADDRESS, webhook: { file: SECRET/teams }", ""),
        ("alerts", "alertmanager", "kind: alertmanager, url: ADDRESS", ""),
        ("pager", "pagerDuty", "kind: pagerduty, url: ADDRESS, key: { file: SECRET/key }", "trigger"),
        ("checks", "ping", "kind: ping, url: ADDRESS, key: { file: SECRET/token }", "log"),
        (
            "relay", "liveActivity", "kind: live-activity, url: ADDRESS/live, token: { file: SECRET/token }",
            ""
        ),
        ("rest", "other", #"kind: template, url: ADDRESS/any, body: '{"said": "{{body}}"}'"#, "POST"),
    ]

    @Test func `answers as every service that a channel can be made for`() async throws {
        let belfry = try Belfry()
        let listener = try listen(in: belfry)
        let address = try #require(try await listener.next()["listening"].text)
        let secrets = [
            "token": "As3cr3t", "bot": "123456:s3cr3t", "key": "s3cr3ts3cr3ts3cr3ts3cr3ts3cr3t12",
            "slack": address + "/services/T/B/s3cr3t", "discord": address + "/api/webhooks/1/s3cr3t",
            "teams": address + "/workflows/s3cr3t",
        ]
        for (name, text) in secrets { try belfry.write(text + "\n", to: name) }
        let channels = Self.services.map { name, _, settings, _ in
            "  \(name): { allow: [127.0.0.1], "
                + settings.replacing("ADDRESS", with: "\"" + address + "ADDRESS").replacing(
                    /ADDRESS([^,]*)/
                ) { "\($0.1)\"" }.replacing("SECRET", with: belfry.folder.path) + " }"
        }
        try belfry.write("channels:\n" + channels.joined(separator: "\n") + "\n", to: "belfry.yaml")
        try await belfry.start()
        for (name, service, _, action) in Self.services {
            let test = try await belfry.run("channel", "test", name, "--json")
            #expect(try test.json()["outcome"].text == "delivered", "\(name): \(test)")
            #expect(try test.json()["protocol"].text == "HTTP/1.1", "\(name): \(test)")
            let line = try await listener.next()
            #expect(line["service"].text == service, "\(name): \(line)")
            #expect((line["action"].text ?? "") == action, "\(name): \(line)")
            #expect(!"\(line)".contains("bot123456"), "\(line)")
        }
        // Services that change what they have posted know what that is.
        func ask(_ words: String) async throws -> String {
            try await belfry.shell("curl -s -w ' %{http_code}' \(words)").text
        }
        #expect(try await ask("\(address)/bot1:x/getMe").contains(#""is_bot":true"#))
        let sent = try await ask(#"-d '{"chat_id":1,"text":"a"}' \#(address)/bot1:x/sendMessage"#)
        let id = try #require(sent.firstMatch(of: /"message_id":(\d+)/)?.1)
        for (number, end) in [(String(id), " 200"), ("99999", " 400")] {
            let edited = try await ask(
                #"-d '{"chat_id":1,"text":"b","message_id":\#(number)}' \#(address)/bot1:x/editMessageText"#)
            #expect(edited.hasSuffix(end), "\(edited)")
        }
        let unknown = try await ask("-X PATCH -d '{}' \(address)/api/webhooks/1/x/messages/99999")
        #expect(unknown.contains("10008") && unknown.hasSuffix(" 404"), "\(unknown)")
        #expect(try await ask("-I \(address)/8f9ed2b2-9f3c-4b6a-8d7c-0a1b2c3d4e5f").hasSuffix(" 200"))
        #expect(try await ask("\(address)/index.html").hasSuffix(" 405"))
    }

    @Test func `refuses as a service does, with the statuses that it is given`() async throws {
        let belfry = try Belfry()
        let listener = try listen(in: belfry, "--status", "403,429,200")
        let address = try #require(try await listener.next()["listening"].text)
        try belfry.write("1:s3cr3t\n", to: "bot")
        try belfry.write(
            """
            channels:
              chat: { kind: telegram, url: "\(address)", chat: 1, token: { file: \(belfry.folder.file("bot")) }, allow: [127.0.0.1] }

            """, to: "belfry.yaml")
        try await belfry.start()
        let refused = try await belfry.run("channel", "test", "chat", "--json").json()
        #expect(refused["outcome"].text == "failed", "\(refused)")
        #expect(refused["detail"].text?.contains("answered 403") == true, "\(refused)")
        _ = try await listener.next()
        // 429 asks for a second, after which it is shown.
        #expect(try await belfry.run("channel", "test", "chat").code == 0)
        #expect(try await listener.next()["service"].text == "telegram")
    }

    /// Prints JSON; with a secret, verifies.
    private func listen(in belfry: Belfry, _ words: String..., secret: String? = nil) throws -> Feed {
        var words = ["listen", "--port", "0", "--json"] + words
        if let secret {
            try belfry.write(secret + "\n", to: "listen.secret")
            words += ["--secret-file", belfry.folder.file("listen.secret")]
        }
        return Feed(try ChildProcess(BuiltProgram.path("belfryd"), words, environment: belfry.environment))
    }

    private func config(for address: String, in belfry: Belfry) -> String {
        """
        channels:
          here:
            kind: webhook
            url: "\(address)/hook"
            secret: { file: \(belfry.folder.file("hook.secret")) }
            allow: [127.0.0.1/32]
        """
    }

    /// Issue 10, 19: anybody may post, so that what arrives is text and nothing else.
    @Test func `passes no terminal sequence of a body on`() async throws {
        let belfry = try Belfry()
        let body =
            #"{"type":"x\u001b[2J\u009b31m","data":{"reason":"\u001b]0;title\u0007r","run":{"name":"a\u202eb"}}}"#
        try belfry.write(body, to: "body")
        for json in ["", "--json"] {
            let answer = try await belfry.shell(
                """
                mkfifo lines; belfryd listen \(json) >lines & exec 3<lines; read line <&3; echo "$line"
                port=$(echo "$line" | grep -oE '127.0.0.1:[0-9]+')
                curl -s -H 'webhook-id: id' --data-binary @body "http://$port/" -o /dev/null
                read -r line <&3; printf '%s\n' "$line"; kill $!; rm lines
                """)
            #expect(answer.lines.count == 2, "\(answer)")
            #expect(!answer.bytes.contains { $0 < 0x20 && $0 != 0x0A }, "\(answer)")
            #expect(!answer.text.unicodeScalars.contains { (0x80...0x9F).contains($0.value) })
            if json.isEmpty {
                #expect(answer.lines.last?.hasPrefix("unsigned  x ") == true, "\(answer)")
                #expect(answer.lines.last?.contains("ab") == true && answer.text.contains("(r)"))
            }
        }
    }
}
