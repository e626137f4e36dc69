import CronBench
import FoundationEssentials
import Grouping
import Ledger
import LedgerSQLite
import Synchronization
import Timeline
import Tracking

/// What the ledger, the jobs' own records and the receiver show when all has ended.
struct ChaosVerdict {
    /// How many slots the jobs had, how many of them ran, and how many starts the jobs reported.
    private(set) var slots = 0
    private(set) var runs = 0
    private(set) var starts = 0
    /// How many runs lived through the end of a daemon and ended well.
    private(set) var adopted = 0
    private(set) var lost = 0
    /// How many attempts there were beyond the first ones.
    private(set) var retries = 0
    /// How many slots were recorded as missed because their job changed while no daemon ran.
    private(set) var changed = 0
    /// How many notices were due, and how often they came.
    private(set) var notices = 0
    private(set) var deliveries = 0
    /// How many replies of jobs rang, counted once for each receiver.
    private(set) var rung = 0
    /// What happened to the prompts, and of those that a gateway was sent.
    let talk: ChaosTalkVerdict
    let gateway: ChaosGatewayVerdict
    /// What happened to the questions.
    let questions: ChaosQuestionsVerdict
    /// What is wrong; empty when all is well.
    private(set) var faults: [String] = []

    /// Whether runs may be lost: only when their warden was killed.
    private let mayLose: Bool
    private let edits: ChaosEdits

    /// Reads the ledger of `home`, whose daemon has stopped; `kills` is when a daemon or a warden was killed, and
    /// `threads` are those to which a message was sent and accepted.
    init(
        of home: ChaosHome, kills: [Moment], threads: [String], webhooks: [String: WebhookBook], mayLose: Bool
    ) async throws {
        self.mayLose = mayLose
        edits = home.edits
        let ledger = try SQLiteLedger(path: home.folder + "/state/ledger.sqlite")
        let all = try await ledger.runs(RunFilter())
        talk = try await ChaosTalkVerdict(
            home.talk, ledger, all, kills: kills, output: home.folder + "/state/output", mayLose: mayLose)
        gateway = try await ChaosGatewayVerdict(home.gateway, ledger, all, kills: kills)
        questions = try await ChaosQuestionsVerdict(
            home.questions, ledger, all, kills: kills, webhooks: webhooks, folder: home.folder)
        faults = talk.faults + gateway.faults + questions.faults
        let spans = try await ledger.spans(of: nil, limit: .max)
        let decidedUntil = try await ledger.watermark()?.decidedUntil ?? Moment(seconds: 0)
        changed = spans.reduce(0) { $0 + ($1.reason == .definitionChanged ? $1.count : 0) }
        let runsOf = Dictionary(grouping: all, by: \.job)
        let spansOf = Dictionary(grouping: spans, by: \.job)
        for job in try await ledger.jobs() {
            judgeSlots(
                of: job, period: Int64(home.periods[job.name] ?? 1), until: decidedUntil,
                runsOf[job.name] ?? [], spansOf[job.name] ?? [])
        }
        try await judgeStarts(all, home.lines, ledger)
        judgeEnds(all, kills)
        for (channel, book) in webhooks { judgeNotices(on: channel, all, threads, book) }
        for job in ChaosTalk.jobs + [ChaosTalk.programJob] {
            guard let bot = all.first(where: { $0.job == job })?.bot else { continue }
            let replies = try await ledger.messages(bot: bot, thread: job, after: 0, limit: .max)
                .reversed().map(\.record.message.id)
            for (channel, book) in webhooks { judgeRings(of: replies, in: job, on: channel, book) }
        }
        await ledger.close()
    }

    private mutating func fault(_ text: String) { faults.append(text) }

    // MARK: Slots

    /// Every second of its grid is a run or in a span, once.
    private mutating func judgeSlots(
        of job: JobRecord, period: Int64, until: Moment, _ runs: [RunRecord], _ spans: [SlotSpan]
    ) {
        var times: [Int64: Int] = [:]
        for run in runs { if let slot = run.slot { times[slot.seconds, default: 0] += 1 } }
        for span in spans {
            let steps = stride(from: span.first.seconds, through: span.last.seconds, by: Int(period))
            for second in steps { times[second, default: 0] += 1 }
            if Array(steps).count != span.count {
                fault("\(job.name): the span from \(span.first.iso8601) counts \(span.count) slots")
            }
        }
        guard let earliest = times.keys.min() else {
            // In less than its period a job may have none.
            if until.seconds - job.since.seconds >= period { fault("\(job.name): no slot was decided") }
            return
        }
        // The slots of an edited job go on from one revision to the next.
        let first = job.revision > 1 ? earliest : job.since.seconds + 1
        let start = first + (earliest % period - first % period + period) % period
        var missing = 0
        for second in stride(from: start, through: until.seconds, by: Int(period)) {
            slots += 1
            switch times.removeValue(forKey: second) {
            case nil: if edits.wasListed(job.name, at: Moment(seconds: second)) { missing += 1 }
            case 1: break
            case let count?:
                fault("\(job.name): \(Moment(seconds: second).iso8601) was decided \(count) times")
            }
        }
        if missing > 0 { fault("\(job.name): \(missing) slots were lost") }
        if !times.isEmpty { fault("\(job.name): \(times.count) slots that it does not have were decided") }
    }

