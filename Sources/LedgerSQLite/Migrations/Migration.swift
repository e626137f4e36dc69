/// One step of the schema, applied once, in one transaction with the number it leads to.
///
/// A step that was released is never changed: the next one corrects it.
struct Migration {
    /// The schema's number afterwards, kept in the file's `user_version`.
    let version: Int
    let sql: String

    /// Every step, in order.
    static let all = [
        first, turns, survivors, spanEnds, refusals, waiting, payloads, attemptOutput, pins,
        verdicts,
    ]

    /// The schema this version of Belfry writes.
    static var newest: Int { all.last?.version ?? 0 }
}
