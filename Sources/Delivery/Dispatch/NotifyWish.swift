package import Grouping
package import Timeline

/// What is routine: where nobody wrote routes, a person is notified of what matters, and of this only as said here.
///
/// A route that names a word gets every event of it.
package enum Routine {
    /// A run is shown at work once it has lasted this long.
    package static let workAfter: Duration = .seconds(5)
    /// A run that a person asked for is reported as completed if it took at least this long, unless it has a limit of
    /// its own.
    package static let completionAfter: Duration = .seconds(10)

    /// Why the default route reports it on no channel; nil: it does.
    package static func reason(toLeaveOut matter: Matter) -> DispatchReason? {
        guard matter.wish != .always, matter.wish?.names(matter.type) != true else { return nil }
        switch EventType(rawValue: matter.type) {
        case .runCompleted:
            guard let run = matter.run, run.isAsked else { return .scheduledSuccess }
            return run.lasted < run.completionAfter ?? completionAfter ? .shortRun : nil
        // Whoever asks for the end of a run knows of it, and slots are skipped by a job's own rules.
        case .runCanceled, .runSkipped: return .routine
        // Who wants to know how a job gets on says so.
        case .runLate, .runSlow, .runFlapping: return .routine
        // What a bot failed at is reported with its run, or with its budget.
        case .botStatus: return .routine
        default: return nil
        }
    }
}

/// A run, as far as the default route asks.
package struct RoutineRun: Hashable, Sendable {
    /// Whether a person asked for it; a schedule did otherwise.
    package var isAsked: Bool
    /// When its first attempt began; nil: none has.
    package var startedAt: Moment?
    /// How long it has lasted.
    package var lasted: Duration
    /// What it asks for instead of ``Routine/completionAfter``.
    package var completionAfter: Duration?

    /// A run.
    package init(isAsked: Bool, startedAt: Moment?, lasted: Duration, completionAfter: Duration? = nil) {
        self.isAsked = isAsked
        self.startedAt = startedAt
        self.lasted = lasted
        self.completionAfter = completionAfter
    }
}

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
