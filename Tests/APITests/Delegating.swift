import API
import APIClient
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@testable import APIServer

@Suite struct `a run that hands out subtasks` {
    /// Why `lead`, with this team, is refused to hand one subtask to each of `bots`.
    private func refusal(
        of bots: [String], team: [String] = ["scribe", "critic"], others: [String: [String]] = [:],
        above: [String] = [], handed: Int = 0
    ) -> String? {
        let teams = others.merging(["lead": team]) { $1 }
        return HandingOn(teams: teams, asker: "lead", chain: ["lead"] + above, handed: handed)
            .refusal(of: bots)?.sentence
    }

    @Test func `may hand them to its team alone`() {
        #expect(refusal(of: ["scribe", "critic", "scribe"]) == nil)
        #expect(
            refusal(of: ["scribe", "root"]) == "\"root\" is not of your team. Your team: scribe, critic.")
    }

    @Test func `hands out ten in all its calls`() {
        let three = ["scribe", "critic", "scribe"]
        #expect(refusal(of: three, handed: 7) == nil)
        #expect(
            refusal(of: three, handed: 8)
                == "a run hands out at most 10 subtasks, and this one has handed out 8. Do the rest yourself."
        )
        #expect(refusal(of: ["critic"], handed: 10) != nil)
    }

    @Test func `is one of three at most that hand on what another one was handed`() {
        #expect(refusal(of: ["scribe"], above: ["chief", "owner"]) == nil)
        #expect(
            refusal(of: ["scribe"], above: ["chief", "owner", "board"])
                == "work is handed on at most 3 times, and was so often. Do it yourself.")
    }

    @Test func `is refused a bot whose team leads back to its own, over whomever`() {
        let refused =
            "the team of critic leads back to you: each could wait for the other. "
            + "Do it yourself, or hand it to another bot."
        #expect(refusal(of: ["scribe", "critic"], others: ["critic": ["lead"]]) == refused)
        let others = ["critic": ["proof", "clerk"], "proof": ["clerk"], "clerk": ["proof", "lead"]]
        #expect(refusal(of: ["scribe", "critic"], others: others) == refused)
        // Teams that lead round elsewhere end as well.
        #expect(refusal(of: ["critic"], others: ["critic": ["proof"], "proof": ["critic"]]) == nil)
    }

    @Test func `is refused a bot that waits for it`() {
        #expect(
            refusal(of: ["scribe", "critic"], above: ["critic"])
                == "critic waits for what you do: it can't be handed a part of it. "
                + "Do it yourself, or hand it to another bot.")
    }
}

@Suite struct `a job's name in place of a run's` {
    @Test(
        arguments: [
            ("backup#7", RunTarget.run(RunName(job: "backup", ordinal: 7))),
            ("backup", .newest(of: "backup")),
            ("#7", nil), ("", nil), ("backup#", nil), ("backup#x", nil), ("a#1#2", nil),
        ] as [(String, RunTarget?)])
    func `is distinguished from it by its form`(text: String, target: RunTarget?) {
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
            // One that nobody has started yet has ended at once.
            #expect(["Canceling nap#1.\n", "nap#1 is canceled.\n"].contains(first.output))
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
