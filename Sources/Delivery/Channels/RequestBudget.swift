/// How many requests each visitor may send, and how many buttons the agents of a user may press: 60 at once, and one more
/// every 5 seconds.
package struct RequestBudget: Sendable {
    /// So many at once.
    package static let most = 60
    /// A request is given back after so many seconds.
    package static let secondsForOne = 5
    /// More visitors than these are not remembered one by one.
    private static let mostVisitors = 4096
    /// What one request takes of a budget.
    private static let one = Duration.seconds(secondsForOne)

    /// When the visitor has its whole budget again, on the clock since boot.
    private var fullAt: [String: Duration] = [:]

    /// Everybody has the whole budget.
    package init() {}

    /// Takes a request of the visitor from its budget; false when nothing is left of it.
    package mutating func take(for visitor: String, at now: Duration) -> Bool {
        let full = fullAfterOne(of: visitor, at: now)
        guard Self.isWithin(full, at: now) else { return false }
        if fullAt[visitor] == nil, fullAt.count >= Self.mostVisitors { forget(at: now) }
        fullAt[visitor] = full
        return true
    }

    /// Takes a request from the budget also where nothing is left of it; how long the visitor has to wait for it then.
    ///
    /// For whoever sends one at a time, and waits.
    package mutating func delay(of visitor: String, at now: Duration) -> Duration {
        if take(for: visitor, at: now) { return .zero }
        let full = fullAfterOne(of: visitor, at: now)
        fullAt[visitor] = full
        return full - now - Self.one * Self.most
    }

    /// Whether anything is left of the visitor's budget.
    package func hasRoom(for visitor: String, at now: Duration) -> Bool {
        Self.isWithin(fullAfterOne(of: visitor, at: now), at: now)
    }

    /// When the visitor has its whole budget again once it has sent one more request.
    private func fullAfterOne(of visitor: String, at now: Duration) -> Duration {
        max(fullAt[visitor] ?? now, now) + Self.one
    }

    /// Whether a budget that is whole again at `full` is not exceeded.
    private static func isWithin(_ full: Duration, at now: Duration) -> Bool { full - now <= one * most }

    /// Forgets whoever has the whole budget again, and where that is nobody, who has it first.
    private mutating func forget(at now: Duration) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= Self.mostVisitors, let first = fullAt.min(by: { $0.value < $1.value }) else {
            return
        }
        fullAt[first.key] = nil
    }
}