    // MARK: Runs

    /// Each attempt was started once, as the jobs themselves report it, and never by an outdated definition.
    private mutating func judgeStarts(
        _ all: [RunRecord], _ lines: [Substring], _ ledger: SQLiteLedger
    ) async throws {
        var reported: [String: [String: Int]] = [:]
        var editionOf: [String: Int] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count == 4, let edition = Int(words[0]) else {
                fault("a job wrote \"\(line)\"")
                continue
            }
            let run = String(words[1])
            reported[run, default: [:]]["\(words[2]) \(words[3])", default: 0] += 1
            if words[3] == "begin" { starts += 1 }
            if words[3] == "beside" { fault("\(run): attempt \(words[2]) ran beside the one before") }
            if edition > 0 { editionOf[run] = edition }
        }
        for run in all {
            guard let edition = editionOf[run.id] else { continue }
            if !edits.mayBe(at: run.queuedAt).contains(edition) {
                fault("\(run.name): queued at \(run.queuedAt.iso8601) by the outdated edition \(edition)")
            }
        }
        for run in all where !edits.mayBeListed(run.job, at: run.queuedAt) {
            fault("\(run.name): queued at \(run.queuedAt.iso8601), when the file did not list its job")
        }
        for run in all {
            let seen = reported.removeValue(forKey: run.id) ?? [:]
            for (what, times) in seen where times > 1 { fault("\(run.name): attempt \(what) \(times) times") }
            guard [.completed, .failed].contains(run.state), run.exitCode != nil, !run.asksBot
            else { continue }
            let silent = (1...run.attempt).filter { seen["\($0) begin"] == nil }
            guard !silent.isEmpty else { continue }
            // One that was refused, or lost with its warden before its first line, never began, and has no exit code.
            for attempt in try await ledger.attempts(of: run.id)
            where attempt.exitCode != nil && silent.contains(attempt.n) {
                fault("\(run.name): attempt \(attempt.n) has an exit code, and never began")
            }
        }
        if !reported.isEmpty { fault("\(reported.count) runs were started that the ledger does not know") }
    }

    private mutating func judgeEnds(_ all: [RunRecord], _ kills: [Moment]) {
        runs = all.count
        lost = all.count { $0.state == .lost && !$0.asksBot }
        if lost > 0, !mayLose { fault("\(lost) runs were lost") }
        retries = all.reduce(0) { $0 + max(0, $1.attempt - 1) }
        for run in all where !run.state.isEnded { fault("\(run.name) is still \(run.state.rawValue)") }
        adopted = all.count { run in
            guard run.state == .completed, let startedAt = run.startedAt, let endedAt = run.endedAt else {
                return false
            }
            return kills.contains { startedAt < $0 && $0 < endedAt }
        }
    }

    // MARK: Notices

    /// Each end was accepted by the channel's receiver at least once, under one id, which never meant anything else.
    private mutating func judgeNotices(
        on channel: String, _ all: [RunRecord], _ threads: [String], _ webhooks: WebhookBook
    ) {
        var ids: [String: Int] = [:]
        for (id, delivery) in webhooks.deliveries {
            deliveries += delivery.times
            if !delivery.isAccepted {
                // What was asked is not asked any more once it is closed.
                guard delivery.type != "question.asked" else { continue }
                fault("\(channel): \(id) was never accepted")
                continue
            }
            if let run = delivery.run { ids["\(delivery.type) \(run)", default: 0] += 1 }
            if let thread = delivery.thread { ids["\(delivery.type) \(thread)", default: 0] += 1 }
            if delivery.isAltered { fault("\(channel): \(id) came again with other words") }
        }
        if webhooks.unreadable > 0 { fault("\(channel): \(webhooks.unreadable) requests were not webhooks") }
        var due = threads.map { "message.group \($0)" }
        for run in all where [.completed, .failed, .lost].contains(run.state) {
            due.append("run.\(run.state.rawValue) \(run.id)")
        }
        for what in due {
            notices += 1
            switch ids[what] {
            case nil: fault("\(channel): never delivered: \(what)")
            case 1: break
            case let count?: fault("\(channel): delivered under \(count) ids: \(what)")
            }
        }
    }
}

