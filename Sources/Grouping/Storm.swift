public import Timeline
import Tracking

/// Several jobs that failed alike within a minute, counted together.
public struct Storm: Hashable, Codable, Sendable {
    /// So many jobs are a storm; fewer are failures of their own.
    public static let smallest = 3
    /// Within which time they fail; also for how long after the last of them more may join.
    public static let window: Duration = .seconds(60)
    /// How long one without news is remembered.
    public static let lifetime: Duration = .seconds(86_400)

    /// One of the jobs.
    public struct Member: Hashable, Codable, Sendable {
        /// The job's name.
        public var job: String
        /// What the job has to do with, as `host: db1`.
        public var labels: [String: String]
        /// When it failed last.
        public var at: Moment
        /// Whether it has succeeded since.
        public var isWell = false
    }

    /// What the failures have in common.
    public let cause: FailureCause
    /// The text of the first failure, or how it ended, for people.
    public let text: String?
    /// The jobs, in the order of their first failures.
    public private(set) var members: [Member]
    /// Whether they are shown as one.
    public private(set) var isFormed = false
    /// Whether a person has put it away.
    public internal(set) var isPutAway = false
    /// The revision of the item that showed it first.
    var since: Int?

    init(cause: FailureCause, text: String?, first: Member) {
        (self.cause, self.text) = (cause, text)
        members = [first]
    }

    /// When the last job failed.
    public var lastAt: Moment { members.map(\.at).max() ?? .distantPast }

    /// Whether every job has succeeded since.
    public var isOver: Bool { members.allSatisfy(\.isWell) }

    /// Whether another job that fails alike at this moment is one of them.
    public func isOpen(at now: Moment) -> Bool {
        !isFormed || (!isPutAway && !isOver && now - lastAt <= Self.window)
    }

    /// The label that all jobs share: `host` before others, then by name; nil: there is none.
    public var sharedLabel: (name: String, value: String)? {
        guard var shared = members.first?.labels else { return nil }
        for member in members.dropFirst() { shared = shared.filter { member.labels[$0.key] == $0.value } }
        let name = shared["host"] == nil ? shared.keys.min() : "host"
        return name.flatMap { name in shared[name].map { (name, $0) } }
    }

    /// Notes a failure; returns whether it is shown as one with others.
    mutating func fail(_ failing: Member) {
        if let index = members.firstIndex(where: { $0.job == failing.job }) {
            members[index] = failing
        } else {
            members.append(failing)
        }
        forget(before: failing.at - Self.window)
        isFormed = isFormed || members.count >= Self.smallest
    }

    /// Notes that a job succeeded, or that it failed in another way and is none of them any more.
    mutating func end(_ job: String, isWell: Bool) {
        guard let index = members.firstIndex(where: { $0.job == job }) else { return }
        if isFormed && isWell { members[index].isWell = true } else { members.remove(at: index) }
    }

    /// As long as they are no storm, each is one for a minute only.
    mutating func forget(before moment: Moment) {
        if !isFormed { members.removeAll { $0.at < moment } }
    }

    /// Moves what a set-back clock put ahead to now.
    mutating func clamp(at now: Moment) {
        for index in members.indices { members[index].at = min(members[index].at, now) }
    }
}

/// What makes failures of several jobs the same one for a person: their text, numbers aside, or else how they ended.
public struct FailureCause: Hashable, Codable, Sendable {
    /// Whether the outcome is unknown.
    public var isLost: Bool
    /// The text, each word with a digit in it written `#`; or the reason with the exit code or signal.
    public var words: String

    /// The cause of a failure.
    public init(_ fact: JobFact) {
        isLost = fact.state == .lost
        let text = FailureSignature(fact).words
        let ending = [fact.exitCode, fact.signal].map { $0.map(String.init) ?? "-" }.joined(separator: "/")
        words = text.isEmpty ? "\(fact.state.rawValue) \(fact.reason?.rawValue ?? "-") \(ending)" : text
    }
}

/// What the item of a storm shows.
public struct StormReport: Hashable, Codable, Sendable {
    /// The jobs that fail still, or all where none does; in the order of their first failures, at most 20.
    public var jobs: [String]
    /// How many fail still.
    public var failing: Int
    /// How many there were.
    public var total: Int
    /// The name of a label that they share.
    public var labelName: String?
    /// Its value.
    public var labelValue: String?
    /// The text of the failure.
    public var text: String?
    /// Whether the outcomes are unknown.
    public var isLost: Bool
    /// The revision of the item that showed this storm first.
    public var since: Int

    /// What a storm comes to.
    public init(_ storm: Storm) {
        let failing = storm.members.filter { !$0.isWell }
        self.failing = failing.count
        total = storm.members.count
        jobs = (failing.isEmpty ? storm.members : failing).prefix(20).map(\.job)
        (labelName, labelValue) = (storm.sharedLabel?.name, storm.sharedLabel?.value)
        text = storm.text
        isLost = storm.cause.isLost
        since = storm.since ?? 0
    }
}

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
        // What has ended stays on the screen as it is; the number is free.
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
