public import Timeline
public import Tracking

/// Where a run of a job is, as far as a person may care.
public struct JobFact: Hashable, Codable, Sendable {
    /// The run's number within its job; absent for slots that never got a run.
    public var run: Int?
    /// Where the run is.
    public var state: RunState
    /// Why it is there.
    public var reason: RunReason?
    /// The process's exit code, after an exit.
    public var exitCode: Int?
    /// The signal that ended the process.
    public var signal: Int?
    /// The part done, 0...1, while it runs.
    public var progress: Double?
    /// The stretch of work it is in.
    public var phase: String?
    /// Its last text: a progress message, or the line that explains why it failed.
    public var text: String?
    /// How long it still takes, or usually takes, in words; absent when nothing is known, and once it has ended.
    public var outlook: String?
    /// How long it had lasted when it was shown, while it runs.
    public var lasted: Duration?
    /// How long it took, once it has ended; of one with several attempts the last.
    public var took: Duration?
    /// The limit that it reached.
    public var limit: Duration?
    /// When the job runs next, after a failure.
    public var next: NextTry?
    /// How many slots this is about; 1 but for missed and skipped ones.
    public var slots: Int
    /// When it became so; the length of an outage is measured between these.
    public var at: Moment
    /// How much a failure disturbs, where the job or its bot sets that; absent: `critical`.
    ///
    /// Nothing else of the job disturbs more than this.
    public var urgency: Urgency?

    /// A fact of a job without an urgency of its own.
    public init(
        run: Int?, state: RunState, reason: RunReason? = nil, exitCode: Int? = nil, signal: Int? = nil,
        progress: Double? = nil, phase: String? = nil, text: String? = nil, slots: Int = 1, at: Moment
    ) {
        self.run = run
        self.state = state
        self.reason = reason
        self.exitCode = exitCode
        self.signal = signal
        self.progress = progress
        self.phase = phase
        self.text = text
        self.slots = slots
        self.at = at
    }
}

/// When a job that failed runs next.
public struct NextTry: Hashable, Codable, Sendable {
    /// The moment.
    public var at: Moment
    /// How far the wall clock of the job is ahead of UTC then.
    public var offsetSeconds: Int

    /// A moment on the wall clock of a job.
    public init(at: Moment, offsetSeconds: Int) {
        self.at = at
        self.offsetSeconds = offsetSeconds
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// As it is said at `now`: `03:00` within a day, `Mon 03:00` within six, else `23 Nov 03:00`; with seconds where it
    /// has any.
    public func words(at now: Moment) -> String {
        let local = CivilTime(at, in: ZoneRules(name: "", offsetSeconds: offsetSeconds))
        var time = "\(Self.two(local.hour)):\(Self.two(local.minute))"
        if local.second > 0 { time += ":\(Self.two(local.second))" }
        switch at - now {
        case ..<Duration.seconds(86_400): return time
        case ..<Duration.seconds(6 * 86_400): return "\(Self.weekdays[local.date.weekday]) \(time)"
        default: return "\(local.date.day) \(Self.months[local.date.month - 1]) \(time)"
        }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// What can be reported of a job; the words of a route's `when` that are about runs.
public enum JobNews: String, Hashable, Codable, Sendable, CaseIterable {
    /// A run began.
    case started
    /// A run moved on.
    case progress
    /// A run waits for a person.
    case blocked
    /// A run did what it should.
    case completed
    /// A run failed or took too long.
    case failed
    /// The first success after a failure.
    case recovered
    /// A run was canceled.
    case canceled
    /// Slots passed while nobody could run them.
    case missed
    /// Slots were not run, by policy.
    case skipped
    /// The outcome of a run is unknown.
    case lost

    /// What a run in `state` is news of, its history left aside.
    public init(_ state: RunState) {
        switch state {
        case .scheduled, .queued, .starting: self = .started
        case .running, .paused, .stalled: self = .progress
        case .blocked: self = .blocked
        case .completed: self = .completed
        case .failed, .timedOut: self = .failed
        case .canceled: self = .canceled
        case .lost: self = .lost
        case .skipped: self = .skipped
        case .missed: self = .missed
        }
    }
}

/// What makes two failures of a job the same one for a person.
///
/// Two failures are the same when they ended in the same way with the same text, numbers aside: a
/// time, a line number, a process id or a hexadecimal id in the text makes no difference.
public struct FailureSignature: Hashable, Codable, Sendable {
    /// How the run ended.
    public var state: RunState
    /// Why.
    public var reason: RunReason?
    /// The exit code, after an exit.
    public var exitCode: Int?
    /// The signal, after a signal.
    public var signal: Int?
    /// Its text, each word with a digit in it written `#`.
    public var words: String

    /// The signature of a failure.
    public init(_ fact: JobFact) {
        state = fact.state
        reason = fact.reason
        exitCode = fact.exitCode
        signal = fact.signal
        words = Self.withoutNumbers(Preview.cut(fact.text ?? "", to: 200))
    }

    /// Words hold letters, digits, and what joins the parts of times, ids and addresses.
    private static func withoutNumbers(_ line: String) -> String {
        var result = ""
        var word = ""
        func end() {
            result += word.contains(where: \.isNumber) ? "#" : word
            word = ""
        }
        for character in line {
            if character.isLetter || character.isNumber || "-_.:+".contains(character) {
                word.append(character)
            } else {
                end()
                result.append(character)
            }
        }
        end()
        return result
    }
}

/// The failures of a job since it was last well.
struct Outage: Hashable, Codable, Sendable {
    /// When the first of them ended.
    let since: Moment
    /// All of them.
    private(set) var failures = 1
    /// Those in a row that were like the last one.
    private(set) var sameFailures = 1
    /// What the last one was like.
    private(set) var signature: FailureSignature

    /// The first failure.
    init(_ fact: JobFact) {
        since = fact.at
        signature = FailureSignature(fact)
    }

    /// Counts one more; returns whether it is like the one before.
    mutating func count(_ fact: JobFact) -> Bool {
        let next = FailureSignature(fact)
        let isSame = next == signature
        failures += 1
        sameFailures = isSame ? sameFailures + 1 : 1
        signature = next
        return isSame
    }

    /// How long it has lasted; never negative, also when the clock was set back meanwhile.
    func length(until moment: Moment) -> Duration {
        max(.zero, moment - since)
    }
}

/// Which runs of a job have begun and ended, as far back as late news may come from.
struct RecentRuns: Hashable, Codable, Sendable {
    /// The newest run that was seen at work; 0 before the first.
    private(set) var newest = 0
    /// The latest that ended, oldest first.
    private(set) var ended: [Int] = []

    /// Notes that `run` is in `state`; returns whether it is the first time that it is seen running.
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
