import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

/// The reads of every station.
typealias LedgerReading = BotReading & EventReading & HistoryReading & JobReading & OutboxReading & RunReading
    & SlotReading & QuestionReading
    & TalkReading & VerdictReading

/// Every answer of a ledger, by the name of the question.
struct Snapshot {
    private var answers: [String: AnyHashable] = [:]

    /// The questions that `other` answers otherwise, with both answers.
    func differences(from other: Snapshot) -> [String] {
        Set(answers.keys).union(other.answers.keys).sorted().compactMap { question in
            let (ours, theirs) = (answers[question], other.answers[question])
            if ours == theirs { return nil }
            return "\(question): \(Self.cut(ours)) instead of \(Self.cut(theirs))"
        }
    }

    private static func cut(_ answer: AnyHashable?) -> Substring {
        guard let answer else { return "nothing" }
        return "\(answer.base)".prefix(300)
    }

    static let mixed = RunFilter(job: "a", states: [.completed, .canceled, .queued], limit: 4)
    static let open = RunFilter(states: [.running, .queued], since: at(20), limit: 6)
    static let channels = ["hook", "x", "desk", "tv"]
    static let subjects: [(String, EventSubject)] = [
        ("a job", .job("a")), ("a run", .run("r1")), ("a message", .subject("1")),
    ]
    static let itemKeys: [ItemKey] = [.job("a"), .job("b"), .thread(bot: "ops", thread: "main")]
}

