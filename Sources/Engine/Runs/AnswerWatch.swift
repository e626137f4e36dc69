/// Whether a performer that owes an answer still gives any.
///
/// Nothing is asked only to hear something: an order is answered at once, also by the oldest of wardens.
struct AnswerWatch {
    /// How long after the last event the next one may come.
    static let patience: Duration = .seconds(10)

    private var since: Duration?

    /// Notes, at a time since boot, whether an answer is owed, and whether any event came since the last note.
    mutating func note(isOwed: Bool, hasSpoken: Bool, at now: Duration) {
        if !isOwed { since = nil } else if hasSpoken || since == nil { since = now }
    }

    /// When, since boot, the wait ends; nil: nothing is owed.
    var deadline: Duration? { since.map { $0 + Self.patience } }

    /// Whether the wait has ended.
    func isOverdue(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }
}
