import Cron
import Ledger
import Timeline
import Tracking

/// The decisions that share one transaction: runs, spans, their events, and how far the watermark moves.
struct SlotBatch {
    let watermark: Watermark
    let now: Moment
    private(set) var runs: [RunRecord] = []
    /// Each job that was decided, with the span its next slot may join.
    private(set) var decided: [(job: String, open: JobBook.OpenSpan?)] = []
    private var spans: [Change] = []
    private var events: [Change] = []

    init(watermark: Watermark, now: Moment) {
        self.watermark = watermark
        self.now = now
    }

    var count: Int { runs.count + spans.count }

    /// Decides all slots of a job that have come.
    mutating func add(_ entry: JobBook.Entry, census: RunCensus, makeID: () -> String) {
        let spec = entry.record.spec
        let decider = SlotDecider(
            catchUp: spec.catchUp, isPaused: entry.record.pause != nil,
            isBusy: spec.overlap == .skip && census.isBusy(spec.name))
        let from = max(watermark.decidedUntil, entry.record.since)
        var open = entry.open
        for decision in decider.decide(slots(of: entry, after: from), at: now) {
            switch decision {
            case .run(let slot):
                runs.append(makeRun(for: slot, of: entry.record, makeID: makeID))
                open = nil
            case .pass(let first, let last, let count, let state, let reason):
                let follows = open.flatMap { $0.state == state && $0.reason == reason ? $0.last : nil }
                let span = SlotSpan(
                    job: spec.name, era: watermark.era, first: first, last: last, count: count, state: state,
                    reason: reason)
                spans.append(.recordSpan(span, follows: follows))
                if follows == nil { events.append(.append(makeEvent(for: span, bot: spec.bot))) }
                open = JobBook.OpenSpan(last: last, state: state, reason: reason)
            }
        }
        decided.append((spec.name, open))
    }

    private func slots(of entry: JobBook.Entry, after moment: Moment) -> some Sequence<Moment> {
        sequence(state: moment) { last in
            guard let slot = entry.schedule.nextSlot(after: last, in: entry.rules), slot <= now else {
                return nil
            }
            last = slot
            return slot
        }
    }

    /// How far the watermark gets when the earliest slot not decided is `rest`.
    func reached(before rest: Moment?) -> Watermark {
        guard let rest, rest <= now else {
            return Watermark(decidedUntil: max(now, watermark.decidedUntil), era: watermark.era)
        }
        let until = max(watermark.decidedUntil, rest - .microseconds(1))
        return Watermark(decidedUntil: until, era: watermark.era)
    }

    /// The transaction: nothing when nothing was decided and nothing joins.
    func changes(before rest: Moment?, joining extra: [Change]) -> [Change] {
        guard !decided.isEmpty || !extra.isEmpty else { return [] }
        let move = Change.moveWatermark(from: watermark, to: reached(before: rest))
        return [move] + runs.map { .insertRun($0, orIgnore: true) } + spans + events + extra
    }

    private func makeRun(for slot: Moment, of record: JobRecord, makeID: () -> String) -> RunRecord {
        var run = RunRecord(
            id: makeID(), job: record.name, bot: record.spec.bot, kind: .scheduled,
            cause: RunCause.slot(slot, era: watermark.era), slot: slot, era: watermark.era, queuedAt: now,
            revision: record.revision)
        run.lateness = now - slot
        return run
    }

    private func makeEvent(for span: SlotSpan, bot: String) -> NewEvent {
        NewEvent(
            span.state == .missed ? .runMissed : .runSkipped, at: now, reason: span.reason.rawValue,
            job: span.job, bot: bot,
            detail: """
                {"slot":"\(span.first.iso8601)","lastSlot":"\(span.last.iso8601)","count":\(span.count)}
                """)
    }
}
