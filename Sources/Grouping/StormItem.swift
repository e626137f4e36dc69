public import Timeline
import Tracking

/// A storm as a person sees it: one item that lists the jobs, in the place of the first of them.
///
/// The value is all there is to save between two events. It has a number that another storm takes over once this one is
/// over. The first failures ring by themselves; with the third the item is shown, in silence, and from then on each of
/// the jobs steps aside. It rings again only when all of them have succeeded.
public struct StormItem: Hashable, Codable, Sendable {
    /// Its number.
    public let number: Int
    /// Counts the versions made, and the times it was removed.
    public private(set) var revision = 0
    /// The failures that it counts; absent while the number is free.
    public private(set) var storm: Storm?

    private var pace = Pace()
    private var waiting: RingReason?
    private var isShown = false

    /// A free number.
    public init(number: Int) { self.number = number }

    /// When to wake it; `nil` when nothing waits.
    public var flushAt: Moment? { [pace.flushAt, endsAt].compactMap(\.self).min() }

    /// When it is forgotten without news.
    private var endsAt: Moment? {
        guard let storm else { return nil }
        if storm.isFormed { return storm.lastAt + Storm.lifetime }
        return storm.members.map(\.at).min().map { $0 + Storm.window }
    }

    /// A job failed.
    ///
    /// Of another cause, or when the storm is no longer open, it must not come here: see ``Storm/isOpen(at:)``.
    public mutating func fail(
        _ job: String, _ fact: JobFact, labels: [String: String], at now: Moment
    ) -> [ItemAction] {
        clamp(at: now)
        let member = Storm.Member(job: job, labels: labels, at: now)
        if storm == nil { storm = Storm(cause: FailureCause(fact), text: Self.text(of: fact), first: member) }
        storm?.fail(member)
        guard storm?.isFormed == true, storm?.isPutAway == false else { return [] }
        return show(.joined, at: now)
    }

    /// A job succeeded, or failed in another way and is counted here no more.
    public mutating func end(_ job: String, isWell: Bool, at now: Moment) -> [ItemAction] {
        clamp(at: now)
        storm?.end(job, isWell: isWell)
        guard let storm, !storm.members.isEmpty else { return free() }
        guard storm.isFormed else { return [] }
        if storm.isOver { return show(.recovered, at: now) }
        return storm.isPutAway ? [] : show(.joined, at: now)
    }

    /// Makes the next version if its moment has come; asks again otherwise.
    public mutating func wake(at now: Moment) -> [ItemAction] {
        clamp(at: now)
        storm?.forget(before: now - Storm.window + .microseconds(1))
        guard let storm, !storm.members.isEmpty else { return free() }
        if let endsAt, endsAt <= now { return free() }
        guard let waiting, pace.isDue(at: now) else { return flushAt.map { [.wakeAt($0)] } ?? [] }
        return [.flush(flush(storm, waiting, at: now))]
    }

    private mutating func flush(_ shown: Storm, _ reason: RingReason, at now: Moment) -> ItemSnapshot {
        var shown = shown
        pace.flushed(at: now)
        waiting = nil
        isShown = true
        revision += 1
        shown.since = shown.since ?? revision
        let snapshot = ItemSnapshot(
            key: .storm(number), revision: revision, bot: "belfry",
            urgency: shown.isOver ? .normal : .critical, reason: reason, at: now,
            content: .storm(StormReport(shown)))
        // What is over stays on the screen as it is; the number is free.
        storm = shown.isOver ? nil : shown
        return snapshot
    }

    /// A person has put away what this revision showed: what fails from now on is another storm.
    public mutating func dismissed(revision: Int, at now: Moment) -> [ItemAction] {
        revision <= self.revision ? read(at: now) : []
    }

    /// A person has seen all there is to see.
    public mutating func read(at now: Moment) -> [ItemAction] {
        storm?.isPutAway = true
        waiting = nil
        pace.cancel()
        return resolve()
    }

    private mutating func show(_ reason: RingReason, at now: Moment) -> [ItemAction] {
        waiting = reason
        pace.ask(for: now, interval: .seconds(1))
        return wake(at: now)
    }

    private mutating func free() -> [ItemAction] {
        (storm, waiting) = (nil, nil)
        pace.cancel()
        return resolve()
    }

    private mutating func resolve() -> [ItemAction] {
        guard isShown else { return [] }
        isShown = false
        revision += 1
        return [.resolve(revision: revision)]
    }

    private mutating func clamp(at now: Moment) {
        pace.clamp(at: now, longest: .seconds(1))
        storm?.clamp(at: now)
    }

    private static func text(of fact: JobFact) -> String? {
        if let text = fact.text, !text.isEmpty { return Preview.cut(text, to: 200) }
        if let signal = fact.signal { return "ended by signal \(signal)" }
        if let code = fact.exitCode { return "exit code \(code)" }
        return fact.reason?.words
    }
}
