import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

/// What the channels that edit in place want to hear of a job: all of them together, and each by itself.
struct ChannelInterests {
    /// What any of them hears.
    private(set) var all: JobPolicy
    /// What each hears, by name.
    private(set) var each: [String: JobPolicy]
    /// Those that hear less than all together.
    let apart: Set<String>

    init(_ routing: Routing, levels: [String]) {
        func policy(_ channels: Set<String>) -> JobPolicy {
            var policy = JobPolicy(hears: routing.hears(channels))
            if routing.isDefault { policy.workAfter = Routine.workAfter }
            return policy
        }
        let all = policy(Set(levels))
        let each = Dictionary(levels.map { ($0, policy([$0])) }) { first, _ in first }
        (self.all, self.each) = (all, each)
        apart = Set(each.filter { $0.value.hears != all.hears }.keys)
    }

    /// That of a channel, or of all together.
    func policy(of channel: String?) -> JobPolicy { channel.flatMap { each[$0] } ?? all }

    /// What they hear of a run that was started with this wish, and of what ends where `only` these channels show it.
    func heard(by wish: NotifyWish?, only: [String]? = nil) -> ChannelInterests {
        var heard = self
        heard.all.hears = wish.hears(of: all.hears)
        for (name, policy) in each where only?.contains(name) ?? true {
            heard.each[name]?.hears = wish.hears(of: policy.hears)
        }
        return heard
    }

    /// What a reminder of a failure is decided by: it is due as well where only channels that send once hear of failures.
    func reminding(by routing: Routing) -> ChannelInterests {
        var interests = self
        if routing.routes.contains(where: { $0.when.contains(.failed) && !$0.to.isEmpty }) {
            interests.all.hears.insert(.failed)
        }
        return interests
    }

    /// The same, but this is no news by itself: it only replaces the progress of its run.
    func following(_ news: JobNews) -> ChannelInterests {
        func following(_ policy: JobPolicy) -> JobPolicy {
            var policy = policy
            if policy.hears.remove(news) != nil { policy.follows.insert(news) }
            return policy
        }
        var interests = self
        (interests.all, interests.each) = (following(all), each.mapValues(following))
        return interests
    }
}

extension JobFact {
    /// What an event says of a run.
    ///
    /// The state is the event's: the run itself may have gone on since.
    init(_ event: NewEvent, of run: RunRecord) {
        var (state, reason, message) = (run.state, RunReason?.none, String?.none)
        var circumstances = Fact.End.Circumstances()
        switch event.fact {
        case .runStarted: state = .starting
        case .runBlocked: state = .blocked
        case .runCompleted(let end), .runFailed(let end), .runCanceled(let end), .runLost(let end),
            .runSkipped(let end):
            (reason, circumstances) = (end.reason, end.circumstances)
            message = end.message.map(MissingProgram.headline)
        default: break
        }
        let last = run.live
        self.init(
            run: run.ordinal, state: state, reason: reason, exitCode: run.exitCode, signal: run.signal,
            progress: last?.progress, phase: last?.phase, text: message ?? last?.message, at: event.at)
        (took, limit, next) = (circumstances.took, circumstances.limit, circumstances.next)
        guard state == .completed else { return }
        text = text.flatMap(ProgressTitle.result)
        if let start = run.startedAt { took = max(.zero, event.at - start) }
    }

    /// Where a run is right now.
    ///
    /// How long it still takes is only shown of a run that reports progress, and so is shown again: of another one the
    /// words would soon be wrong, and how long it usually takes stays right.
    init(_ live: LiveState, at now: Moment) {
        let number = live.task.run.split(separator: "#").last.flatMap { Int($0) }
        self.init(
            run: number, state: live.state, reason: live.reason, progress: live.progress, phase: live.phase,
            text: live.message, at: live.updatedAt)
        guard live.state == .running else { return }
        lasted = live.startedAt.map { max(.zero, now - $0) }
        outlook =
            live.progress == nil
            ? live.usual.map { "usually \($0.words)" } : live.finish?.claim(at: now)?.words
    }
}

extension RoutineRun {
    /// The run of a record, under the rules of its job where they are known.
    init(_ run: RunRecord, _ spec: JobSpec?) {
        let isAsked =
            switch run.kind {
            case .manual, .exec: true
            // What it says is the news.
            case .scheduled, .hook, .reply, .delegated: false
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
