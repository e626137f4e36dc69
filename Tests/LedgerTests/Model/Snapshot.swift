import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

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
    /// What `ledger` says, asked about what `model` knows; of long lists the newest `depth`.
    init(of ledger: any Ledger, asking model: ModelLedger, depth: Int) async throws {
        answers["jobs"] = try await ledger.jobs()
        answers["watermark"] = try await ledger.watermark()
        answers["spans"] = Set(try await ledger.spans(of: nil, limit: .max))
        answers["runs"] = try await ledger.runs(RunFilter(limit: depth))
        answers["runs, mixed"] = try await ledger.runs(Self.mixed)
        answers["runs, open"] = try await ledger.runs(Self.open)
        answers["active runs"] = try await ledger.activeRuns()
        let ids = model.runs.suffix(3).map(\.id)
        answers["runs, named"] = try await ledger.runs(ids: ids.reversed() + ["none"])
        answers["last runs"] = Set(try await ledger.lastRuns(of: Set(model.runs.map(\.job))))
        answers["messages"] = try await ledger.messages(bot: nil, search: nil, limit: depth)
        answers["messages, found"] = try await ledger.messages(bot: "ops", search: "Hello", limit: 5)
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
        for name in ["a", "b", "c"] {
            answers["job \(name)"] = try await ledger.job(named: name)
            answers["revision \(name)"] = try await ledger.lastRevision(of: name)
            for revision in (model.specs[name] ?? [:]).keys {
                answers["spec \(name) \(revision)"] = try await ledger.spec(of: name, revision: revision)
            }
        }
        for run in model.runs.suffix(depth) {
            answers["run \(run.id)"] = try await ledger.run(id: run.id)
            answers["run \(run.name)"] = try await ledger.run(job: run.job, ordinal: run.ordinal)
            answers["run \(run.job) \(run.cause)"] = try await ledger.run(job: run.job, cause: run.cause)
            answers["attempts \(run.id)"] = try await ledger.attempts(of: run.id)
        }
        for name in Self.channels {
            answers["channel \(name)"] = try await ledger.channel(named: name)
            answers["pending \(name)"] = try await ledger.pendingOutbox(channel: name, limit: .max)
            let line = try await ledger.outboxLine(of: name, limit: .max)
            answers["line \(name)"] = line.pending
            answers["held \(name)"] = line.heldUntil
            answers["untried \(name)"] = try await ledger.untriedOutbox(channel: name, item: "job:a")
            answers["behind \(name)"] = Set(try await ledger.surfaces(channel: name, all: false))
            answers["refused \(name)"] = Set(try await ledger.refusedSurfaces(channel: name))
            answers["surfaces \(name)"] = Set(try await ledger.surfaces(channel: name, all: true))
        }
        for key in Self.itemKeys { answers["item \(key)"] = try await ledger.item(key) }
        for id in ["o1", "o2"] { answers["receipts \(id)"] = try await ledger.receipts(of: id) }
        for name in ["zone", "boot"] { answers["fact \(name)"] = try await ledger.fact(named: name) }
        for name in ["items", "outbox"] { answers["cursor \(name)"] = try await ledger.cursor(of: name) }
    }

    /// What the model holds.
    init(of model: ModelLedger, depth: Int) {
        let runs = model.runs.reversed()
        let messages = model.messages.reversed()
        let outbox = model.outbox.reversed()
        answers["jobs"] = model.jobs.values.sorted { $0.name < $1.name }
        answers["watermark"] = model.watermark
        answers["spans"] = Set(model.spans)
        answers["runs"] = Array(runs.prefix(depth))
        answers["runs, mixed"] = Array(
            runs.filter { $0.job == Self.mixed.job && Self.mixed.states.contains($0.state) }.prefix(4))
        answers["runs, open"] = Array(
            runs.filter { Self.open.states.contains($0.state) && $0.queuedAt >= at(20) }.prefix(6))
        answers["active runs"] = model.runs.filter { !$0.state.isEnded }
        answers["runs, named"] = Array(model.runs.suffix(3))
        answers["last runs"] = Set(Dictionary(model.runs.map { ($0.job, $0) }) { $1 }.values)
        answers["messages"] = Array(messages.prefix(depth))
        answers["messages, found"] = Array(
            messages.filter {
                $0.message.bot == "ops" && $0.message.text.lowercased().hasPrefix("hello")
            }
            .prefix(5))
        answers["unread"] = model.messages.filter { !$0.read }.reduce(into: [String: Int]()) {
            $0[$1.message.bot, default: 0] += 1
        }
        answers["items"] = Set(model.items.values)
        answers["items to wake"] = model.items.values.compactMap(\.flushAt).sorted()
        answers["outbox"] = Array(outbox.prefix(depth))
        answers["outbox, held"] = Array(outbox.filter { $0.state == .held || $0.state == .dead }.prefix(5))
        answers["outbox, counted"] = model.outbox.reduce(into: [OutboxState: Int]()) {
            $0[$1.state, default: 0] += 1
        }
        answers["outbox, by channel"] = model.outbox.filter { [.waiting, .pending].contains($0.state) }
            .reduce(into: [String: Int]()) { $0[$1.channel, default: 0] += 1 }
        answers["events"] = model.events.filter { $0.seq > model.eventBefore(last: depth) }
        answers["events, numbered"] = model.events.filter { [1, 3].contains($0.seq) }
        for (name, subject) in Self.subjects {
            let about = model.events.filter {
                switch subject {
                case .job(let name): $0.event.fact.columns.job == name
                case .run(let id): $0.event.fact.columns.run == id
                case .subject(let text): $0.event.fact.columns.subject == text
                }
            }
            answers["events about \(name)"] = Array(about.suffix(3))
        }
        answers["verdicts"] = model.verdicts.filter { (1...8).contains($0.event) }
        let onItem = model.verdicts.filter { $0.item == "job:a" && $0.event >= 2 }
        answers["verdicts on an item, false"] = Array(onItem.prefix(3))
        answers["verdicts on an item, true"] = Array(onItem.suffix(3))
        answers["last event"] = model.lastEvent
        for name in ["a", "b", "c"] {
            answers["job \(name)"] = model.jobs[name]
            answers["revision \(name)"] = model.specs[name]?.keys.max() ?? 0
            for (revision, spec) in model.specs[name] ?? [:] { answers["spec \(name) \(revision)"] = spec }
        }
        for run in model.runs.suffix(depth) {
            answers["run \(run.id)"] = run
            answers["run \(run.name)"] = run
            answers["run \(run.job) \(run.cause)"] = run
            answers["attempts \(run.id)"] = model.attempts.filter { $0.run == run.id }.sorted { $0.n < $1.n }
        }
        for name in Self.channels {
            let pending = model.outbox.filter { $0.channel == name && $0.state == .pending }
            let heads = pending.enumerated().filter { index, entry in
                guard let line = entry.item ?? entry.run else { return true }
                return !pending[..<index].contains { ($0.item ?? $0.run) == line }
            }.map(\.element)
            let surfaces = model.surfaces.map(\.record).filter { $0.channel == name }
            answers["channel \(name)"] = model.channels[name]
            // The sort is stable: of two due together the first inserted comes first.
            answers["pending \(name)"] = heads.sorted {
                ($0.nextAt ?? .distantPast) < ($1.nextAt ?? .distantPast)
            }
            answers["line \(name)"] = answers["pending \(name)"]
            answers["held \(name)"] = model.outbox.filter { $0.channel == name && $0.state == .held }
                .compactMap(\.nextAt).min()
            answers["untried \(name)"] = pending.first { $0.item == "job:a" && $0.attempts == 0 }
            answers["behind \(name)"] = Set(
                surfaces.filter { $0.wanted != $0.shown && !$0.dismissed && $0.refused != $0.wanted })
            answers["refused \(name)"] = Set(
                surfaces.filter { $0.refused != 0 && $0.refused == $0.wanted && !$0.dismissed })
            answers["surfaces \(name)"] = Set(surfaces)
        }
        for key in Self.itemKeys { answers["item \(key)"] = model.items[key] }
        for id in ["o1", "o2"] { answers["receipts \(id)"] = model.receipts.filter { $0.outbox == id } }
        for name in ["zone", "boot"] { answers["fact \(name)"] = model.facts[name] }
        for name in ["items", "outbox"] { answers["cursor \(name)"] = model.cursors[name] ?? 0 }
    }
}

extension ModelLedger {
    /// The number of the event before the last `count`.
    fileprivate func eventBefore(last count: Int) -> Int64 { max(0, lastEvent - Int64(count)) }
}
