import Timeline

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
