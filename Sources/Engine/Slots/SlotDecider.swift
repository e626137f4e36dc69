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
    ///
    /// - Complexity: O(slots), memory O(slots on time).
    package func decide(_ slots: some Sequence<Moment>, at now: Moment) -> [Decision] {
        if isPaused {
            var all = Passed(.skipped, .paused)
            for slot in slots { all.add(slot) }
            return all.decisions
        }
        var tooOld = Passed(.missed, .catchUpWindow)
        var unwanted = Passed(.missed, .catchUpNone)
        var superseded = Passed(.skipped, .superseded)
        var caughtUp: Moment?
        var fresh: [Moment] = []
        for slot in slots {
            if now - slot <= Self.onTime {
                fresh.append(slot)
            } else if catchUp.mode == .none {
                unwanted.add(slot)
            } else if now - slot > catchUp.within {
                tooOld.add(slot)
            } else {
                if let older = caughtUp { superseded.add(older) }
                caughtUp = slot
            }
        }
        if !fresh.isEmpty, let older = caughtUp {
            superseded.add(older)
            caughtUp = nil
        }
        let old = tooOld.decisions + unwanted.decisions + superseded.decisions
        return old + inTurn((caughtUp.map { [$0] } ?? []) + fresh)
    }

    /// The slots that may run, by the overlap policy: each finds those before it at work.
    private func inTurn(_ slots: [Moment]) -> [Decision] {
        guard let newest = slots.last else { return [] }
        switch overlap {
        case .allow, .queueAll: return slots.map { .run($0) }
        case .skip:
            return slots.prefix(isBusy ? 0 : 1).map { .run($0) }
                + Passed(.skipped, .overlap, slots.dropFirst(isBusy ? 0 : 1)).decisions
        case .queueOne:
            let first = slots.prefix(isBusy || slots.count == 1 ? 0 : 1)
            let between = slots.dropFirst(first.count).dropLast()
            return first.map { .run($0) } + Passed(.skipped, .superseded, between).decisions + [.run(newest)]
        case .replace:
            return Passed(.skipped, .superseded, slots.dropLast()).decisions + [.run(newest)]
        }
    }
}

/// Consecutive slots that pass for one reason, gathered.
private struct Passed {
    let state: RunState
    let reason: RunReason
    var first: Moment?
    var last: Moment?
    var count = 0

    init(_ state: RunState, _ reason: RunReason, _ slots: some Sequence<Moment> = []) {
        self.state = state
        self.reason = reason
        for slot in slots { add(slot) }
    }

    mutating func add(_ slot: Moment) {
        if first == nil { first = slot }
        last = slot
        count += 1
    }

    var decisions: [SlotDecider.Decision] {
        guard let first, let last else { return [] }
        return [.pass(first: first, last: last, count: count, state: state, reason: reason)]
    }
}
