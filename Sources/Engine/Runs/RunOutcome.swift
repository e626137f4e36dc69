import Cron
package import Delivery
import Grouping
package import Ledger
package import Performing
package import Timeline
package import Tracking

/// How a run ended: state and reason.
package struct RunOutcome: Hashable, Sendable {
    package var state: RunState
    package var reason: RunReason?

    package init(_ state: RunState, _ reason: RunReason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// The outcome of an attempt's record.
    package init(_ record: ExitRecord) {
        switch record.cause {
        case .timeout: self.init(.timedOut, .timeout)
        case .canceled: self.init(.canceled, .canceled)
        case .lost: self.init(.lost, .wardenLost)
        case .exited where record.fault != nil: self.init(.failed, record.fault?.reason)
        case .exited where record.signal != nil: self.init(.failed, .signal)
        case .exited where record.exitCode == 0: self.init(.completed)
        case .exited: self.init(.failed, .exitCode)
        }
    }

    /// The fact of this end.
    ///
    /// A run that timed out has failed, with the reason `timeout`.
    package func fact(
        of run: Fact.Run, message: String? = nil, circumstances: Fact.End.Circumstances = .init()
    ) -> Fact {
        let end = Fact.End(run, reason: reason, message: message, circumstances: circumstances)
        return switch state {
        case .completed: .runCompleted(end)
        case .canceled: .runCanceled(end)
        case .lost: .runLost(end)
        default: .runFailed(end)
        }
    }
}

extension ExitRecord {
    /// The survivors as the ledger keeps them; nil: none.
    package var leftProcesses: [LeftProcess]? {
        survivors.isEmpty ? nil : survivors.map { LeftProcess(pid: $0.pid, name: $0.name) }
    }
}

/// Whether a run that did not do what it should is tried again, and when.
///
/// Pure: the same failure of the same run always waits equally long.
struct RetryChance {
    /// What the run executes.
    var spec: JobSpec
    /// The job's next slot: no attempt begins at or after it; nil: none is to come.
    var nextSlot: Moment?

    /// No wait is longer.
    static let longestWait: Duration = .seconds(3600)

    /// When the attempt after this `outcome` may begin; nil: there is none.
    ///
    /// A performer that names its `fault` knows better whether it may pass, and when. A reply that was cut off before its
    /// bot said anything waits as one whose bot can't be reached. `waited` is how long ago the run was queued, where that
    /// is not the time by the clock on the wall.
    func moment(
        after outcome: RunOutcome, of run: RunRecord, exitCode: Int?, fault: AttemptFault? = nil,
        isCutBeforeOutput: Bool = false, at now: Moment, waited: Duration? = nil
    ) -> Moment? {
        guard run.endAsked == nil, fault?.mayPass ?? mayPass(outcome, exitCode) else { return nil }
        let isAway = ReplyRun.isAway(run, fault, isCutBeforeOutput: isCutBeforeOutput)
        let hasExpired = ReplyRun.hasExpired(
            run, fault, isCutBeforeOutput: isCutBeforeOutput, waited: waited ?? now - run.queuedAt)
        guard isAway ? !hasExpired : run.attempt < spec.attempts else { return nil }
        let asked = min(fault?.wait ?? .zero, Self.longestWait)
        return isInTime(now + max(asked, Self.wait(after: run.attempt, of: run.id, spec)))
    }

    /// The moment, if the next slot does not come first.
    func isInTime(_ moment: Moment) -> Moment? {
        if let nextSlot, moment >= nextSlot { return nil }
        return moment
    }

    /// Whether the same may end otherwise if it is done again.
    private func mayPass(_ outcome: RunOutcome, _ exitCode: Int?) -> Bool {
        switch outcome.state {
        case .timedOut: return true
        case .lost: return spec.retriesLost
        case .failed: break
        default: return false
        }
        switch outcome.reason {
        case .notFound, .notExecutable, .badDirectory, .badUser: return false
        case .exitCode:
            guard case .shell = spec.action else { return true }
            // sh(1): a command of the text was found and can't be executed, or was not found.
            return exitCode != 126 && exitCode != 127
        default: return true
        }
    }

    /// The most that the attempt after this one of `spec` waits: a stored moment beyond that was written by a
    /// clock that was set since.
    static func longestWait(after attempt: Int, of spec: JobSpec?) -> Duration {
        guard let spec else { return longestWait }
        return max(whole(after: attempt, of: spec), RunDecider.patience)
    }

    /// The job's wait, doubled with each attempt.
    private static func whole(after attempt: Int, of spec: JobSpec) -> Duration {
        let longestWait = spec.thread == nil ? longestWait : ReplyRun.longestWait
        var whole = min(spec.backoff, longestWait)
        for _ in 1..<max(1, attempt) where whole < longestWait { whole = min(whole * 2, longestWait) }
        return whole
    }

    /// Of the whole wait between one and two halves by the run's own id, so that what failed together does not come
    /// back together.
    static func wait(after attempt: Int, of run: String, _ spec: JobSpec) -> Duration {
        let whole = whole(after: attempt, of: spec)
        // A person waits: one bot's replies never come back together.
        if spec.thread != nil { return whole }
        return whole / 2 + whole / 2 * share(run, attempt)
    }

    /// A number from 0 to 1 that looks random: FNV-1a, stirred as SplitMix64 does it.
    private static func share(_ run: String, _ attempt: Int) -> Double {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in run.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = hash &+ UInt64(attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((hash ^ (hash >> 31)) >> 11) / Double(1 << 53)
    }
}

/// What is known of a run's job when one of its attempts has ended.
struct Outlook {
    /// What the run executes; nil: no such revision is stored.
    var spec: JobSpec?
    /// Whether and until when the run may be tried again; nil: it is not.
    var chance: RetryChance?
    /// The job's next slot; nil: none is to come.
    var next: NextTry?
    /// What must not be shown of what the run printed; nil: none of it may be.
    var hidden: HiddenTexts? = HiddenTexts()
    /// The beginning of what a completed run printed, where all of it becomes a message.
    var output: [UInt8] = []

    /// Whether the run asks its bot for a reply.
    var isPrompt: Bool {
        switch spec?.action {
        case .prompt: true
        case .command, .shell, .url, nil: false
        }
    }
}

/// Reads what the file at a path holds, without the white space around it; its error is a sentence without the content.
package typealias SecretReader = @Sendable (_ path: String) throws -> String

/// How the keeper of runs reads files.
package struct RunFiles: Sendable {
    let readSecret: SecretReader
    /// When the file at a path was changed or put there last.
    let changeTime: @Sendable (_ path: String) throws -> Moment
    let readOutput: @Sendable (_ path: String, _ most: Int) throws -> [UInt8]

    /// `readOutput` returns the beginning of what an attempt printed, at most so many bytes.
    package init(
        readSecret: @escaping SecretReader,
        changeTime: @escaping @Sendable (_ path: String) throws -> Moment,
        readOutput: @escaping @Sendable (_ path: String, _ most: Int) throws -> [UInt8]
    ) {
        self.readSecret = readSecret
        self.changeTime = changeTime
        self.readOutput = readOutput
    }
}

/// The part of a run's environment that comes from files: kept in memory alone, until the run has ended.
struct RunSecrets {
    /// A file that can't be read.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// How long before a run's start its files must have been left alone for their content to be what it was given.
    static let leastAge = Duration.seconds(60)

    /// The values by the names of their variables.
    let values: [String: String]
    /// The same, to be hidden in what the run prints and reports.
    let hidden: HiddenTexts

    /// What these files hold, by the names of the variables.
    init(_ files: [String: String], read: SecretReader) throws(Unreadable) {
        var values: [String: String] = [:]
        for (name, path) in files.sorted(by: { $0.key < $1.key }) {
            do {
                values[name] = try read(path)
            } catch {
                throw Unreadable(description: "\(name) can't be read from \(path): \(error)")
            }
        }
        self.values = values
        hidden = HiddenTexts(values.values)
    }
}

/// What runs execute and when their jobs are due next, read from the ledger; a spec is read once while it is in use.
///
/// A revision never changes, so that a spec that is kept is never out of date. Used by its keeper alone.
final class RunSpecs {
    /// How many are kept: enough for the jobs that run often.
    private static let size = 2048

    private struct Key: Hashable {
        var job: String
        var revision: Int
    }

    private let ledger: any Ledger
    private let clock: any WallClock
    private let zones: ZoneLookup
    /// What is read from the disk for runs.
    let files: RunFiles
    private var kept: [Key: JobSpec] = [:]

    init(
        ledger: any Ledger, clock: any WallClock, zones: @escaping ZoneLookup,
        files: RunFiles
    ) {
        self.files = files
        self.ledger = ledger
        self.clock = clock
        self.zones = zones
    }

    /// What the run executes; nil when no such revision was ever stored.
    func spec(of run: RunRecord) async throws(LedgerError) -> JobSpec? {
        let key = Key(job: run.job, revision: run.revision)
        if let spec = run.spec ?? kept[key] { return spec }
        let spec = try await ledger.spec(of: run.job, revision: run.revision)
        if let spec {
            if kept.count >= Self.size { kept = [:] }
            kept[key] = spec
        }
        return spec
    }

    /// What the files of the spec hold now; none without a spec.
    func secrets(of spec: JobSpec?) throws(RunSecrets.Unreadable) -> RunSecrets {
        try RunSecrets(spec?.filesToRead ?? [:], read: files.readSecret)
    }

    /// What a run that began at `start` was given from the files of its spec; nil: they may have changed since.
    func secrets(of spec: JobSpec?, givenAt start: Moment?) -> RunSecrets? {
        guard let spec else { return nil }
        for path in spec.filesToRead.values {
            // They are read shortly before the attempt begins.
            guard let start, let changed = try? files.changeTime(path),
                changed < start - RunSecrets.leastAge
            else { return nil }
        }
        return try? secrets(of: spec)
    }

    /// What is known of the run's job, its secrets left aside.
    func outlook(of run: RunRecord) async throws(LedgerError) -> Outlook {
        guard let spec = try await spec(of: run) else { return Outlook() }
        var outlook = Outlook(spec: spec)
        if spec.thread != nil { outlook.chance = RetryChance(spec: spec, nextSlot: nil) }
        guard run.kind != .exec, run.kind != .reply, let job = try await ledger.job(named: run.job) else {
            return outlook
        }
        // The slots of a paused job do not run: none of them is a reason to give up.
        if job.pause == nil,
            let (schedule, rules) = try? job.spec.schedule.read(seed: job.name, zones: zones),
            let next = schedule.nextSlot(after: clock.now, in: rules)
        {
            outlook.next = NextTry(at: next, offsetSeconds: rules.first.offsetSeconds(at: next))
        }
        if spec.attempts > 1 { outlook.chance = RetryChance(spec: spec, nextSlot: outlook.next?.at) }
        return outlook
    }
}
