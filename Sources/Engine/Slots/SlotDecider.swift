import Cron
package import Ledger
package import Timeline
package import Tracking

/// What becomes of a job's slots that have come: each one runs, or has a reason not to.
///
/// Pure: slots and a moment in, decisions out. See design 4.1: no slot without a row.
package struct SlotDecider: Sendable {
    /// One decision: a run for a slot, or a span of slots without one.
    package enum Decision: Hashable, Sendable {
        case run(Moment)
        case pass(first: Moment, last: Moment, count: Int, state: RunState, reason: RunReason)
    }

    /// How late a slot may be decided and still count as on time, whatever the catch-up policy says: a
    /// busy minute must never turn "late" into "never".
    package static let onTime: Duration = .seconds(60)

    package var catchUp: CatchUpPolicy
    package var isPaused: Bool
    /// Whether the job was changed or removed while no daemon ran: what it missed belongs to a definition that no
    /// longer applies.
    package var isOutdated = false
    package var overlap: OverlapPolicy
    /// Whether a run of the job is under way or waits.
    package var isBusy: Bool

    package init(catchUp: CatchUpPolicy, isPaused: Bool, overlap: OverlapPolicy = .skip, isBusy: Bool) {
        self.catchUp = catchUp
        self.isPaused = isPaused
        self.overlap = overlap
        self.isBusy = isBusy
    }

    /// Decides all of `slots`, which rise and are not later than `now`.
    package func decide(_ slots: [Moment], at now: Moment) -> [Decision] {
        guard let first = slots.first, let last = slots.last else { return [] }
        return decide(SlotTimes(slots), after: first - .microseconds(1), through: last, at: now)
    }

    /// Decides all slots after `start` and up to `end`, which is not later than `now`.
    ///
    /// What runs comes last, earliest slot first.
    ///
    /// - Complexity: O(slots that run, or are on time).
    package func decide(
        _ times: SlotTimes, after start: Moment, through end: Moment, at now: Moment
    ) -> [Decision] {
        var passed: [Decision] = []
        var start = start
        /// Slots up to `moment` do not run.
        func pass(through moment: Moment, _ state: RunState, _ reason: RunReason) {
            let last = min(moment, end)
            guard start < last else { return }
            passed += Self.span(times, after: start, through: last, state, reason)
            start = last
        }
        if isPaused {
            pass(through: end, .skipped, .paused)
            return passed
        }
        if isOutdated {
            pass(through: end, .missed, .definitionChanged)
            return passed
        }
        // Up to, and not with, the moment that is on time.
        let late = now - Self.onTime - .microseconds(1)
        if late <= start { return inTurn(times.all(after: start, through: end)) }
        var caughtUp: [Moment] = []
        switch catchUp.mode {
        case .none:
            pass(through: late, .missed, .catchUpNone)
        case .latest:
            pass(through: min(late, now - catchUp.within - .microseconds(1)), .missed, .catchUpWindow)
            let isFresh = times.next(max(start, late)).map { $0 <= end } ?? false
            caughtUp = isFresh ? [] : times.newest(1, after: start, through: min(late, end))
            pass(through: caughtUp.first.map { $0 - .microseconds(1) } ?? late, .skipped, .superseded)
        case .all:
            pass(through: min(late, now - catchUp.within - .microseconds(1)), .missed, .catchUpWindow)
            caughtUp = times.newest(catchUp.burst, after: start, through: min(late, end))
            if let first = caughtUp.first { pass(through: first - .microseconds(1), .missed, .catchUpBurst) }
        }
        let fresh = times.all(after: max(start, min(late, end)), through: end)
        return passed + inTurn(caughtUp + fresh)
    }

    private static func span(
        _ times: SlotTimes, after start: Moment, through end: Moment, _ state: RunState, _ reason: RunReason
    ) -> [Decision] {
        guard let first = times.next(start), first <= end, let last = times.last(end) else { return [] }
        let count = times.count(start, end)
        return [.pass(first: first, last: last, count: count, state: state, reason: reason)]
    }

    /// The slots that may run, by the overlap policy.
    ///
    /// Of a job that was idle none of them had a run beside it at its time: where all are wanted they run one after
    /// the other, and where one may run it is the newest.
    private func inTurn(_ slots: [Moment]) -> [Decision] {
        guard let newest = slots.last else { return [] }
        if slots.count == 1, !isBusy { return [.run(newest)] }
        if catchUp.mode == .all, !isBusy { return slots.map { .run($0) } }
        switch overlap {
        case .allow, .queueAll: return slots.map { .run($0) }
        case .skip:
            if isBusy { return Self.passed(slots[...], .overlap) }
            return Self.passed(slots.dropLast(), .superseded) + [.run(newest)]
        case .queueOne:
            let first = slots.prefix(isBusy || slots.count == 1 ? 0 : 1)
            let between = slots.dropFirst(first.count).dropLast()
            return first.map { .run($0) } + Self.passed(between, .superseded) + [.run(newest)]
        case .replace:
            return Self.passed(slots.dropLast(), .superseded) + [.run(newest)]
        }
    }

    private static func passed(_ slots: ArraySlice<Moment>, _ reason: RunReason) -> [Decision] {
        guard let first = slots.first, let last = slots.last else { return [] }
        return [.pass(first: first, last: last, count: slots.count, state: .skipped, reason: reason)]
    }
}

/// The slots of one schedule, asked for by stretches of time and not one by one.
///
/// A month of a job that runs each second is decided by three questions.
package struct SlotTimes {
    private enum Source {
        case list([Moment])
        case schedule(Schedule, ScheduleZones)
    }

    private let source: Source

    /// Those of a list, which rises.
    package init(_ slots: [Moment]) { source = .list(slots) }

    /// Those of a schedule.
    init(_ schedule: Schedule, in zones: ScheduleZones) { source = .schedule(schedule, zones) }

    /// The first slot after a moment.
    func next(_ moment: Moment) -> Moment? {
        switch source {
        case .list(let slots): slots.first { $0 > moment }
        case .schedule(let schedule, let zones): schedule.nextSlot(after: moment, in: zones)
        }
    }

    /// The last slot at or before a moment.
    func last(_ moment: Moment) -> Moment? {
        switch source {
        case .list(let slots): slots.last { $0 <= moment }
        case .schedule(let schedule, let zones): schedule.lastSlot(through: moment, in: zones)
        }
    }

    /// How many slots there are after the one moment and up to the other.
    func count(_ after: Moment, _ through: Moment) -> Int {
        switch source {
        case .list(let slots): slots.count { after < $0 && $0 <= through }
        case .schedule(let schedule, let zones):
            schedule.slotCount(after: after, through: through, in: zones)
        }
    }

    /// The slots of a stretch, earliest first.
    func all(after moment: Moment, through last: Moment) -> [Moment] {
        var slots: [Moment] = []
        var current = moment
        while let slot = next(current), slot <= last {
            slots.append(slot)
            current = slot
        }
        return slots
    }

    /// The newest slots of a stretch, at most `limit`, earliest first.
    func newest(_ limit: Int, after moment: Moment, through last: Moment) -> [Moment] {
        var slots: [Moment] = []
        var current = last
        while slots.count < limit, let slot = self.last(current), slot > moment {
            slots.append(slot)
            current = Moment(microseconds: slot.microseconds - 1)
        }
        return slots.reversed()
    }
}
