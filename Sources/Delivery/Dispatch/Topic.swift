package import Grouping

/// What a matter is about, as far as rules ask: whose it is, and how much it disturbs.
package struct Topic: Hashable, Codable, Sendable {
    /// The job's name; nil: it is about none.
    package var job: String?
    /// The bot that speaks, or owns the job.
    package var bot: String?
    /// The labels of the job.
    package var labels: [String: String]
    /// How much it disturbs.
    package var urgency: Urgency

    /// About nothing in particular, unless parts are named.
    package init(
        job: String? = nil, bot: String? = nil, labels: [String: String] = [:], urgency: Urgency = .normal
    ) {
        self.job = job
        self.bot = bot
        self.labels = labels
        self.urgency = urgency
    }

    /// That of an event, without the labels of its job.
    init(_ fact: Fact) {
        let columns = fact.columns
        let urgency: Urgency =
            switch fact {
            case .runFailed, .runLost, .ledgerFull, .expectLate: .critical
            case .runStarted, .runProgress: .low
            default: .normal
            }
        self.init(job: columns.job, bot: columns.bot, urgency: urgency)
    }

    /// That of a version of an item, without the labels of its job.
    init(_ version: ItemSnapshot) {
        self.init(job: Self.job(of: version), bot: version.bot, urgency: version.urgency)
    }

    /// The job that a version is about; what its runs say, and ask, is.
    ///
    /// Of a thread only where all that it shows was said by runs of one job.
    package static func job(of version: ItemSnapshot) -> String? {
        func job(of run: String?) -> String? { run?.split(separator: "#").first.map(String.init) }
        switch version.content {
        case .job(let report): return report.job
        case .question(let question): return job(of: question.run)
        case .messages(_, let last):
            let jobs = Set(last.map { job(of: $0.run) })
            return jobs.count == 1 ? jobs.first ?? nil : nil
        case .storm: return nil
        }
    }
}
