import Ledger
import Timeline

/// What Belfry passes to a job through its environment.
///
/// The warden adds `NOTIFY_SOCKET` and `PROGRESS_FD`.
struct RunEnvironment {
    let run: RunRecord
    let spec: JobSpec
    /// The control socket's path.
    let socket: String

    /// The names and values: the job's own, and Belfry's, which they can't hide.
    var values: [String: String] {
        var values = spec.environment
        values["BELFRY_RUN"] = run.name
        values["BELFRY_RUN_ID"] = run.id
        values["BELFRY_JOB"] = run.job
        values["BELFRY_SLOT"] = run.slot?.iso8601
        values["BELFRY_ATTEMPT"] = String(run.attempt)
        values["BELFRY_SOCKET"] = socket
        return values
    }
}
