import Ledger

/// The specs that runs are started by, read once each while they are in use.
///
/// A revision never changes, so that what is here is never out of date.
struct SpecShelf {
    /// How many are kept: enough for the jobs that run often.
    private static let size = 2048

    private struct Key: Hashable {
        var job: String
        var revision: Int
    }

    private var specs: [Key: JobSpec] = [:]

    /// What the run executes, if that is known without a look at the ledger.
    func spec(of run: RunRecord) -> JobSpec? {
        run.spec ?? specs[Key(job: run.job, revision: run.revision)]
    }

    /// Keeps what a run executes for the next of its revision.
    mutating func keep(_ spec: JobSpec, of run: RunRecord) {
        if specs.count >= Self.size { specs = [:] }
        specs[Key(job: run.job, revision: run.revision)] = spec
    }
}
