import API
import Testing

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
