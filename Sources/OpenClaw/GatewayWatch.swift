package import Timeline

/// What a gateway's scheduler shows at one moment.
package struct GatewayLook: Hashable, Sendable {
    /// When it was asked.
    package var at: Moment
    /// All of its jobs, those that are disabled among them.
    package var jobs: [GatewayJob]
    /// Its newest finished runs, in any order.
    package var runs: [GatewayRun]
    /// The jobs that somebody removed since the look before, as the gateway reported it.
    package var removed: Set<String>
    /// The protocol that it speaks.
    package var version: Int

    /// What it showed.
    package init(
        at moment: Moment, jobs: [GatewayJob], runs: [GatewayRun] = [], removed: Set<String> = [],
        version: Int = 4
    ) {
        (self.at, self.jobs, self.runs) = (moment, jobs, runs)
        (self.removed, self.version) = (removed, version)
    }
}

/// What is wrong with a job of a gateway, where the gateway itself says nothing.
package enum GatewayAlarm: String, Hashable, Sendable, CaseIterable {
    /// Its time has passed, and it does not run.
    case overdue
    /// It has been at work for longer than it may be.
    case stuck
    /// Its last run failed.
    case failing
    /// What its last run said did not arrive.
    case notDelivered
    /// The gateway disabled it.
    case disabled
    /// Belfry runs it in the gateway's place, and the gateway runs it, too.
    case doubled
}

/// Something about a job of a gateway that somebody should know.
package struct GatewayNews: Hashable, Sendable {
    /// What happened.
    package enum Matter: Hashable, Sendable {
        /// Since when it should have run.
        case overdue(Moment)
        /// The gateway planned it for then, and went on without running it.
        case missed(Moment)
        /// Since when it runs, and how long it may.
        case stuck(Moment, limit: Duration)
        /// So many runs in a row have failed, the last one for that.
        case failing(Int, String?)
        /// What its last run said did not arrive, for that.
        case notDelivered(String?)
        /// The gateway disabled it, for that.
        case disabled(String)
        /// The gateway no longer has it, and nobody removed it; whether it had run, where it was to run once.
        case vanished(hasRun: Bool)
        /// It is enabled, although Belfry runs it in the gateway's place.
        case doubled
        /// All that was wrong has ended.
        case recovered

        /// A word for programs; never changes.
        package var word: String {
            switch self {
            case .overdue: GatewayAlarm.overdue.rawValue
            case .missed: "missed"
            case .stuck: GatewayAlarm.stuck.rawValue
            case .failing: GatewayAlarm.failing.rawValue
            case .notDelivered: GatewayAlarm.notDelivered.rawValue
            case .disabled: GatewayAlarm.disabled.rawValue
            case .vanished: "vanished"
            case .doubled: GatewayAlarm.doubled.rawValue
            case .recovered: "recovered"
            }
        }
    }

    /// What identifies the job.
    package var job: String
    package var name: String
    package var matter: Matter

    /// What a person reads of it, after the job's name and without a full stop.
    package func words(at now: Moment, in zone: ZoneRules) -> String {
        func time(_ moment: Moment) -> String { Moment(seconds: moment.seconds).iso8601(in: zone) }
        func whole(_ duration: Duration) -> String {
            Duration.seconds(max(duration.components.seconds, 0)).limitWords
        }
        switch matter {
        case .overdue(let since): return "was due at \(time(since)) and has not run"
        case .missed(let slot): return "was not run at \(time(slot)), and the gateway has moved on"
        case .stuck(let since, let limit):
            return "has been running since \(time(since)), and may take \(whole(limit))"
        case .failing(let count, let why):
            let cause = why.map { ": \($0)" } ?? ""
            return count > 1 ? "has failed \(count) times in a row\(cause)" : "failed\(cause)"
        case .notDelivered(let why):
            return "ran, and its result was not delivered" + (why.map { ": \($0)" } ?? "")
        case .disabled(let why): return "was disabled by the gateway (\(why))"
        case .vanished(hasRun: true): return "no longer exists in the gateway, and nobody removed it"
        case .vanished(hasRun: false): return "no longer exists in the gateway, and has not run"
        case .doubled: return "is enabled again, although Belfry has taken it over: it runs twice"
        case .recovered: return "is all right again"
        }
    }
}

