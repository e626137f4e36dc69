import Cron
import Delivery
package import Ledger
package import Timeline
package import Tracking

/// What happens to a job's slots that have come: each one runs, or has a reason not to.
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

/// The decisions that share one transaction: runs, spans, and the events of them.
struct SlotBatch {
    let watermark: Watermark
    /// Every slot up to here is decided.
    let until: Moment
    let now: Moment
    private(set) var runs: [RunRecord] = []
    /// Each job that was decided, with the span its next slot may join.
    private(set) var decided: [(job: String, open: JobBook.OpenSpan?)] = []
    /// How many jobs of this decision catch up, those of the batches before included.
    private(set) var caughtUp: Int
    /// The earlier runs of those jobs that give way, or are to end.
    private(set) var touched: [(run: String, job: String)] = []
    /// The cause of the last run: most of a batch share their slot.
    private var cause: (slot: Moment, text: String)?
    /// What changes in those earlier runs.
    private var giveWay: [Change] = []
    private var spans: [Change] = []
    private var events: [Change] = []

    /// Decides slots after `watermark` up to `until`.
    ///
    /// `now` is what the clock shows, or `until` where that is later; `caughtUp` jobs catch up already, and about
    /// `jobs` are to be decided.
    init(watermark: Watermark, until: Moment, now: Moment, caughtUp: Int = 0, jobs: Int = 0) {
        self.watermark = watermark
        self.until = until
        self.now = max(now, until)
        self.caughtUp = caughtUp
        let room = min(jobs, SlotKeeper.batch)
        runs.reserveCapacity(room)
        decided.reserveCapacity(room)
    }

    /// How many rows it has.
    var count: Int { runs.count + giveWay.count + spans.count + events.count }

    /// Decides all slots of a job that have come; false when they need more room than is left.
    ///
    /// One job's slots always fit into a batch of their own. Of an `isOutdated` job none runs.
    mutating func add(
        _ entry: JobBook.Entry, census: RunCensus, waiting: WaitingRuns, isOutdated: Bool = false,
        makeID: () -> String
    ) -> Bool {
        let (name, policies) = (entry.name, entry.policies)
        let decisions = decide(entry, isBusy: census.isBusy(name), isOutdated: isOutdated)
        let runsAny = decisions.contains { if case .run = $0 { true } else { false } }
        let others = runsAny && policies.overlap.touchesOthers ? census.runs(of: name) : []
        let rows = decisions.reduce(2 * others.count) { if case .run = $1 { $0 + 1 } else { $0 + 2 } }
        guard decided.isEmpty || count + rows <= SlotKeeper.batch else { return false }
        // The newer run takes the place of the one that waited, and its moment: else a spread that is longer than the
        // job's interval would put every run off for good.
        let inherited = others.compactMap { waiting[$0] }.min()
        var open = entry.open
        var pace: Duration?
        for decision in decisions {
            switch decision {
            case .run(let slot):
                var start = slot + SlotDelay.spread(policies.spread, of: name)
                if now - slot > SlotDecider.onTime { start = max(start, now + catchUpDelay(&pace)) }
                if let inherited { start = min(start, inherited) }
                let cause = entry.chain ?? self.cause(of: slot)
                addRun(of: entry, by: cause, slot: slot, notBefore: start, makeID: makeID)
                open = nil
            case .pass(let first, let last, let count, let state, let reason):
                open = addSpan(
                    of: entry, first: first, last: last, count: count, state, reason, joining: open)
            }
        }
        if !others.isEmpty {
            touched += others.map { ($0, name) }
            giveWay += policies.overlap.changes(
                for: others, of: name, bot: policies.bot, startsNow: runs.last?.state == .queued, at: now)
        }
        decided.append((name, open))
        return true
    }

    /// The delay of a job's runs that are caught up: one for all of them, and for each job another.
    private mutating func catchUpDelay(_ pace: inout Duration?) -> Duration {
        if let pace { return pace }
        let own = SlotDelay.pace(caughtUp)
        caughtUp += 1
        pace = own
        return own
    }

    /// Decides what a job does that runs once after each start of the machine.
    mutating func add(startOf boot: String, _ entry: JobBook.Entry, isBusy: Bool, makeID: () -> String) {
        if entry.isPaused {
            addSpan(of: entry, first: now, last: now, count: 1, .skipped, .paused, joining: nil)
        } else if isBusy {
            addSpan(of: entry, first: now, last: now, count: 1, .skipped, .overlap, joining: nil)
        } else {
            let delay = entry.schedule.startupDelay ?? .zero
            let start = now + delay + SlotDelay.spread(entry.policies.spread, of: entry.name)
            addRun(of: entry, by: RunCause.boot(boot), slot: nil, notBefore: start, makeID: makeID)
        }
    }

