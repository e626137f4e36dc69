package import Grouping
package import Timeline

/// What whoever wraps a command wants to hear of it: `belfry exec --notify`.
package enum NotifyWish: String, Hashable, Sendable, Codable {
    /// Of every end, also where no route asks for it: what has none goes where failures go.
    case always
    /// Of failures and their recovery, of nothing else.
    case failure
    /// Of nothing.
    case never
}

/// Keeps back what whoever wrapped the command does not want to hear of.
package struct WishStage: DispatchStage {
    package var name: StageName { .wish }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        switch matter.wish {
        case nil, .always: return .pass
        case .never: return .suppress(.notWished)
        case .failure:
            let failures: [EventType] = [.runFailed, .runLost, .runBlocked]
            return failures.contains { $0.rawValue == matter.type } ? .pass : .suppress(.notWished)
        }
    }
}

extension NotifyWish? {
    /// What the job's item hears on a channel whose routes ask for `routed`.
    package func hears(of routed: Set<JobNews>) -> Set<JobNews> {
        switch self {
        case nil: routed
        case .never: []
        case .failure: routed.intersection([.blocked, .failed, .lost, .recovered])
        case .always: routed.union([.completed, .failed, .canceled, .lost])
        }
    }
}
