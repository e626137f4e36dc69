package import Grouping
package import Timeline

/// Which news of a run notifies, as its job or whoever wrapped the command asks: `notify: { when: ... }` of a job,
/// `--notify` of `belfry job add` and `belfry exec`.
package enum NotifyWish: Hashable, Sendable, Codable {
    /// Every end, also where no route asks for it: then by the route of failures.
    case always
    /// Failures and recoveries only.
    case failure
    /// None.
    case never
    /// These of ``outcomes``, also where no route asks for them: then by the route of failures. No others.
    case only(Set<RouteWord>)

    /// What a wish can name; `failed` includes timeouts and lost runs.
    package static let outcomes: [RouteWord] = [
        .completed, .failed, .recovered, .canceled, .lost, .missed, .skipped, .blocked,
    ]

    /// The outcomes of ``only(_:)``, none of ``never``; nil of the other wishes.
    package var named: [RouteWord]? {
        switch self {
        case .always, .failure: nil
        case .never: []
        case .only(let words): Self.outcomes.filter(words.contains)
        }
    }

    /// Whether it asks for an event of this type by name, wherever routes lead.
    package func names(_ type: String) -> Bool {
        guard case .only(let words) = self, let word = RouteWord(eventType: type) else { return false }
        return words.contains(word) || word == .lost && words.contains(.failed)
    }
}

/// Stored as one text: `always`, `failure`, `never`, or the names of outcomes with commas.
extension NotifyWish: RawRepresentable {
    package init?(rawValue: String) {
        switch rawValue {
        case "always": self = .always
        case "failure": self = .failure
        case "never": self = .never
        default:
            let words = rawValue.split(separator: ",").map { RouteWord(rawValue: String($0)) }
            let known = words.compactMap(\.self).filter(Self.outcomes.contains)
            guard !known.isEmpty, known.count == words.count else { return nil }
            self = .only(Set(known))
        }
    }

    package var rawValue: String {
        switch self {
        case .always: "always"
        case .failure: "failure"
        case .never: "never"
        case .only: (named ?? []).map(\.rawValue).joined(separator: ",")
        }
    }
}

/// Keeps back what the job, or whoever wrapped the command, does not want to hear of.
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
            let failures: [EventType] = [.runFailed, .runLost, .runBlocked, .runRecovered]
            return failures.contains { $0.rawValue == matter.type } ? .pass : .suppress(.notWished)
        case .only:
            // That a run is at work is no outcome: of that the routes decide.
            let isOutcome = RouteWord(eventType: matter.type).map(NotifyWish.outcomes.contains) ?? false
            return isOutcome && matter.wish?.names(matter.type) == false ? .suppress(.notWished) : .pass
        }
    }
}

extension NotifyWish? {
    /// What the job's item hears on a channel whose routes ask for `routed`.
    package func hears(of routed: Set<JobNews>) -> Set<JobNews> {
        switch self {
        case nil: return routed
        case .never: return []
        case .failure: return routed.intersection([.blocked, .failed, .lost, .recovered])
        case .always: return routed.union([.completed, .failed, .canceled, .lost])
        case .only(let words):
            var wanted = Set(words.compactMap(\.news))
            if wanted.contains(.failed) { wanted.insert(.lost) }
            // An item shows the success after a failure as the recovery.
            if wanted.contains(.completed) { wanted.insert(.recovered) }
            return routed.subtracting(NotifyWish.outcomes.compactMap(\.news)).union(wanted)
        }
    }
}
