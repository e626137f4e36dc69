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
