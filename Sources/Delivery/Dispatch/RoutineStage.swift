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
