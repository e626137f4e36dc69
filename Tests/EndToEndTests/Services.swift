import Foundation
import TestSupport
import Testing

/// The binaries, with a channel of a service.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a channel of a service` {
    @Test func `shows a failure as the desktop does, and keeps its secrets to itself`() async throws {
        let server = try await HookServer(["--status-plan", "200,200,403", "--echo-path"])
        let belfry = try Belfry()
        try belfry.write("tk_s3cr3t\n", to: "token")
        try belfry.write(server.url("/hooks/s3cr3tpath") + "\n", to: "team.url")
        try belfry.write(
            """
            channels:
              phone:
                kind: ntfy
                url: \(server.url("/alerts"))
                token: { file: \(belfry.folder.file("token")) }
                allow: [127.0.0.1]
              team:
                kind: slack
                url: \(server.url(""))
                webhook: { file: \(belfry.folder.file("team.url")) }
                allow: [127.0.0.1]
            routes:
              - { when: [failed], to: [phone] }
              - { when: [test], to: [phone, team] }
            jobs:
              backup: { schedule: manual, shell: "echo no tape in the drive; exit 3" }
            """, to: "belfry.yaml")
        try await belfry.start()
        #expect(try await belfry.json("channel", "test", "phone")["outcome"].text == "delivered")
        let test = try await server.record()
        #expect(test.headers["authorization"] == "Bearer tk_s3cr3t")
        #expect(test.body?.contains(#"This is a test of the channel \"phone\"."#) == true)
        #expect(try await belfry.run("run", "backup", "--follow").code == 3)
        let body = try #require(try await server.record().body)
        #expect(body.contains(#""title":"backup failed""#), "\(body)")
        #expect(body.contains(#""message":"no tape in the drive\nexit code 3"#), "\(body)")
        // The server repeats the path of the request, which is a secret.
        let refused = try await belfry.run("channel", "test", "team", "--json")
        #expect(refused.code == 1)
        #expect(try refused.json()["detail"].text?.contains("answered 403") == true)
        #expect(try await server.record().path == "/hooks/s3cr3tpath")
        for words in [["outbox"], ["channel", "list"], ["status"], ["doctor"]] {
            let answer = try await belfry.run("belfry", words + ["--json"])
            #expect(!answer.text.contains("s3cr3t") && !answer.errors.contains("s3cr3t"), "\(words)")
        }
        let files = try FileManager.default.subpathsOfDirectory(atPath: belfry.statePath)
        #expect(files.contains { $0.hasPrefix("ledger.sqlite") })
        for file in files {
            let data = FileManager.default.contents(atPath: "\(belfry.statePath)/\(file)") ?? Data()
            #expect(data.firstRange(of: Data("s3cr3t".utf8)) == nil, "\(file)")
        }
    }

    @Test func `that edits shows a run at work until its failure rings, also over a kill`() async throws {
        let server = try await ChatServer()
        let belfry = try Belfry()
        try belfry.write("7:s3cr3t\n", to: "token")
        try belfry.write(
            """
            channels:
              chat:
                kind: telegram
                chat: 123
                url: \(server.url)
                token: { file: \(belfry.folder.file("token")) }
                allow: [127.0.0.1]
            routes:
              - { when: [started, failed, test], to: [chat] }
            jobs:
              backup: { schedule: manual, shell: "echo 1/3; read line < \(belfry.folder.file("go")); exit 3" }
            """, to: "belfry.yaml")
        let made = unsafe mkfifo(belfry.folder.file("go"), 0o600)
        try #require(made == 0)
        try await belfry.start()
        #expect(try await belfry.json("channel", "test", "chat")["outcome"].text == "delivered")
        #expect(try await server.messages()[1]?.contains("This is a test of the channel") == true)
        _ = try await belfry.json("run", "backup")
        try await server.shows { $0[2]?.hasPrefix("<b>backup</b>") ?? false }
        // Served after what is on the screen was recorded: a kill before that may show it twice.
        #expect(try await belfry.json("channel", "test", "chat")["outcome"].text == "delivered")
        try await belfry.kill()
        try await belfry.start()
        try await Shell.run("echo go > go", in: belfry.folder.path)
        try await server.shows { $0.values.contains { $0.hasPrefix("<b>backup failed</b>") } && $0[2] == nil }
        let calls = try await server.calls()
        #expect(calls.first == "sendMessage ring" && calls.count { $0 == "sendMessage quiet" } == 1)
        #expect(calls.suffix(2) == ["sendMessage ring", "deleteMessage"])
        let why = try await belfry.run("why", "backup#1")
        #expect(why.text.contains("chat") && !why.text.contains("s3cr3t"))
    }

    @Test func `that edits and refuses is a failed test, in the words of the service`() async throws {
        let belfry = try Belfry()
        let server = try await HookServer(["--status-plan", "403"])
        try belfry.write("7:s3cr3t\n", to: "token")
        try belfry.write(
            """
            channels:
              chat:
                kind: telegram
                chat: 123
                url: \(server.url(""))
                token: { file: \(belfry.folder.file("token")) }
                allow: [127.0.0.1]
            """, to: "belfry.yaml")
        try await belfry.start()
        let refused = try await belfry.run("channel", "test", "chat", "--json")
        #expect(refused.code == 1)
        #expect(try refused.json()["outcome"].text == "failed")
        #expect(try refused.json()["detail"].text?.contains("answered 403") == true)
    }
}
