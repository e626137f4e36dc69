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
}
