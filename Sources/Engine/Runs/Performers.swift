package import Ledger
import Logging
import Performing
import Timeline
import Tracking

/// A kind of performer, by name.
package struct PerformerKind: Hashable, Sendable {
    package let name: String

    package init(_ name: String) {
        self.name = name
    }

    /// The warden, which runs processes that outlive the daemon.
    package static let warden = PerformerKind("warden")

    /// Asks bots, within the daemon.
    package static let bots = PerformerKind("bots")

    /// Asks agents behind gateways, whose runs outlive the daemon.
    package static let gateways = PerformerKind("gateways")

    /// Calls web addresses, within the daemon.
    package static let urls = PerformerKind("urls")
}

extension JobSpec {
    /// Who performs the job's attempts: decided by what the job does.
    package var performer: PerformerKind {
        switch action {
        case .command, .shell: .warden
        case .prompt: .bots
        case .url: .urls
        }
    }
}

/// What the keeper of runs requests from a performer.
enum PerformerRequest: Hashable, Sendable {
    case start(AttemptOrder)
    case cancel(RunKey, reason: String)
    case ask(RunKey)
    case pause(RunKey)
    case resume(RunKey)
    case acknowledge(RunKey)
    case acknowledgeReports(RunKey, through: Int)
}

/// The performers of a daemon by kind, each with its connection.
struct Performers {
    private let byKind: [PerformerKind: PerformerLink]
    private let choose: @Sendable (JobSpec) -> PerformerKind

    init(
        _ performers: [PerformerKind: any Performer], choose: @escaping @Sendable (JobSpec) -> PerformerKind,
        clock: any WallClock, logger: Logger
    ) {
        byKind = performers.reduce(into: [:]) { links, entry in
            links[entry.key] = PerformerLink(entry.value, kind: entry.key, clock: clock, logger: logger)
        }
        self.choose = choose
    }

    /// All of them, in no order.
    var all: some Collection<PerformerLink> { byKind.values }

    /// The one that runs processes.
    var warden: PerformerLink { self[.warden] }

    subscript(kind: PerformerKind) -> PerformerLink {
        guard let link = byKind[kind] else { preconditionFailure("no performer of the kind \(kind.name)") }
        return link
    }

    /// Who performs what this spec describes; the warden where the spec is not known.
    func kind(of spec: JobSpec?) -> PerformerKind { spec.map(choose) ?? .warden }

    /// Who performs an attempt that an earlier daemon ordered: who knows of it, else as ``kind(of:)``.
    func kind(adopting key: RunKey, of spec: JobSpec?) -> PerformerKind {
        byKind.first { $0.value.performer.holds(key) }?.key ?? kind(of: spec)
    }

    /// When, since boot, there is something to do for one of them though nothing happens.
    var nextCheck: Duration? { all.compactMap(\.nextCheck).min() }
}

/// One performer as the keeper of runs has it: whether it is connected and answers, and what it reported of runs in
/// nobody's hand.
///
/// Used by its keeper alone.
final class PerformerLink {
    let kind: PerformerKind
    let performer: any Performer
    var strays = StrayAttempts()
    private let clock: any WallClock
    private let logger: Logger
    private(set) var isConnected = false
    /// Its process; nil: it is not connected, or has none.
    private(set) var process: Int32?
    /// Why it can't be reached, once that is known.
    private(set) var fault: String?
    private var failures = 0
    private var connectAt: Duration = .zero
    private var answers = AnswerWatch()
    private var isSilenceLogged = false

    init(_ performer: any Performer, kind: PerformerKind, clock: any WallClock, logger: Logger) {
        self.performer = performer
        self.kind = kind
        self.clock = clock
        self.logger = logger
    }

    /// Whether it is connected and owes an answer for too long.
    var isSilent: Bool { answers.isOverdue(at: clock.sinceBoot) }

    /// Whether runs may be ordered from it.
    var isReady: Bool { isConnected && !isSilent }

    /// Whether the last attempt to connect failed.
    var isUnreachable: Bool { !isConnected && failures > 0 }

    /// When, since boot, to try to connect again, or to stop waiting for an answer; nil: neither is due.
    var nextCheck: Duration? {
        guard isConnected else { return connectAt }
        return isSilent ? nil : answers.deadline
    }

