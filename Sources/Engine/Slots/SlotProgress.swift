import Ledger
import Timeline

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
