import Delivery
import Grouping
package import Ledger
package import Timeline
import Tracking

/// What two sets of rules make of what has happened.
package struct ReplayReport: Sendable {
    /// How many things came to each end on one channel.
    package typealias Counts = [ReplayOutcome.Action: Int]

    /// A thing that the rules treat differently on one channel.
    package struct Difference: Hashable, Sendable {
        package var event: Int64
        package var at: Moment
        package var type: String
        /// What it is about: a run, a job, a bot or a channel.
        package var about: String
        package var channel: String
        /// nil: the channel would not have been concerned.
        package var before: ReplayOutcome?
        package var after: ReplayOutcome?
    }

    /// How many events were looked at.
    package var events = 0
    /// By the channel's name.
    package var before: [String: Counts] = [:]
    package var after: [String: Counts] = [:]
    /// In the order of the events.
    package var differences: [Difference] = []
}

/// Dispatches what has happened once more, under two sets of rules, from the facts that the ledger keeps.
///
/// Reads only. What happened before `since` is looked at as well, for how often jobs had failed by then.
package struct Replay {
    private static let batch = 500

    private let ledger: any Ledger
    private let since: Moment
    private var (before, after): (ReplaySide, ReplaySide)
    /// How often each job has failed in a row: that is no matter of rules.
    private var jobs: [String: JobItem] = [:]
    private var report = ReplayReport()

    package init(of ledger: any Ledger, since: Moment, before: ReplayRules, after: ReplayRules) {
        (self.ledger, self.since) = (ledger, since)
        (self.before, self.after) = (ReplaySide(before), ReplaySide(after))
    }

    /// What the rules make of all that happened since.
    package mutating func run() async throws(LedgerError) -> ReplayReport {
        var last: Int64 = 0
        while true {
            let events = try await ledger.events(after: last, limit: Self.batch)
            guard let end = events.last else { return report }
            last = end.seq
            let ids = Set(events.compactMap(\.event.fact.columns.run))
            let found = try await ledger.runs(ids: ids)
            let runs = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
            for record in events { try await replay(record, runs) }
        }
    }

    private mutating func replay(
        _ record: EventRecord, _ runs: [String: RunRecord]
    ) async throws(LedgerError) {
        var news = ReplayNews(at: record.event.at, event: record.event)
        news.run = record.event.fact.columns.run.flatMap { runs[$0] }
        switch record.event.fact {
        case .messagePosted(let post):
            news.message = try await ledger.message(id: post.message)?.message
            if let message = news.message, message.author == .user { read(message.itemKey) }
        case .messageRead(let reading): ItemKey(reading.item).map { read($0) }
        case .itemDismissed(let dismissal): ItemKey(dismissal.item).map { read($0) }
        default: break
        }
        if let job = record.event.fact.columns.job { news.stored = try await ledger.job(named: job)?.spec }
        count(&news)
        let (old, new) = (before.judge(news), after.judge(news))
        guard news.at >= since else { return }
        report.events += 1
        for (channel, outcome) in old {
            report.before[channel, default: [:]][outcome.action, default: 0] += 1
        }
        for (channel, outcome) in new { report.after[channel, default: [:]][outcome.action, default: 0] += 1 }
        for channel in Set(old.keys).union(new.keys).sorted() where old[channel] != new[channel] {
            report.differences.append(
                ReplayReport.Difference(
                    event: record.seq, at: news.at, type: record.event.type.rawValue, about: Self.about(news),
                    channel: channel, before: old[channel], after: new[channel]))
        }
    }

    private mutating func read(_ key: ItemKey) {
        before.read(key)
        after.read(key)
    }

    /// Notes how the job fares, and how a failure compares with the one before.
    private mutating func count(_ news: inout ReplayNews) {
        guard let run = news.run else { return }
        let policy = JobPolicy(hears: Set(JobNews.allCases))
        let fact = JobFact(news.event, of: run)
        var item = jobs[run.job] ?? JobItem(job: run.job, bot: run.bot)
        switch news.event.fact {
        case .runFailed, .runLost:
            news.isSameFailure =
                item.failures > 0
                && item.version(of: fact, at: news.at, policy: policy).reason == .sameFailure
            _ = item.receive(fact, at: news.at, policy: policy)
            news.failures = item.failures
        case .runCompleted: _ = item.receive(fact, at: news.at, policy: policy)
        default: return
        }
        jobs[run.job] = item
    }

    /// What a person calls it.
    private static func about(_ news: ReplayNews) -> String {
        if let message = news.message { return "\(message.bot): \(Preview.cut(message.text, to: 40))" }
        let columns = news.event.fact.columns
        return news.run?.name ?? columns.job ?? columns.bot ?? columns.channel ?? columns.subject ?? ""
    }
}
