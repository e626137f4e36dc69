package import Grouping
package import Timeline

/// Which ends of a wrapped command notify its user: `belfry exec --notify`.
package enum NotifyWish: String, Hashable, Sendable, Codable {
    /// Every end, also where no route asks for it: then by the route of failures.
    case always
    /// Failures and recoveries only.
    case failure
    /// None.
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
