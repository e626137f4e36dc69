import Cron
import Ledger
import Timeline
import Tracking

/// The decisions that share one transaction: runs, spans, and the events of them.
struct SlotBatch {
    let watermark: Watermark
    /// Every slot up to here is decided.
    let until: Moment
    let now: Moment
    private(set) var runs: [RunRecord] = []
    /// Each job that was decided, with the span its next slot may join.
    private(set) var decided: [(job: String, open: JobBook.OpenSpan?)] = []
    /// The earlier runs of those jobs that give way, or are to end.
    private(set) var touched: [(run: String, job: String)] = []
    private var words: [Change] = []
    private var spans: [Change] = []
    private var events: [Change] = []

    /// Decides slots after `watermark` up to `until`; `now` is what the clock shows, or `until` where that is
    /// later.
    init(watermark: Watermark, until: Moment, now: Moment) {
        self.watermark = watermark
        self.until = until
        self.now = max(now, until)
    }

    /// How many rows it has.
    var count: Int { runs.count + spans.count }

    /// Decides all slots of a job that have come.
    mutating func add(_ entry: JobBook.Entry, census: RunCensus, makeID: () -> String) {
        let spec = entry.record.spec
        let decider = SlotDecider(
            catchUp: spec.catchUp, isPaused: entry.record.pause != nil, overlap: spec.overlap,
            isBusy: census.isBusy(spec.name))
        var open = entry.open
        let before = runs.count
        for decision in decider.decide(slots(of: entry), at: now) {
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
                // A job that skips every minute says so once; what was missed is news each time.
                if follows == nil || state == .missed {
                    events.append(.append(makeEvent(for: span, bot: spec.bot)))
                }
                open = JobBook.OpenSpan(last: last, state: state, reason: reason)
            }
        }
        if runs.count > before, spec.overlap.touchesOthers {
            let others = census.runs(of: spec.name)
            touched += others.map { ($0, spec.name) }
            words += spec.overlap.words(to: others, of: spec.name, bot: spec.bot, at: now)
        }
        decided.append((spec.name, open))
    }

    /// The transaction.
    ///
    /// `reached` is the watermark after it, and `cut` where it stops when more must follow; `clears` an earlier
    /// one.
    func changes(reached: Watermark, cut: SlotCut?, clears: Bool, joining extra: [Change]) -> [Change] {
        var changes: [Change] = [.moveWatermark(from: watermark, to: reached)]
        if cut != nil || clears { changes.append(.setFact(name: SlotCut.fact, value: cut?.text)) }
        changes += runs.map { .insertRun($0, orIgnore: true) }
        return changes + words + spans + events + extra
    }

    private func slots(of entry: JobBook.Entry) -> some Sequence<Moment> {
        sequence(state: entry.next) { next in
            guard let slot = next, slot <= until else { return nil }
            next = entry.schedule.nextSlot(after: slot, in: entry.rules)
            return slot
        }
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
