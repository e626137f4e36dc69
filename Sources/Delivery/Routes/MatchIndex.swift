/// Rules found by what they match: only those are looked at that can hold.
///
/// A rule that asks for one job, or one bot, by name is filed under it; all others are looked at for every matter.
struct MatchIndex: Hashable, Sendable {
    private var byJob: [String: [Int]] = [:]
    private var byBot: [String: [Int]] = [:]
    private var others: [Int] = []

    /// Files the rule at `place` under the first of its conditions that names a job or a bot.
    mutating func add(_ matchers: [Matcher], at place: Int) {
        for matcher in matchers where matcher.comparison == .equals && !matcher.value.isEmpty {
            switch matcher.key {
            case "job": return byJob[matcher.value, default: []].append(place)
            case "bot": return byBot[matcher.value, default: []].append(place)
            default: continue
            }
        }
        others.append(place)
    }

    /// Calls `body` with the place of each rule that may hold for what is about this, in the order in which they were added.
    func forEach(about topic: Topic, _ body: (Int) -> Void) {
        let ofJob = topic.job.flatMap { byJob[$0] } ?? []
        let ofBot = topic.bot.flatMap { byBot[$0] } ?? []
        if ofJob.isEmpty, ofBot.isEmpty {
            for place in others { body(place) }
            return
        }
        var (job, bot, other) = (0, 0, 0)
        while job < ofJob.count || bot < ofBot.count || other < others.count {
            let nextJob = job < ofJob.count ? ofJob[job] : Int.max
            let nextBot = bot < ofBot.count ? ofBot[bot] : Int.max
            let nextOther = other < others.count ? others[other] : Int.max
            let next = min(nextJob, nextBot, nextOther)
            body(next)
            if next == nextJob { job += 1 } else if next == nextBot { bot += 1 } else { other += 1 }
        }
    }
}
