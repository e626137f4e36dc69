import Foundation
import TestSupport
import Testing

/// Jobs that must leave something behind, driven through the built programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a job that must leave something behind` {
    /// Waits until something is so; the time limit ends a wait that is in vain.
    private func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    @Test func `fails without it though its command succeeded, and says what is missing`() async throws {
        let belfry = try Belfry()
        let report = belfry.folder.file("report")
        try belfry.configure(
            """
            jobs:
              lazy: { schedule: manual, shell: echo made, ensure: { file: \(report), output: /ma.e/ } }
              good: { schedule: manual, shell: "echo made; touch \(report)", ensure: { file: \(report) } }
            """)
        try await belfry.start()
        #expect(try await belfry.run("run", "lazy", "--follow").code == 1)
        let run = try await belfry.json("run", "show", "lazy#1")
        #expect(run["state"].text == "failed" && run["reason"].text == "ensure")
        #expect(try await belfry.run("run", "show", "lazy#1").text.contains("\(report) does not exist"))
        #expect(try await belfry.run("run", "good", "--follow").code == 0)
        let shown = try await belfry.run("job", "show", "lazy").text
        #expect(shown.contains("must write: \(report), must print: /ma.e/"))
        #expect(try await belfry.run("run", "lazy", "--follow").code == 1)
        #expect(try await belfry.run("run", "show", "lazy#2").text.contains("it is older than the run"))
    }

    @Test func `is checked again after the daemon died, also where its work ended with the daemon`()
        async throws
    {
        let server = try await ProviderServer(.init("all is well", type: "text/plain"))
        let belfry = try Belfry()
        let gate = belfry.folder.file("gate")
        let check = "[sh, -c, \"until [ -e \(gate) ]; do sleep 0.05; done; grep -q well\"]"
        try belfry.configure(
            """
            jobs:
              local: { schedule: manual, shell: "echo all is well; echo x >> \(belfry.folder.file("count"))", ensure: { command: \(check) } }
              remote: { schedule: manual, url: { url: "\(server.url())", allow: 127.0.0.1 }, ensure: { command: \(check) } }
            """)
        try await belfry.start()
        for job in ["local", "remote"] {
            try await belfry.run("run", job)
            try await until {
                try await belfry.json("run", "show", "\(job)#1")["live"]["phase"].text == "checking"
            }
        }
        try await belfry.restart()
        try Data().write(to: URL(fileURLWithPath: gate))
        for job in ["local", "remote"] {
            try await until { try await belfry.json("run", "show", "\(job)#1")["state"].text == "completed" }
        }
        #expect(belfry.lines(of: "count") == ["x"])
    }
}