extension Snapshot {
    /// The answers of `ledger`, a store or the model itself, about what `model` knows; of long lists the newest `depth`.
    init(of ledger: any LedgerReading, asking model: ModelLedger, depth: Int) async throws {
        answers["jobs"] = try await ledger.jobs()
        answers["watermark"] = try await ledger.watermark()
        answers["spans"] = Set(try await ledger.spans(of: nil, limit: .max))
        answers["runs"] = try await ledger.runs(RunFilter(limit: depth))
        answers["runs, mixed"] = try await ledger.runs(Self.mixed)
        answers["runs, open"] = try await ledger.runs(Self.open)
        answers["active runs"] = try await ledger.activeRuns()
        let runs = model.runs.all
        let ids = runs.suffix(3).map(\.id)
        answers["runs, named"] = try await ledger.runs(ids: ids.reversed() + ["none"])
        answers["last runs"] = Set(try await ledger.lastRuns(of: Set(runs.map(\.job))))
        answers["messages"] = try await ledger.messages(bot: nil, search: nil, limit: depth)
        for bot in ["ops", "web"] {
            for thread in ["main", "b"] {
                answers["conversation of \(bot)/\(thread)"] = try await ledger.conversation(
                    bot: bot, thread: thread)
                answers["reactions in \(bot)/\(thread)"] = try await ledger.newReactions(
                    bot: bot, thread: thread)
                answers["said in \(bot)/\(thread)"] = try await ledger.said(
                    bot: bot, thread: thread, after: 3, limit: depth)
            }
        }
        answers["unasked threads"] = try await ledger.unaskedThreads()
        answers["messages, found"] = try await ledger.messages(bot: "ops", search: "Hello", limit: 5)
        answers["questions"] = try await ledger.questions(limit: depth)
        answers["questions, open"] = try await ledger.openQuestions()
        answers["a trusted question"] = try await ledger.question(
            about: "s1", answered: "yes", after: Moment(seconds: 0))
        answers["a question"] = try await ledger.question(id: "q3")
        answers["bots"] = try await ledger.bots()
        answers["bot entries"] = try await ledger.botEntries()
        answers["channel entries"] = try await ledger.channelEntries()
        answers["silences"] = try await ledger.silences()
        answers["months"] = try await ledger.months(of: nil)
        answers["months of one"] = try await ledger.months(of: "ops")
        answers["unread"] = try await ledger.unread()
        answers["items"] = Set(try await ledger.items(limit: .max))
        answers["items to wake"] = try await ledger.itemsToWake(limit: .max).compactMap(\.flushAt)
        answers["outbox"] = try await ledger.outbox(states: [], limit: depth)
        answers["outbox, held"] = try await ledger.outbox(states: [.held, .dead], limit: 5)
        answers["outbox, counted"] = try await ledger.outboxCounts()
        answers["outbox, by channel"] = try await ledger.outboxCounts(byChannelIn: [.waiting, .pending])
        answers["events"] = try await ledger.events(
            after: model.eventBefore(last: depth), limit: .max)
        answers["events, numbered"] = try await ledger.events(numbered: [1, 3, 99_999])
        for (name, subject) in Self.subjects {
            answers["events about \(name)"] = try await ledger.events(about: subject, limit: 3)
        }
        answers["verdicts"] = try await ledger.verdicts(on: 1...8)
        for isNewest in [false, true] {
            answers["verdicts on an item, \(isNewest)"] = try await ledger.verdicts(
                onItem: "job:a", from: 2, newest: isNewest, limit: 3)
        }
        answers["last event"] = try await ledger.lastEvent()
        answers["jobs with history"] = try await ledger.jobsWithHistory(after: "a", limit: 2)
        answers["expired rows"] = try await ledger.expiredRows(before: at(400), limit: 3)
        for name in ["a", "b", "c"] {
            answers["job \(name)"] = try await ledger.job(named: name)
            answers["profiles \(name)"] = try await ledger.profiles(of: name, limit: 2)
            answers["revision \(name)"] = try await ledger.lastRevision(of: name)
            for revision in (model.specs[name] ?? [:]).keys {
                answers["spec \(name) \(revision)"] = try await ledger.spec(of: name, revision: revision)
            }
        }
        for run in runs.suffix(depth) {
            answers["run \(run.id)"] = try await ledger.run(id: run.id)
            answers["run \(run.name)"] = try await ledger.run(job: run.job, ordinal: run.ordinal)
            answers["run \(run.job) \(run.cause)"] = try await ledger.run(job: run.job, cause: run.cause)
            answers["attempts \(run.id)"] = try await ledger.attempts(of: run.id)
        }
        for name in Self.channels {
            answers["channel \(name)"] = try await ledger.channel(named: name)
            answers["pending \(name)"] = try await ledger.pendingOutbox(channel: name, limit: .max)
            let line = try await ledger.outboxLine(of: name, limit: .max)
            answers["weights \(name)"] = try await ledger.outboxWeights(of: name)
            answers["line \(name)"] = line.pending
            answers["held \(name)"] = line.heldUntil
            answers["behind \(name)"] = Set(try await ledger.surfaces(channel: name, all: false))
            answers["refused \(name)"] = Set(try await ledger.refusedSurfaces(channel: name))
            answers["surfaces \(name)"] = Set(try await ledger.surfaces(channel: name, all: true))
        }
        for key in Self.itemKeys { answers["item \(key)"] = try await ledger.item(key) }
        for id in ["o1", "o2"] { answers["tries \(id)"] = try await ledger.outboxAttempts(of: id) }
        answers["fallbacks"] = try await ledger.fallbacks(dueBy: at(300), limit: 2)
        answers["next fallback"] = try await ledger.nextFallback()
        answers["fallbacks"] = try await ledger.fallbackCount()
        for id in ["o1", "o2"] { answers["receipts \(id)"] = try await ledger.receipts(of: id) }
        for name in ["zone", "boot"] { answers["fact \(name)"] = try await ledger.fact(named: name) }
        for name in ["items", "outbox"] { answers["cursor \(name)"] = try await ledger.cursor(of: name) }
    }
}

extension ModelLedger {
    /// The number of the event before the last `count`.
    fileprivate func eventBefore(last count: Int) -> Int64 { max(0, lastNumber - Int64(count)) }
}