extension ChaosVerdict {
    /// Each reply in the thread of a job rang: every webhook about it has the last three and counts all up to them, and
    /// one of them counts all there are.
    private mutating func judgeRings(
        of replies: [String], in thread: String, on channel: String, _ webhooks: WebhookBook
    ) {
        var counted = 0
        for (id, delivery) in webhooks.deliveries where delivery.thread == thread && delivery.isAccepted {
            let (count, last) = (delivery.count, delivery.last)
            guard (1...max(replies.count, 1)).contains(count),
                last == Array(replies[..<count].suffix(ThreadItem.lastCount))
            else {
                fault("\(channel): \(id) counts \(count) of \(replies.count) in \(thread), and shows \(last)")
                continue
            }
            counted = max(counted, count)
        }
        if counted == replies.count {
            rung += counted
        } else {
            fault(
                "\(channel): \(replies.count - counted) of \(replies.count) replies of \(thread) never rang")
        }
    }
}

/// Every webhook that arrived, kept by a service that is somewhat unreliable.
///
/// Of a hundred it sees for the first time it refuses one, and hangs up on another after it has read it. While it has
/// an outage it refuses all of them.
final class WebhookBook: Sendable {
    /// What arrived under one webhook-id.
    struct Delivery: Sendable {
        var type: String
        /// The id of the run it is about.
        var run: String?
        /// The thread it is about, how many messages of it nobody has read, and the ids of those it shows.
        var thread: String?
        var count = 0
        var last: [String] = []
        /// The question it is about.
        var question: Question?
        /// How often it arrived.
        var times = 1
        /// Whether it was answered with success at least once.
        var isAccepted = false
        /// Whether it came again with other bytes.
        var isAltered = false
        fileprivate var body: [UInt8]
    }

    /// How the service fails for a while.
    enum Outage: CaseIterable, Sendable {
        case refuses, hangsUp
    }

    private struct State {
        var deliveries: [String: Delivery] = [:]
        var outage: Outage?
        var refused = 0
        var unreadable = 0
        var random: SeededNumbers

        /// How a delivery is answered.
        mutating func reply(isFirst: Bool) -> BareReceiver.Reply {
            if let outage {
                refused += 1
                return outage == .refuses ? .status("503 Service Unavailable") : .hangUp
            }
            switch isFirst ? Int.random(in: 0..<100, using: &random) : 100 {
            case 0: return .status("503 Service Unavailable")
            case 1: return .hangUp
            default: return .status("204 No Content")
            }
        }
    }

    /// A question as a webhook has it.
    struct Question: Decodable, Sendable {
        var id: String
        var state: String
        var answer: String?
        var link: String?
    }

    private struct Body: Decodable {
        struct Objects: Decodable {
            var run: Run?
            var item: Item?
            var question: Question?
        }
        struct Run: Decodable { var id: String? }
        struct Item: Decodable {
            var thread: String?
            var count: Int?
            var last: [Said]?
        }
        struct Said: Decodable { var id: String }
        var type: String
        var data: Objects
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SeededNumbers(seed: seed)))
    }

    /// What arrived, by webhook-id.
    var deliveries: [String: Delivery] { state.withLock(\.deliveries) }

    /// The link to a question, as it arrived here; nil: it did not.
    func link(of question: String) -> String? {
        state.withLock { state in
            state.deliveries.values.first { $0.question?.id == question && $0.question?.link != nil }?
                .question?.link
        }
    }

    /// How many requests were not webhooks.
    var unreadable: Int { state.withLock(\.unreadable) }

    /// How many deliveries an outage refused.
    var refused: Int { state.withLock(\.refused) }

    /// Begins an outage, or ends it with nil.
    func set(_ outage: Outage?) { state.withLock { $0.outage = outage } }

    /// Receives a request; see ``BareReceiver``.
    func take(_ request: ArraySlice<UInt8>) -> BareReceiver.Reply {
        guard let (id, body) = Self.parts(of: request),
            let read = try? JSON.decode(Body.self, from: body)
        else {
            state.withLock { $0.unreadable += 1 }
            return .status("400 Bad Request")
        }
        return state.withLock { state in
            var delivery =
                state.deliveries[id]
                ?? Delivery(
                    type: read.type, run: read.data.run?.id, thread: read.data.item?.thread,
                    count: read.data.item?.count ?? 0,
                    last: read.data.item?.last?.map(\.id) ?? [], question: read.data.question, body: body)
            let isFirst = state.deliveries[id] == nil
            if !isFirst { delivery.times += 1 }
            if delivery.body != body { delivery.isAltered = true }
            let reply = state.reply(isFirst: isFirst)
            if case .status("204 No Content") = reply { delivery.isAccepted = true }
            state.deliveries[id] = delivery
            return reply
        }
    }

    private static func parts(of request: ArraySlice<UInt8>) -> (id: String, body: [UInt8])? {
        let text = String(decoding: request, as: UTF8.self)
        guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        let name = "webhook-id:"
        for line in text[..<end.lowerBound].split(separator: "\r\n")
        where line.lowercased().hasPrefix(name) {
            let id = line.dropFirst(name.count).drop { $0 == " " }
            return (String(id), Array(text.utf8[end.upperBound...]))
        }
        return nil
    }
}