    /// The transaction.
    ///
    /// `reached` is the watermark after it, and `cut` where it stops when more must follow; `clears` an earlier
    /// one.
    func changes(reached: Watermark, cut: SlotCut?, clears: Bool, joining extra: [Change]) -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(count + extra.count + 2)
        changes.append(.moveWatermark(from: watermark, to: reached))
        if cut != nil || clears { changes.append(.setFact(name: SlotCut.fact, value: cut?.text)) }
        for run in runs { changes.append(.insertRun(run, orIgnore: true)) }
        for more in [giveWay, spans, events, extra] { changes += more }
        return changes
    }

    private func decide(
        _ entry: JobBook.Entry, isBusy: Bool, isOutdated: Bool
    ) -> [SlotDecider.Decision] {
        guard let next = entry.next, next <= until else { return [] }
        let policies = entry.policies
        // A chain has one link at a time, which may be late but is never passed over.
        if entry.chain != nil, !isOutdated { return [.run(next)] }
        // The first of several would wait for its spread like the last, and only one may wait.
        let waits =
            policies.overlap == .queueOne && policies.spread > .zero && policies.catchUp.mode != .all
        var decider = SlotDecider(
            catchUp: policies.catchUp, isPaused: entry.isPaused, overlap: policies.overlap,
            isBusy: isBusy || waits)
        decider.isOutdated = isOutdated
        return decider.decide(
            SlotTimes(entry.schedule, in: entry.zones), after: next - .microseconds(1), through: until,
            at: now)
    }

    private mutating func cause(of slot: Moment) -> String {
        if let cause, cause.slot == slot { return cause.text }
        let text = RunCause.slot(slot, era: watermark.era)
        cause = (slot, text)
        return text
    }

    private mutating func addRun(
        of job: JobBook.Entry, by cause: String, slot: Moment?, notBefore: Moment, makeID: () -> String
    ) {
        var run = RunRecord(
            id: makeID(), job: job.name, bot: job.policies.bot, kind: .scheduled, cause: cause, slot: slot,
            era: watermark.era, queuedAt: now, revision: job.revision)
        run.lateness = slot.map { max(.zero, now - $0) }
        if notBefore > now {
            run.state = .scheduled
            run.reason = .spread
            run.notBefore = notBefore
        }
        runs.append(run)
    }

    @discardableResult
    private mutating func addSpan(
        of job: JobBook.Entry, first: Moment, last: Moment, count: Int, _ state: RunState,
        _ reason: RunReason, joining open: JobBook.OpenSpan?
    ) -> JobBook.OpenSpan {
        let follows = open.flatMap { $0.state == state && $0.reason == reason ? $0.last : nil }
        let span = SlotSpan(
            job: job.name, era: watermark.era, first: first, last: last, count: count, state: state,
            reason: reason)
        spans.append(.recordSpan(span, follows: follows))
        // A job that skips every minute reports it once; what was missed is news each time.
        if follows == nil || state == .missed {
            events.append(.append(makeEvent(for: span, job.policies.bot)))
        }
        return JobBook.OpenSpan(last: last, state: state, reason: reason)
    }

    private func makeEvent(for span: SlotSpan, _ bot: String) -> NewEvent {
        let slots = Fact.Slots(
            job: span.job, bot: bot, reason: span.reason,
            Fact.Slots.Span(first: span.first, last: span.last, count: span.count))
        return NewEvent(span.state == .missed ? .runMissed(slots) : .slotsSkipped(slots), at: now)
    }
}

extension OverlapPolicy {
    /// Whether a new run of a job changes those before it.
    var touchesOthers: Bool { self == .queueOne || self == .replace }

    /// What a new run of the job changes in `others`, which were there before and may have ended meanwhile: those
    /// that wait give way, and with ``replace`` those under way are to end once the new run `startsNow`.
    func changes(
        for others: some Sequence<String>, of job: String, bot: String, startsNow: Bool, at now: Moment
    ) -> [Change] {
        guard touchesOthers else { return [] }
        return others.flatMap { run -> [Change] in
            let end = Fact.End(Fact.Run(job: job, id: run, bot: bot), reason: .superseded)
            let skipped = NewEvent(.runSkipped(end), at: now)
            let passOver = Change.passOver(run: run, skipped)
            return self == .replace && startsNow ? [passOver, .askEnd(run: run, .replaced)] : [passOver]
        }
    }
}

/// How far slots are decided: every slot up to the watermark, and beyond it those before the cut.
struct SlotProgress {
    private(set) var watermark: Watermark
    /// The decision that is half done.
    private(set) var cut: SlotCut?

    init(_ watermark: Watermark, cut: SlotCut?) {
        self.watermark = watermark
        self.cut = cut
    }

    /// The moment up to which the job's slots are decided.
    func decidedUntil(for job: String) -> Moment {
        if let cut, job <= cut.job { return cut.until }
        return watermark.decidedUntil
    }

    /// Where the batch leads: to its end where it is the last of its decision, else to a cut behind its last job.
    func advanced(by batch: SlotBatch, isLast: Bool) -> SlotProgress {
        var next = self
        if isLast { next.watermark.decidedUntil = max(batch.until, watermark.decidedUntil) }
        next.cut = isLast ? nil : batch.decided.last.map { SlotCut(until: batch.until, job: $0.job) }
        return next
    }

    /// A new era begins at this moment: slots of the same wall time are others from here on.
    func newEra(from moment: Moment) -> SlotProgress {
        SlotProgress(Watermark(decidedUntil: moment, era: watermark.era + 1), cut: cut)
    }
}

/// Where a decision that needs more than one transaction stands.
///
/// Stored with each part, so that the rest is decided once and exactly, also after a crash between two parts:
/// the jobs whose names are not above ``job`` are decided up to ``until``, the others up to the watermark.
struct SlotCut: Hashable, Sendable {
    /// The fact's name in the ledger.
    static let fact = "slots.cut"

    /// What is being decided: every slot up to here.
    var until: Moment
    /// The last job, in the order of names, that is done.
    var job: String

    init(until: Moment, job: String) {
        self.until = until
        self.job = job
    }

    /// Reads the stored form.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let until = Int64(parts[0]) else { return nil }
        self.init(until: Moment(microseconds: until), job: String(parts[1]))
    }

    /// The stored form: microseconds and the name.
    var text: String { "\(until.microseconds) \(job)" }
}
