import API
import APIClient
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `a job's name in place of a run's` {
    @Test(
        arguments: [
            ("backup#7", RunTarget.run(RunName(job: "backup", ordinal: 7))),
            ("backup", .newest(of: "backup")),
            ("#7", nil), ("", nil), ("backup#", nil), ("backup#x", nil), ("a#1#2", nil),
        ] as [(String, RunTarget?)])
    func `is told apart from it by its form`(text: String, target: RunTarget?) {
        #expect(RunTarget(text) == target)
        #expect(target.map { "\($0)" == text } ?? true)
        #expect(target.map { RunTarget(segments: $0.segments) == $0 } ?? true)
    }

    @Test func `means its newest run, and to cancel the active one`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry(
                "job", "add", "nap", "--overlap", "allow", "--shell", "exec sleep 1000")
            let none = try await house.belfry("run", "show", "nap")
            #expect(none.status == 4)
            #expect(none.errors == "belfry: \"nap\" has no runs yet. Start one: belfry run nap\n")
            let typo = try await house.belfry("run", "logs", "nup")
            #expect(typo.status == 4)
            #expect(typo.errors == "belfry: no job \"nup\". Did you mean \"nap\"?\n")

            _ = try await house.belfry("job", "add", "quick", "--shell", "echo first; exit 3")
            #expect(try await house.belfry("run", "quick", "--follow").status == 3)
            _ = try await house.belfry("job", "edit", "quick", "--shell", "echo second")
            #expect(try await house.belfry("job", "run", "quick", "--follow").status == 0)
            #expect(try await house.belfry("run", "logs", "quick").output == "second\n")
            #expect(try await house.belfry("run", "logs", "-f", "quick").output == "second\n")
            let shown = try await house.belfry("run", "show", "quick", "--json")
            #expect(try WireCoding.decode(WireRun.self, from: shown.output.utf8).name == "quick#2")
            #expect(try await house.belfry("watch", "quick").status == 0)
            #expect(try await house.belfry("run", "retry", "quick").output.hasPrefix("quick#3 is "))

            let idle = try await house.belfry("run", "cancel", "nap")
            #expect(idle.status == 4)
            _ = try await house.belfry("run", "nap")
            let first = try await house.belfry("run", "cancel", "nap")
            #expect(first.output == "Canceling nap#1.\n")
            for _ in 1...2 { _ = try await house.belfry("run", "nap") }
            let several = try await house.belfry("run", "cancel", "nap")
            #expect(several.status == 5 && several.errors.contains("belfry run cancel nap#"))
        }
    }

    @Test func `names the newest run where none is active`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "done", "--shell", "true")
            _ = try await house.belfry("run", "done", "--follow")
            let refused = try await house.belfry("run", "cancel", "done")
            #expect(refused.status == 5)
            #expect(
                refused.errors
                    == "belfry: \"done\" is not running. Its newest run is done#1 (completed).\n")
        }
    }
}
