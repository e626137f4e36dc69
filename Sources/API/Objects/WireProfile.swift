package import Tracking

/// Where the time of a job goes: its last completed run beside those before it.
package struct WireProfile: Hashable, Sendable, Codable {
    /// A phase; of runs that name none, a tenth of the progress.
    package struct Part: Hashable, Sendable, Codable {
        /// The phase's name, or `30 to 40 %`.
        package var name: String
        /// How long it took in the middle of the runs before, in milliseconds.
        package var usualMs: Int64
        /// How long it took in the last one, in milliseconds.
        package var lastMs: Int64
    }

    /// The job.
    package var job: String
    /// How many completed runs are known, at most 21.
    package var runs: Int
    /// How long a run took in the middle of the runs before the last, in milliseconds; absent for fewer than four runs.
    package var usualMs: Int64?
    /// How long the last run took, in milliseconds; absent for fewer than four runs.
    package var lastMs: Int64?
    /// The parts in order; empty where runs report neither phases nor progress.
    package var parts: [Part]
    /// The part that got slow; absent where none did.
    package var slow: String?

    /// The profile of a job with these completed runs, the oldest first.
    package init(job: String, _ history: [RunProfile]) {
        (self.job, runs, parts) = (job, history.count, [])
        guard let comparison = ProfileComparison(history) else { return }
        func milliseconds(_ seconds: Double) -> Int64 { Int64((min(seconds, 1e10) * 1000).rounded()) }
        (usualMs, lastMs) = (milliseconds(comparison.usual), milliseconds(comparison.last))
        parts = comparison.parts.map {
            Part(name: $0.name, usualMs: milliseconds($0.usual), lastMs: milliseconds($0.last))
        }
        slow = comparison.slow?.name
    }
}
