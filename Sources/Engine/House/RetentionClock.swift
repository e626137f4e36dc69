package import Timeline

/// What time it is for history: a clock that no step of the wall clock can hurry.
///
/// What is removed is gone, so a wall clock that leaps ahead is not believed at once. Up to a day it is: a night
/// without power, or a zone that was wrong. Of more, only as much counts as has gone by since boot, and a tenth more,
/// so that a machine that was off for weeks is right again some day, and one whose clock shows a wrong year removes
/// nothing by it that would not have gone in about that time. A clock that is set back is followed at once, unless
/// it shows a year before Belfry.
package struct RetentionClock: Hashable, Sendable {
    /// A step ahead up to this is believed.
    package static let longestStep: Duration = .seconds(86_400)

    /// The moment by which the age of history is measured.
    package private(set) var now: Moment
    private var seenAt: Duration

    /// Goes on from `known`, the last moment that was believed, at `sinceBoot`.
    package init(known: Moment, sinceBoot: Duration) {
        now = known
        seenAt = sinceBoot
    }

    /// Goes on by what the clocks show.
    package mutating func look(at wall: Moment, sinceBoot: Duration) {
        let elapsed = max(.zero, sinceBoot - seenAt)
        seenAt = sinceBoot
        if wall < ClockDoubt.floor {
            now = now + elapsed
        } else if wall - now <= elapsed + Self.longestStep {
            now = wall
        } else {
            now = min(wall, now + elapsed + elapsed / 10)
        }
    }
}
