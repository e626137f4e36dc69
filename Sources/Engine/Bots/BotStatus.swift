package import Ledger
package import Timeline
import Tracking

/// How a bot is doing.
package enum BotStatus: String, Hashable, Sendable, Codable, CaseIterable {
    /// It can be asked.
    case online
    /// It is being asked.
    case working
    /// It can't be asked before somebody changes something, or a month or a limit ends.
    case blocked
    /// It can't be reached.
    case offline
}

/// All that its status follows from.
package struct BotKnowledge: Hashable, Sendable {
    /// Why it can't be asked as it is configured; nil: it can.
    package var fault: String?
    /// How far it is in its budget; nil: it has none.
    package var budget: BudgetUse?
    /// The last reply it completed, and the last attempt that failed, since it is configured as it is.
    package var lastSuccess: Moment?
    package var lastFailure: BotRecord.Failure?
    /// How its connection is; nil: it keeps none.
    package var link: BotLink?
    /// Since when a run of it is under way; nil: none is.
    package var workingSince: Moment?

    package init() {}

    /// The status, and why.
    package var view: BotView {
        if let fault { return BotView(.offline, reason: Self.badSecret, text: fault) }
        if let trouble = link?.trouble { return trouble }
        if let workingSince { return BotView(.working, since: workingSince) }
        if let budget, budget.level == .reached {
            return BotView(
                .blocked, reason: RunReason.budget.rawValue, text: "its budget is used up: \(budget.words)")
        }
        // Its connection was made again since.
        let isPast = lastFailure.map { failure in (link?.since).map { failure.at <= $0 } ?? false } ?? true
        guard let failure = lastFailure, !isPast, failure.at > lastSuccess ?? .distantPast,
            let status = Self.status(after: failure.reason)
        else { return BotView(.online, since: link?.since) }
        return BotView(
            status, reason: failure.reason.rawValue, text: failure.text ?? failure.reason.words,
            since: failure.at)
    }

    private static let badSecret = "badSecret"

    /// What a failure shows of the bot; nil: nothing, it was the prompt's.
    private static func status(after reason: RunReason) -> BotStatus? {
        switch reason {
        // Somebody must do something, or wait.
        case .auth, .model, .budget, .rateLimited: .blocked
        case .botUnavailable, .overloaded, .providerFailed, .silent, .truncated, .malformed, .notFound,
            .notExecutable:
            .offline
        default: nil
        }
    }
}

/// A bot's status as people see it.
package struct BotView: Hashable, Sendable {
    package var status: BotStatus
    /// Why, as a word for programs; nil: it can be asked.
    package var reason: String?
    /// Why, as a sentence without a full stop.
    package var text: String?
    /// Since when; nil: not known.
    package var since: Moment?

    package init(_ status: BotStatus, reason: String? = nil, text: String? = nil, since: Moment? = nil) {
        self.status = status
        self.reason = reason
        self.text = text
        self.since = since
    }
}
