/// Whether a warden that owes an answer still gives any.
///
/// Nothing is asked only to hear something: what was ordered is answered at once, also by the oldest of wardens.
struct AnswerWatch {
    /// So long after the last word is waited for the next one.
    static let patience: Duration = .seconds(10)

    private var since: Duration?

    /// Notes, at a time since boot, whether an answer is owed, and whether anything was said since the last look.
    mutating func look(isOwed: Bool, hasSpoken: Bool, at now: Duration) {
        if !isOwed { since = nil } else if hasSpoken || since == nil { since = now }
    }

    /// When, since boot, the wait is over; nil: nothing is owed.
    var deadline: Duration? { since.map { $0 + Self.patience } }

    /// Whether the wait is over.
    func isOverdue(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }
}