/// Judges the jobs of a gateway by what it shows of them, one look after the other.
///
/// Pure: a look and the time in, what somebody should know out. The same trouble is reported once until it ends; a
/// failure again when five times as many runs have failed.
package struct GatewayWatch: Hashable, Sendable {
    /// What is known of a job.
    struct Known: Hashable {
        var name: String
        /// Its schedule, to notice a change of it.
        var mark: String
        var isEnabled: Bool
        var runsOnce: Bool
        var stagger: Duration
        var next: Moment?
        var lastRun: Moment?
        var runningSince: Moment?
        var limit: Duration
        /// What is reported of it, and not over.
        var alarms: Set<GatewayAlarm> = []
        /// How many failures were reported last.
        var reportedErrors = 0
    }

    /// How long a job may be late before somebody hears of it.
    static let grace = Duration.seconds(120)
    /// How much earlier than planned a run may begin and still be the planned one.
    private static let early = Duration.seconds(2)
    /// Runs before it are old; nil: none was seen.
    var cursor: Moment?
    /// The runs at the cursor that were seen.
    var seen: Set<String> = []
    var known: [String: Known] = [:]
    /// When the jobs were first looked at; nil: they were not.
    package internal(set) var since: Moment?

    /// Nothing was seen yet.
    package init() {}

    /// What is wrong now with the job of that id.
    package func alarms(of job: String) -> Set<GatewayAlarm> { known[job]?.alarms ?? [] }

    /// How many jobs have something wrong.
    package var troubled: Int { known.values.count { !$0.alarms.isEmpty } }

    /// How many jobs are known.
    package var count: Int { known.count }

    // MARK: Judging

    /// What a look shows that was not known before.
    ///
    /// The jobs of the ids `taken` are run by Belfry in the gateway's place.
    package mutating func review(
        _ look: GatewayLook, taken: Set<String> = [], at now: Moment
    ) -> [GatewayNews] {
        let isFirst = since == nil
        since = since ?? now
        var news: [GatewayNews] = []
        let fresh = freshRuns(look.runs, isFirst: isFirst)
        for job in look.jobs.sorted(by: { $0.id < $1.id }) {
            news += review(job, runs: fresh[job.id] ?? [], isTaken: taken.contains(job.id), at: now)
        }
        news += vanished(look, fresh)
        return news
    }

    /// What has become overdue or stuck since the last look, though nobody can look now.
    package mutating func review(at now: Moment) -> [GatewayNews] {
        var news: [GatewayNews] = []
        for id in known.keys.sorted() {
            guard var job = known[id], job.isEnabled else { continue }
            news += Self.late(&job, id, at: now)
            known[id] = job
        }
        return news
    }

    /// When something becomes overdue or stuck unless a look shows otherwise; nil: nothing does.
    package func nextDeadline(after now: Moment) -> Moment? {
        known.values.flatMap { job -> [Moment] in
            guard job.isEnabled else { return [] }
            let due = job.runningSince == nil ? job.next.map { $0 + job.stagger + Self.grace } : nil
            let stuck = job.runningSince.map { $0 + job.limit + Self.grace }
            return [due, stuck].compactMap(\.self).filter { $0 > now }
        }.min()
    }

    /// The runs that no earlier look had, by job, the oldest first.
    private mutating func freshRuns(_ runs: [GatewayRun], isFirst: Bool) -> [String: [GatewayRun]] {
        var fresh: [GatewayRun] = []
        for run in runs.sorted(by: { $0.at < $1.at }) {
            guard run.at >= cursor ?? .distantPast, !seen.contains(run.key) else { continue }
            if run.at > cursor ?? .distantPast { seen = [] }
            cursor = run.at
            seen.insert(run.key)
            fresh.append(run)
        }
        // What came before the first look is nobody's news; how the jobs are now is.
        return isFirst ? [:] : Dictionary(grouping: fresh, by: \.job)
    }

    private mutating func review(
        _ job: GatewayJob, runs: [GatewayRun], isTaken: Bool, at now: Moment
    ) -> [GatewayNews] {
        let old = known[job.id]
        var entry = Known(job)
        (entry.alarms, entry.reportedErrors) = (old?.alarms ?? [], old?.reportedErrors ?? 0)
        defer { known[job.id] = entry }
        func news(_ matter: GatewayNews.Matter) -> GatewayNews {
            GatewayNews(job: job.id, name: job.name, matter: matter)
        }
        // Who disables a job, or plans it again, has seen it.
        let isSame = old.map { $0.mark == entry.mark && $0.isEnabled == entry.isEnabled } ?? false
        let before = entry.alarms
        var found: [GatewayNews] = []
        if let old, isSame, let slot = old.passedOver(by: job, runs, at: now) {
            found.append(news(.missed(slot)))
            entry.alarms.remove(.overdue)
        }
        found += Self.results(of: runs, &entry, job, news)
        found += Self.failures(&entry, job, old, news)
        if let why = job.state.disabledBecause, !job.isEnabled {
            if entry.alarms.insert(.disabled).inserted { found.append(news(.disabled(why))) }
        } else {
            entry.alarms.remove(.disabled)
        }
        if !job.isEnabled { entry.alarms.formIntersection([.disabled]) }
        if !isTaken || !job.isEnabled {
            entry.alarms.remove(.doubled)
        } else if entry.alarms.insert(.doubled).inserted {
            found.append(news(.doubled))
        }
        found += Self.late(&entry, job.id, at: now)
        if !before.isEmpty, entry.alarms.isEmpty, found.isEmpty, job.isEnabled {
            found.append(news(.recovered))
        }
        return found
    }

    /// What runs show that ended between two looks, so that a failure counts although the next run went well.
    private static func results(
        of runs: [GatewayRun], _ entry: inout Known, _ job: GatewayJob,
        _ news: (GatewayNews.Matter) -> GatewayNews
    ) -> [GatewayNews] {
        var found: [GatewayNews] = []
        // The newest run is what the job's state shows.
        for run in runs.dropLast() {
            if run.status == "error", entry.alarms.insert(.failing).inserted {
                entry.reportedErrors = 1
                found.append(news(.failing(1, run.error)))
            } else if run.status == "ok" {
                entry.alarms.remove(.failing)
                entry.reportedErrors = 0
            }
            if run.delivery == "not-delivered", entry.alarms.insert(.notDelivered).inserted {
                found.append(news(.notDelivered(run.deliveryError)))
            } else if run.delivery == "delivered" {
                entry.alarms.remove(.notDelivered)
            }
        }
        return found
    }

    private static func failures(
        _ entry: inout Known, _ job: GatewayJob, _ old: Known?, _ news: (GatewayNews.Matter) -> GatewayNews
    ) -> [GatewayNews] {
        var found: [GatewayNews] = []
        // What a person disabled before anybody looked is no news, nor is it at the next look.
        guard job.isEnabled || old != nil else {
            entry.reportedErrors = job.state.errors
            return []
        }
        let errors = job.state.errors
        if errors == 0 {
            entry.alarms.remove(.failing)
            entry.reportedErrors = 0
        } else if job.isEnabled || job.state.lastRun != nil && entry.reportedErrors < errors {
            let isNew = entry.alarms.insert(.failing).inserted
            if isNew || errors / 5 >= max(entry.reportedErrors, 1) {
                entry.reportedErrors = errors
                found.append(news(.failing(errors, job.state.lastError)))
            }
            // A disabled job keeps no alarm that could say it was reported.
            if !job.isEnabled { entry.reportedErrors = errors }
        }
        if !job.state.isUndelivered {
            entry.alarms.remove(.notDelivered)
        } else if job.isEnabled || old?.isEnabled == true, entry.alarms.insert(.notDelivered).inserted {
            found.append(news(.notDelivered(job.state.deliveryError)))
        }
        return found
    }

    private static func late(_ job: inout Known, _ id: String, at now: Moment) -> [GatewayNews] {
        var found: [GatewayNews] = []
        func news(_ matter: GatewayNews.Matter) -> GatewayNews {
            GatewayNews(job: id, name: job.name, matter: matter)
        }
        if job.isEnabled, job.runningSince == nil, let next = job.next, now - next > job.stagger + grace {
            if job.alarms.insert(.overdue).inserted { found.append(news(.overdue(next))) }
        } else {
            job.alarms.remove(.overdue)
        }
        if job.isEnabled, let since = job.runningSince, now - since > job.limit + grace {
            if job.alarms.insert(.stuck).inserted { found.append(news(.stuck(since, limit: job.limit))) }
        } else {
            job.alarms.remove(.stuck)
        }
        return found
    }

    /// Jobs that are no longer listed; one that ran at its only time, or that somebody removed, is nobody's news.
    private mutating func vanished(_ look: GatewayLook, _ fresh: [String: [GatewayRun]]) -> [GatewayNews] {
        let listed = Set(look.jobs.map(\.id))
        var news: [GatewayNews] = []
        for id in known.keys.sorted() where !listed.contains(id) {
            guard let job = known.removeValue(forKey: id), !look.removed.contains(id) else { continue }
            guard job.runsOnce, job.isEnabled else {
                news.append(GatewayNews(job: id, name: job.name, matter: .vanished(hasRun: true)))
                continue
            }
            let began =
                (fresh[id] ?? []).map { $0.began ?? $0.at }
                + [job.lastRun, job.runningSince].compactMap(\.self)
            let hasRun = job.next.map { next in began.contains { $0 >= next - Self.early } } ?? !began.isEmpty
            if !hasRun { news.append(GatewayNews(job: id, name: job.name, matter: .vanished(hasRun: false))) }
        }
        return news
    }
}

extension GatewayWatch.Known {
    fileprivate init(_ job: GatewayJob) {
        (name, mark, isEnabled, runsOnce) = (job.name, job.mark, job.isEnabled, job.runsOnce)
        (stagger, limit) = (job.stagger, job.limit)
        (next, lastRun, runningSince) = (job.state.next, job.state.lastRun, job.state.runningSince)
    }

    /// The time that was planned for and has passed without a run, where the gateway plans the next one already.
    fileprivate func passedOver(by job: GatewayJob, _ runs: [GatewayRun], at now: Moment) -> Moment? {
        let early = Duration.seconds(2)
        guard isEnabled, let next, next <= now, job.state.next.map({ $0 > next }) ?? true else { return nil }
        let began =
            runs.map { $0.began ?? $0.at }
            + [job.state.lastRun, job.state.runningSince, runningSince].compactMap(\.self)
        return began.contains { $0 >= next - early } ? nil : next
    }
}