    /// Connects, when it is not connected and another try is due; calls `forgetConnection` before the try.
    func connect(_ forgetConnection: () -> Void) async {
        guard !isConnected, clock.sinceBoot >= connectAt else { return }
        forgetConnection()
        strays.forgetConnection()
        do {
            process = try await performer.connect()
            isConnected = true
            fault = nil
            failures = 0
        } catch {
            guard !Task.isCancelled else { return }
            failures += 1
            fault = "\(error)"
            connectAt = clock.sinceBoot + .seconds(min(failures, 10))
            if failures == 1 {
                logger.error("no \(kind.name) answers; runs wait", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// It closed the connection.
    func disconnected() {
        isConnected = false
        process = nil
        connectAt = clock.sinceBoot
    }

    /// Notes whether it owes an answer and whether it `hasSpoken` since the last turn; logs once when it is silent for
    /// too long, and once when it no longer is.
    ///
    /// Nobody else is started in its place: it may resume, and then there would be two.
    func noteAnswers(isOwed: Bool, hasSpoken: Bool = false) {
        answers.note(isOwed: isConnected && isOwed, hasSpoken: hasSpoken, at: clock.sinceBoot)
        guard isSilent != isSilenceLogged else { return }
        isSilenceLogged = isSilent
        let process = Logger.Metadata.Value("\(process ?? 0)")
        if isSilenceLogged {
            logger.error(
                "the \(kind.name) does not answer; runs wait", metadata: ["\(kind.name).pid": process])
        } else {
            logger.notice("the \(kind.name) answers again", metadata: ["\(kind.name).pid": process])
        }
    }

    func send(_ request: PerformerRequest) {
        switch request {
        case .start(let order): performer.start(order)
        case .cancel(let key, let reason): performer.cancel(key, reason: reason)
        case .ask(let key): performer.ask(key)
        case .pause(let key): performer.pause(key)
        case .resume(let key): performer.resume(key)
        case .acknowledge(let key): performer.acknowledge(key)
        case .acknowledgeReports(let key, let number): performer.acknowledgeReports(key, through: number)
        }
    }

    /// Releases the run's attempts that its row shows to be over; `row` is nil when there is none.
    func release(_ run: String, _ row: RunRecord?) {
        for answer in strays.release(run, row) { send(answer) }
    }
}

/// Whether a performer that owes an answer still gives any.
///
/// Nothing is asked only to get an answer: an order is answered at once, also by the oldest of wardens.
struct AnswerWatch {
    /// How long after the last event the next one may come.
    static let silenceLimit: Duration = .seconds(10)

    private var since: Duration?

    /// Notes, at a time since boot, whether an answer is owed, and whether any event came since the last note.
    mutating func note(isOwed: Bool, hasSpoken: Bool, at now: Duration) {
        if !isOwed { since = nil } else if hasSpoken || since == nil { since = now }
    }

    /// When, since boot, the wait ends; nil: nothing is unrecorded.
    var deadline: Duration? { since.map { $0 + Self.silenceLimit } }

    /// Whether the wait has ended.
    func isOverdue(at now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }
}

/// Attempts that a performer reported and that were in nobody's hand, with what to answer once their rows are known.
///
/// A keeper may lose a run that is still under way, to a commit of the daemon before it, and take it up again: only
/// the row says whether an attempt has ended. A record that is released too early is an attempt executed twice.
struct StrayAttempts {
    private var answers: [String: [Int: PerformerRequest]] = [:]

    /// Keeps the answer that releases the attempt.
    mutating func note(_ key: RunKey, _ answer: PerformerRequest) {
        answers[key.run, default: [:]][key.attempt] = answer
    }

    /// Somebody has taken the attempt up.
    mutating func forget(_ key: RunKey) {
        guard answers[key.run]?.removeValue(forKey: key.attempt) != nil else { return }
        if answers[key.run]?.isEmpty == true { answers[key.run] = nil }
    }

    /// A new connection: the performer reports all of it again.
    mutating func forgetConnection() { answers = [:] }

    /// The answers that may be given now that the run's row was read; `row` is nil when there is none.
    ///
    /// The attempt that the row is at, and any after it, is kept while the run has not ended.
    mutating func release(_ run: String, _ row: RunRecord?) -> [PerformerRequest] {
        guard let waiting = answers.removeValue(forKey: run) else { return [] }
        let isUnderWay = row.map { !$0.state.isEnded && !$0.isParked } ?? false
        let kept = isUnderWay ? waiting.filter { $0.key >= row?.attempt ?? 0 } : [:]
        if !kept.isEmpty { answers[run] = kept }
        return waiting.filter { kept[$0.key] == nil }.sorted { $0.key < $1.key }.map(\.value)
    }
}
