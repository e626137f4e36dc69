import Delivery
import Ledger
import Timeline
import Tracking

extension RoutineRun {
    /// The run of a record, under the rules of its job where they are known.
    init(_ run: RunRecord, _ spec: JobSpec?) {
        let isAsked =
            switch run.kind {
            case .manual, .exec, .reply: true
            case .scheduled, .hook: false
            }
        let lasted = run.startedAt.flatMap { start in run.endedAt.map { max(.zero, $0 - start) } }
        self.init(
            isAsked: isAsked, startedAt: run.startedAt, lasted: lasted ?? .zero,
            completionAfter: spec?.notifyAfter)
    }
}

extension Matter {
    /// An event of a run that was started under these rules.
    init(_ event: NewEvent, of run: RunRecord, as spec: JobSpec?) {
        self.init(event.fact)
        let routine = RoutineRun(run, spec)
        self.run = routine
        isEnd = run.state.isEnded
        wish = spec?.notify
        guard run.kind == .exec, let after = routine.completionAfter, isEnd else { return }
        // Whoever names a time for this one command asks for its end after that time, wherever routes lead.
        let isLong = routine.lasted >= after
        if wish == nil, isLong { wish = .always }
        if wish == .always, !isLong, !run.state.isFailure { wish = nil }
    }
}
