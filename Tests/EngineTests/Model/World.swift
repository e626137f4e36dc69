import Delivery
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

// A state machine: one slot, one daemon at a time, one warden, and every way their steps can mix.

/// All there is: what is on the disk, who is up and what they know, and what is on the way between them.
///
/// The deciders are the real ones. The daemon here does what the keepers do with their steps, one at a time, so that it
/// can be killed between any two; the warden is what its protocol promises.
struct World: Hashable {
    // MARK: The disk

    /// The slot's run; nil: it is not decided.
    var run: RunRecord?
    var attempts: [Int: RunState] = [:]
    /// The events of the run, in order.
    var reported: [EventType] = []

    // MARK: The daemon

    var daemon: Daemon? = Daemon()
    /// A commit of a daemon that was killed; it may still arrive.
    var late: Decision?

    // MARK: On the way

    var commands: [Command] = []
    var messages: [PerformerEvent.Brief] = []

    // MARK: The warden

    var warden: Warden? = Warden()
    /// The exclusive record of each attempt, in the runtime folder.
    var records: [Int: Record] = [:]

    // MARK: The job

    /// The attempts whose first process lives.
    var alive: Set<Int> = []
    /// Those of them that an earlier warden started: how they end nobody sees.
    var orphans: Set<Int> = []
    /// The attempts of which a process was left behind that still lives.
    var left: Set<Int> = []
    /// How often each attempt's command was executed.
    var executed: [Int: Int] = [:]

    // MARK: What may still go wrong

    var daemonCrashes: Int
    var wardenCrashes: Int
    /// Whether the job leaves a process behind.
    var leaves: Bool
    /// Whether a person wants it ended, at some moment.
    var cancels: Bool
    let rules: Rules

    struct Rules: Hashable {
        var attempts = 1
        var retriesLost = false
        /// Whether what is left behind runs on until somebody ends it.
        var stays = false
        var leftovers = LeftoverPolicy.standard
        /// How the job's process ends.
        var exitCode = 0
    }

    struct Daemon: Hashable {
        var hasTakenUp = false
        var isConnected = false
        var hand: Hand?
        /// What may be said to let go of the attempts that the warden spoke of and that are in nobody's hand.
        var strays: [Int: Command] = [:]
        /// Decided and not yet committed; then committed, with the effects still to come.
        var decision: Decision?
        /// How often an attempt was refused because of what is left of the one before: a wait lies between each two.
        var refusals = 0
        var effects: [RunStep.Effect] = []
    }

    struct Hand: Hashable {
        var record: RunRecord
        var isOrdered: Bool
        var isKnown: Bool
        var isAsked = false
    }

    struct Decision: Hashable {
        var fact: Fact
        var run: RunRecord
    }

    enum Fact: Hashable {
        case adopt, claim, withdraw, vanished
        case started(attempt: Int)
        case refused(Refusal, waited: Duration)
        case ended(ExitRecord)
    }

    enum Command: Hashable {
        /// `endsLeft`: what earlier attempts left running is ended first.
        case start(attempt: Int, endsLeft: Bool = false)
        case cancel(attempt: Int), query(attempt: Int), acknowledge(attempt: Int)
    }

    struct Warden: Hashable {
        /// The attempt whose record was made and whose process is about to be started.
        var starting: Int?
        /// Whether it is ending what was left behind.
        var isEnding = false
        /// Whether a daemon is connected.
        var hasDaemon = false
    }

    enum Record: Hashable {
        case made, started
        case ended(ExitRecord)
    }
}

extension PerformerEvent {
    /// What the warden says, as far as the model goes.
    enum Brief: Hashable {
        case started(attempt: Int), refused(attempt: Int, Refusal), ended(ExitRecord), unknown(attempt: Int)
        case caughtUp, disconnected
    }
}

extension World {
    static let slot = at("10:00:00")
    static let now = at("10:00:01")

