import API
import Tracking

/// A run that wants to hand out subtasks: to whom it may, and how many.
struct HandingOn {
    /// How many bots may hand on one after the other.
    static let deepest = 3
    /// So many subtasks a run may hand out in all.
    static let broadest = 10

    /// The bots of each team, by the name of the bot that has it.
    let teams: [String: [String]]
    /// The bot that hands out.
    let asker: String
    /// The bot of the run, and those of the runs that wait for it, the nearest first.
    let chain: [String]
    /// How many subtasks the run has handed out before.
    let handed: Int

    /// Why these bots are not handed one subtask each, as it would not end, or not end soon; nil: they may be.
    func refusal(of bots: [String]) -> APIError? {
        let team = teams[asker] ?? []
        if let bot = bots.first(where: { !team.contains($0) }) {
            return APIError(
                .noSuchBot, "\"\(CleanText.line(bot, limit: 63))\" is not of your team",
                hint: "Your team: \(team.joined(separator: ", ")).")
        }
        if let bot = bots.first(where: { leads(from: $0, to: asker) }) {
            return APIError(
                .badValue, "the team of \(bot) leads back to you: each could wait for the other",
                hint: "Do it yourself, or hand it to another bot.")
        }
        if let bot = bots.first(where: chain.contains) {
            return APIError(
                .badValue, "\(bot) waits for what you do: it can't be handed a part of it",
                hint: "Do it yourself, or hand it to another bot.")
        }
        guard chain.count <= Self.deepest else {
            return APIError(
                .badValue, "work is handed on at most \(Self.deepest) times, and was so often",
                hint: "Do it yourself.")
        }
        guard handed + bots.count <= Self.broadest else {
            return APIError(
                .badValue,
                "a run hands out at most \(Self.broadest) subtasks, and this one has handed out \(handed)",
                hint: "Do the rest yourself.")
        }
        return nil
    }

    /// Whether a bot may hand on, over whomever, to another one.
    private func leads(from bot: String, to other: String) -> Bool {
        var (seen, next) = (Set([bot]), [bot])
        while let name = next.popLast() {
            for member in teams[name] ?? [] {
                if member == other { return true }
                if seen.insert(member).inserted { next.append(member) }
            }
        }
        return false
    }
}
