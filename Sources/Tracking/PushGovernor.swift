public import Timeline

/// Decides when the progress of a run is worth a push to a phone, where pushes are counted.
///
/// A phone counts down by itself, so what is pushed is that something is other than it was: that the run began, waits, goes
/// on or ended, that its finish moved by a lot, that what is shown will soon be out of date. Never more than 12 urgent ones in
/// any hour; the end is always pushed.
///
/// - Source: progress of Live Activities, as Apple's budget for pushes of priority 10 is known from the field.
public struct PushGovernor: Hashable, Sendable {
    /// What a push is about.
    public enum Cause: Hashable, Sendable {
        /// The first one of the run.
        case start
        /// It waits for a person, or no longer does.
        case blocked
        /// It ended.
        case end
        /// It will be done at another time than was pushed.
        case finish
        /// Anything else that is shown.
        case change
        /// Nothing is new, but what is shown would be out of date.
        case stale
        /// The phone ends what it shows soon, with the last state that it was sent.
        case life
    }

    /// A push that is due.
    public struct Push: Hashable, Sendable {
        /// What it is about.
        public let cause: Cause
        /// Whether it goes out at once (priority 10); else whenever the phone is awake (5).
        public let isUrgent: Bool
    }

    /// Two pushes are so far apart, but for the start, a wait and the end.
    public static let gap = Duration.seconds(15)
    /// So many urgent ones in a row.
    static let burst = 4.0
    /// After so long there is one more: with ``burst`` 12 in any hour.
    static let refill = Duration.seconds(450)
    /// So long before what is shown gets old, it is pushed again.
    static let staleMargin = Duration.seconds(30)

    /// A phone ends an activity after eight hours; so long after the start of the run its last state is pushed.
    public static let longestLife = Duration.seconds(7 * 3600 + 45 * 60)

    private var tokens = burst
    private var countedAt: Moment?
    private var pushedAt: Moment?
    private var pushed: LiveState?

    /// A governor of a run of which nothing was pushed.
    public init() {}

    /// The push that is due for `live` as it is at `now`, which is taken for sent; nil: none.
    public mutating func push(_ live: LiveState, at now: Moment) -> Push? {
        guard let cause = cause(live, at: now) else { return nil }
        let isUrgent = cause != .change && cause != .stale && takeToken(at: now)
        (pushedAt, pushed) = (now, live)
        return Push(cause: cause, isUrgent: isUrgent)
    }

    /// When to ask again though nothing changes; nil: not before.
    public func nextPush(of live: LiveState) -> Moment? {
        guard let pushed, let pushedAt, !pushed.state.isEnded else { return nil }
        let earliest = pushedAt + Self.gap
        var next = live.startedAt.map { $0 + Self.longestLife }.flatMap { $0 > pushedAt ? $0 : nil }
        if isOther(live, than: pushed) {
            next = min(next ?? earliest, earliest)
        } else if live.staleAt != pushed.staleAt, let staleAt = pushed.staleAt {
            // What is shown gets old then; where nothing came since, there is nothing to push in its place.
            let renewal = max(earliest, staleAt - Self.staleMargin)
            next = min(next ?? renewal, renewal)
        }
        return next
    }

    /// Whether the phone has ended, or is about to end, what it shows of the run.
    private func isPastLife(_ live: LiveState, at now: Moment) -> Bool {
        live.startedAt.map { now - $0 >= Self.longestLife } ?? false
    }

    private func cause(_ live: LiveState, at now: Moment) -> Cause? {
        guard let pushed, let pushedAt else {
            return live.state.isEnded ? .end : isPastLife(live, at: now) ? .life : .start
        }
        guard !pushed.state.isEnded else { return nil }
        if live.state.isEnded { return .end }
        if isPastLife(live, at: now), !isPastLife(live, at: pushedAt) { return .life }
        if (live.state == .blocked) != (pushed.state == .blocked) || live.blockedKind != pushed.blockedKind {
            return .blocked
        }
        // A clock that was set back holds nothing back.
        guard now - pushedAt >= Self.gap || now < pushedAt else { return nil }
        if let finish = live.finish?.at, let shown = pushed.finish?.at {
            let shift = finish > shown ? finish - shown : shown - finish
            if shift > max(.seconds(120), (finish - now) / 5) { return .finish }
        }
        if isOther(live, than: pushed) { return .change }
        if let staleAt = pushed.staleAt, now >= staleAt - Self.staleMargin, live.staleAt != staleAt {
            return .stale
        }
        return nil
    }

    /// Whether a phone would show it otherwise.
    private func isOther(_ live: LiveState, than shown: LiveState) -> Bool {
        func percent(_ live: LiveState) -> Int? { live.progress.map { Int($0 * 100) } }
        return live.state != shown.state || live.phase != shown.phase || live.message != shown.message
            || percent(live) != percent(shown) || (live.finish == nil) != (shown.finish == nil)
    }

    private mutating func takeToken(at now: Moment) -> Bool {
        if let countedAt { tokens = min(Self.burst, tokens + max(0, (now - countedAt) / Self.refill)) }
        countedAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
