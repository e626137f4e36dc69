/// How long history is kept.
package struct Retention: Hashable, Sendable {
    /// What ended longer ago is removed.
    package var age: Duration
    /// More ended runs of one job than this are not kept.
    package var runs: Int
    /// The last failures of a job that stay in any case.
    package var failures: Int
    /// The last completed runs of a job that stay in any case: the finish time is read from them.
    package var completions: Int

    /// Design's: 90 days or 1,000 runs a job, the last 10 failures always; and 20 successes.
    package init(
        age: Duration = .seconds(90 * 86_400), runs: Int = 1000, failures: Int = 10, completions: Int = 20
    ) {
        self.age = age
        self.runs = runs
        self.failures = failures
        self.completions = completions
    }
}

/// A run that is past its time, and the attempts whose output goes with it.
package struct ExpiredRun: Hashable, Sendable {
    package var id: String
    package var attempts: Int

    package init(id: String, attempts: Int) {
        self.id = id
        self.attempts = attempts
    }
}
