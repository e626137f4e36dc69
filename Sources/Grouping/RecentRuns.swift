import Tracking

/// Which runs of a job have begun and ended, as far back as late news may come from.
struct RecentRuns: Hashable, Codable, Sendable {
    /// The newest run that was seen at work; 0 before the first.
    private(set) var newest = 0
    /// The latest that ended, oldest first.
    private(set) var ended: [Int] = []

    /// Notes that `run` is in `state`, and says whether this is the first seen of it at work.
    mutating func begin(_ run: Int, _ state: RunState) -> Bool {
        guard run > newest, state.isUnderWay else { return false }
        newest = run
        return true
    }

    /// Notes that `run` has ended.
    mutating func end(_ run: Int) {
        ended = ended.suffix(15) + [run]
    }
}
