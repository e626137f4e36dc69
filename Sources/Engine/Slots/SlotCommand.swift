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

/// What became of a request.
package enum RequestOutcome: Sendable {
    /// A new run, queued.
    case queued(RunRecord)
    /// The run that this cause made before.
    case known(RunRecord)
    /// Refused by the overlap policy: these runs have not ended.
    case busy([String])
    case noSuchJob
}