    init(_ rules: Rules, daemonCrashes: Int, wardenCrashes: Int, leaves: Bool = false, cancels: Bool = false)
    {
        self.rules = rules
        self.daemonCrashes = daemonCrashes
        self.wardenCrashes = wardenCrashes
        self.leaves = leaves
        self.cancels = cancels
    }

    var spec: JobSpec {
        JobSpec.cron("job", "0 0 10 * * *").with {
            $0.action = .command(["work"])
            $0.attempts = rules.attempts
            $0.retriesLost = rules.retriesLost
            $0.leftovers = rules.leftovers
        }
    }

    var decider: RunDecider { RunDecider(boot: "this boot") }
    var chance: RetryChance? { rules.attempts > 1 ? RetryChance(spec: spec, nextSlot: nil) : nil }

    func outcome(_ attempt: Int, _ cause: ExitRecord.Cause, code: Int? = nil) -> ExitRecord {
        ExitRecord(
            key: RunKey(run: "r", attempt: attempt), cause: cause, exitCode: code, pid: 7,
            startedAt: Self.now,
            endedAt: Self.now)
    }

    /// Makes a run's step true on the disk, or refuses it, as the ledger does.
    mutating func commit(_ step: RunStep) -> Bool {
        guard var run else { return false }
        for case .moveRun(let move) in step.changes {
            guard move.from.contains(run.state), !run.state.isEnded, move.attempt == run.attempt,
                move.token == run.token, move.to != .starting || run.endAsked == nil
            else { return false }
            run.apply(move)
        }
        self.run = run
        for change in step.changes {
            switch change {
            case .append(let event): reported.append(event.type)
            case .putAttempt(let attempt): attempts[attempt.n] = attempt.state
            default: break
            }
        }
        return true
    }
}

/// A world in one line, so that the way to a fault can be read.
extension World: CustomStringConvertible {
    var description: String {
        var row = run.map { "\($0.state) \($0.attempt)/\($0.token)" } ?? "no row"
        if let late { row += ", late: \(words(of: late.fact))" }
        let warden = warden.map { $0.starting.map { "starts \($0)" } ?? "up" } ?? "gone"
        let kept = records.sorted { $0.key < $1.key }.map { "\($0.key) \(words(of: $0.value))" }
        let executed = executed.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return [
            row,
            "daemon: \(daemon.map { words(of: $0) } ?? "gone")",
            "commands: \(commands)",
            "messages: \(messages.map { words(of: $0) })",
            "warden: \(warden), records: \(kept)",
            "alive: \(alive.sorted()), left: \(left.sorted()), executed: \(executed)",
        ].joined(separator: " | ")
    }

    private func words(of daemon: Daemon) -> String {
        var words = [daemon.isConnected ? "connected" : "alone"]
        if let hand = daemon.hand {
            words.append("holds \(hand.record.state) \(hand.record.attempt)/\(hand.record.token)")
            if hand.isOrdered { words.append("ordered") }
            if hand.isKnown { words.append("known") }
            if hand.isAsked { words.append("asked") }
        }
        if let decision = daemon.decision { words.append("commits \(self.words(of: decision.fact))") }
        if !daemon.effects.isEmpty { words.append("owes \(daemon.effects.count)") }
        if !daemon.strays.isEmpty { words.append("strays \(daemon.strays.keys.sorted())") }
        return words.joined(separator: " ")
    }

    private func words(of fact: Fact) -> String {
        if case .ended(let record) = fact { return "ended \(record.key.attempt) \(record.cause)" }
        return "\(fact)"
    }

    private func words(of message: PerformerEvent.Brief) -> String {
        if case .ended(let record) = message { return "ended \(record.key.attempt) \(record.cause)" }
        return "\(message)"
    }

    private func words(of record: Record) -> String {
        if case .ended(let record) = record { return "ended \(record.cause)" }
        return "\(record)"
    }
}
