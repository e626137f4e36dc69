/// What a job's item shows: where its newest run is, and how it stands with its failures.
public struct JobReport: Hashable, Codable, Sendable {
    /// The job's name.
    public var job: String
    /// What this version reports.
    public var news: JobNews
    /// Where the run is, or what became of the slots.
    public var fact: JobFact
    /// How often in a row it failed in this same way; 0 when it is well.
    public var sameFailures: Int
    /// How often in a row it failed in any way, before a recovery too; 0 when it was well.
    public var failures: Int
    /// How long it was down, from the end of the first failure to the success; only in a recovery.
    public var outage: Duration?

    /// A report.
    public init(
        job: String, news: JobNews, fact: JobFact, sameFailures: Int = 0, failures: Int = 0,
        outage: Duration? = nil
    ) {
        self.job = job
        self.news = news
        self.fact = fact
        self.sameFailures = sameFailures
        self.failures = failures
        self.outage = outage
    }

    /// The run as `JOB#N`; absent for slots that never got a run.
    public var runName: String? { fact.run.map { "\(job)#\($0)" } }
}
