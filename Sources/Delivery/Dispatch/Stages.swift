package import Grouping
package import Timeline

/// Lets through what a route names the channel for.
///
/// What a job, or whoever ran it by `belfry exec`, asks for by name goes where failures go, too.
package struct RouteStage: DispatchStage {
    package var name: StageName { .route }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        // Where items are not edited in place, a job's events are sent, not what its item shows.
        if case .version(let version) = matter.subject, !channel.isLevel {
            if !matter.isReminder { guard case .messages = version.content else { return .ignore } }
        }
        // A mail every quarter of a minute is no progress.
        if matter.type == EventType.runProgress.rawValue, !channel.takesProgress { return .ignore }
        if let only = matter.only { return only.contains(channel.name) ? .pass : .ignore }
        let named = matter.named ?? rules.routing.channels(for: matter, at: now)
        if named.contains(channel.name) { return .pass }
        if matter.wish == .always && matter.isEnd || matter.wish?.names(matter.type) == true,
            rules.routing.channels(for: EventType.runFailed.rawValue).contains(channel.name)
        {
            return .pass
        }
        // A person may wonder why a route that names the event did not lead there.
        let mayBeNamed = rules.routing.channels(for: matter.type, about: matter.troubled)
        return mayBeNamed.contains(channel.name) ? .suppress(.otherConditions) : .ignore
    }
}

/// Lets a recovery through where the failure was sent: a channel that had no failure has nothing to recover.
///
/// A channel whose routes name recoveries and no failures asked for recoveries alone, and gets every one. The channels
/// are listed in the recovery itself, so that neither a channel that was added later nor the retention of
/// verdicts plays a part.
package struct RecoveryStage: DispatchStage {
    package var name: StageName { .recovery }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard case .fact(.runRecovered(let recovery)) = matter.subject, let informed = recovery.channels,
            !informed.contains(channel.name),
            rules.routing.channels(for: EventType.runFailed.rawValue).contains(channel.name)
        else { return .pass }
        return .suppress(.failureNotSent)
    }
}

/// Keeps back the item of a job that the item of a storm lists, where items are edited in place.
///
/// What is sent only once is sent for each job: an entry is the edge that a receiver acts on, one it can't take back, and
/// a list that grows would be sent again and again.
package struct StormStage: DispatchStage {
    package var name: StageName { .storm }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        matter.isListed && channel.isLevel ? .suppress(.listed) : .pass
    }
}

/// Keeps away what a person put away until something rings, and what a person read before it was shown.
package struct DismissalStage: DispatchStage {
    package var name: StageName { .dismissal }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        switch matter.subject {
        case .version(let version) where version.isDismissed && channel.isLevel: .suppress(.dismissed)
        case .read: .suppress(.read)
        case .version, .fact, .brief: .pass
        }
    }
}

/// Lets the messages of a thread take the place of what waits for the channel of the same thread: nobody is sent three
/// groups where the last one says everything.
package struct GroupingStage: DispatchStage {
    package var name: StageName { .grouping }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !channel.isLevel, case .version(let version) = matter.subject,
            case .messages = version.content
        else { return .pass }
        var grouped = dispatch
        grouped.takesPlace = true
        return .change(grouped)
    }
}

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

/// Keeps back what is routine where nobody wrote routes, and the start of a run until it has lasted a while.
///
/// What is sent only once can't be replaced by the result: there a start is sent by a route that names it, or not at all.
package struct RoutineStage: DispatchStage {
    package var name: StageName { .routine }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        if case .brief = matter.subject { return channel.isLevel ? .suppress(.shortRun) : .ignore }
        guard rules.routing.isDefault, case .fact = matter.subject else { return .pass }
        if let reason = Routine.reason(toLeaveOut: matter) { return .suppress(reason) }
        guard matter.type == EventType.runStarted.rawValue else { return .pass }
        guard channel.isLevel else { return .suppress(.routine) }
        let shownAt = (matter.run?.startedAt ?? now) + Routine.workAfter
        return now < shownAt ? .hold(until: min(shownAt, now + Routine.workAfter), .justStarted) : .pass
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
            let failures: [EventType] = [.runFailed, .runLost, .runStuck, .runBlocked, .runRecovered]
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

/// Sends people a failure of a scheduled job once, as long as it fails in the same way: a job that runs every minute would
/// send a mail every minute.
///
/// Programs are sent each run's end, for that is what they act on; so is whoever asks for it by `failures: each` of the bot,
/// or by the job's own `notify`. Where items are edited in place, the item counts.
package struct ChangeStage: DispatchStage {
    package var name: StageName { .change }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !channel.isLevel, channel.audience == .people, matter.isFailure, matter.isSameFailure,
            case .fact = matter.subject, matter.run?.isAsked == false,
            matter.informed.contains(channel.name), matter.wish != .always,
            matter.wish?.names(matter.type) != true, !rules.restraint(of: matter.topic.bot).sendsEachFailure
        else { return .pass }
        return .suppress(.unchanged)
    }
}
