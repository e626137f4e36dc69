import Timeline

/// Lets through at most 50 records a second; of those it holds back, it remembers the newest.
///
/// A job that prints a million lines costs no more than one that prints fifty, and its last line, which is
/// often the one that says 100 %, is still read.
struct RecordLimiter: Sendable {
    /// The most records in any one second.
    static let perSecond = 50

    private var windowStart: Moment = .distantPast
    private var used = 0
    private var held: [UInt8]?

    /// Whether a record may be read at `now`.
    ///
    /// If not, it is held until ``takeHeld()``.
    mutating func admit(_ record: ArraySlice<UInt8>, at now: Moment) -> Bool {
        // A clock that was set back opens a new window too; else it would stay shut until it caught up.
        if now < windowStart || now - windowStart >= .seconds(1) {
            windowStart = now
            used = 0
        }
        guard used < Self.perSecond else {
            held = Array(record)
            return false
        }
        used += 1
        held = nil
        return true
    }

    /// When the record that is held may be read; `nil` when none is.
    var heldUntil: Moment? { held.map { _ in windowStart + .seconds(1) } }

    /// The newest record that was held back, if no later one was let through.
    mutating func takeHeld() -> [UInt8]? {
        defer { held = nil }
        return held
    }

    /// The record that is held, once its second has passed.
    mutating func takeHeld(at now: Moment) -> [UInt8]? {
        guard let heldUntil, now >= heldUntil || now < windowStart, let record = takeHeld() else {
            return nil
        }
        return admit(record[...], at: now) ? record : nil
    }
}
