import Foundation
import TestSupport
import Testing

/// What keeps a run from going on.
///
/// That it waits for its bot is in `BotJobs`, for room among all runs in `Together`.
@Suite(.timeLimit(.minutes(5))) struct `a run that waits` {
    private func jobs() throws -> String {
        """
        jobs:
          first:  { schedule: manual, concurrency: { key: disk }, shell: "sleep 1000" }
          second: { schedule: manual, concurrency: { key: disk }, shell: "true" }
          twice:  { schedule: manual, overlap: queue-one, shell: "sleep 1000" }
          again:  { schedule: manual, retry: { attempts: 2, backoff: 1h }, shell: "exit 3" }
          away:   { schedule: manual, retry: { attempts: 2, backoff: 1h }, url: { url: "http://127.0.0.1:1/", allow: [127.0.0.1] } }
          ask:    { schedule: manual, shell: "\(try BuiltProgram.path("belfry")) confirm --after 2h --default no 'Ship it?'" }
          allow:  { schedule: manual, shell: "systemd-notify X_STATE=blocked:permission; sleep 1000" }
          login:  { schedule: manual, shell: "systemd-notify X_STATE=blocked:auth; sleep 1000" }
        """
    }

    /// What the run waits for, once it does.
    private func wait(of run: String, _ kind: String, in belfry: Belfry) async throws -> JSON? {
        try await belfry.until {
            try await belfry.json("run", "show", run)["waitsFor"]["kind"].text == kind
        }
        return try await belfry.json("run", "show", run)["waitsFor"]
    }

    @Test func `says for what, by its name, and until when`() async throws {
        let belfry = try await Belfry.start(try jobs())
        for job in ["first", "second", "twice", "twice", "again", "away", "ask", "allow", "login"] {
            try await belfry.run("run", job)
        }
        let key = try await wait(of: "second#1", "concurrency", in: belfry)
        #expect(key["name"].text == "disk" && key["before"].integer == 1)
        let overlap = try await wait(of: "twice#2", "overlap", in: belfry)
        #expect(overlap["name"].text == "twice" && overlap["before"].integer == 1)
        #expect(try await wait(of: "again#1", "retry", in: belfry)["until"].text != nil)
        #expect(try await wait(of: "away#1", "network", in: belfry)["until"].text != nil)
        let question = try await wait(of: "ask#1", "question", in: belfry)
        let open = try await belfry.json("questions").list.first
        #expect(question["name"].text == open?["id"].text && open?["id"].text != nil)
        #expect(question["until"].text == open?["deadline"].text && open?["deadline"].text != nil)
        for (run, kind) in [("allow#1", "permission"), ("login#1", "auth")] {
            _ = try await wait(of: run, kind, in: belfry)
            #expect(try await belfry.json("run", "show", run)["state"].text == "blocked")
        }
        // In a list as well, and in words.
        let listed = try await belfry.run("runs").text
        for words in [
            "other runs with the key disk", "the run before it", "an answer", "the network", "a login",
        ] {
            #expect(listed.contains("waits for \(words)"), "\(words): \(listed)")
        }
    }
}
