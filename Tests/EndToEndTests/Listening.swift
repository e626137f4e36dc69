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

    private func listen(in belfry: Belfry, secret: String) throws -> Feed {
        try belfry.write(secret + "\n", to: "listen.secret")
        return Feed(
            try ChildProcess(
                BuiltProgram.path("belfryd"),
                ["listen", "--port", "0", "--secret-file", belfry.folder.file("listen.secret"), "--json"],
                environment: belfry.environment))
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
