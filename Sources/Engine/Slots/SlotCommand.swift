package import Ledger
import Timeline

/// A change of a job, asked of the slot keeper.
package enum JobEdit: Hashable, Sendable {
    /// Makes a job; refused when there is one of that name.
    case add(JobSpec, origin: JobOrigin, place: String? = nil)
    /// Makes the spec the job's newest revision; refused when it is not at `revision` any more.
    case revise(JobSpec, of: Int)
    /// Makes the spec the job's newest revision, or the job itself.
    case put(JobSpec, origin: JobOrigin, place: String?)
    case remove(String)
    case pause(String, note: String?)
    case resume(String)

    package var job: String {
        switch self {
        case .add(let spec, _, _), .revise(let spec, _), .put(let spec, _, _): spec.name
        case .remove(let name), .pause(let name, _), .resume(let name): name
        }
    }
}

/// A run asked for by a person or a program, not by the clock.
package struct RunRequest: Hashable, Sendable {
    package var job: String
    package var kind: RunKind
    /// See ``RunCause``; the same cause never makes a second run.
    package var cause: String
    /// Runs although another run of the job has not ended.
    package var force: Bool
    /// The run it repeats.
    package var retryOf: String?
    /// What to do, for a run that belongs to no stored job.
    package var spec: JobSpec?

    package init(
        job: String, kind: RunKind, cause: String, force: Bool = false, retryOf: String? = nil,
        spec: JobSpec? = nil
    ) {
        self.job = job
        self.kind = kind
        self.cause = cause
        self.force = force
        self.retryOf = retryOf
        self.spec = spec
    }
}

/// The outcome of a request.
package enum RequestOutcome: Sendable {
    /// A new run, queued.
    case queued(RunRecord)
    /// The run that this cause made before.
    case known(RunRecord)
    /// Refused by the overlap policy: these runs have not ended.
    case busy([String])
    case noSuchJob
}

/// What others ask of the keeper of slots, with who waits for the answer.
enum SlotCommand {
    typealias Caller<Answer: Sendable> = CheckedContinuation<Result<Answer, EngineError>, Never>

    case change([JobEdit], events: [NewEvent], Caller<[JobRecord]>)
    case request(RunRequest, Caller<RequestOutcome>)
    case takeUp([JobEdit], Caller<[JobRecord]>)
    case boot(String, Caller<Void>)

    /// The keeper stops: it is not done.
    fileprivate func refuse() {
        switch self {
        case .change(_, _, let caller), .takeUp(_, let caller): caller.resume(returning: .failure(.stopping))
        case .request(_, let caller): caller.resume(returning: .failure(.stopping))
        case .boot(_, let caller): caller.resume(returning: .failure(.stopping))
        }
    }
}

/// The commands that wait for the keeper of slots, in order.
struct SlotCommands {
    private var waiting: [SlotCommand] = []
    /// Whether the keeper has stopped: whoever asks is refused.
    private(set) var isStopped = false

    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ command: SlotCommand) { waiting.append(command) }

    mutating func takeAll() -> [SlotCommand] {
        defer { waiting = [] }
        return waiting
    }

    /// Takes the first command to take up the jobs of the files, before all others; nil: there is none.
    mutating func removeTakeUp() -> (edits: [JobEdit], caller: SlotCommand.Caller<[JobRecord]>)? {
        let place = waiting.firstIndex { if case .takeUp = $0 { true } else { false } }
        guard let place, case .takeUp(let edits, let caller) = waiting.remove(at: place) else { return nil }
        return (edits, caller)
    }

    /// The keeper stops: refuses what waits and what comes.
    mutating func refuse() {
        isStopped = true
        for command in takeAll() { command.refuse() }
    }
}
