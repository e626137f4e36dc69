import Delivery
import Grouping
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

/// Lists of changes over a world so small that guards often hold and often fail.
struct RandomChanges {
    private var numbers: SeededGenerator
    private var made = 0

    init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    /// One to six changes that are possible, or nearly so, in `model`.
    mutating func list(for model: ModelLedger) -> [Change] {
        (0..<Int.random(in: 1...6, using: &numbers)).map { _ in change(for: model) }
    }

    private mutating func change(for model: ModelLedger) -> Change {
        made += 1
        switch Int.random(in: 0..<28, using: &numbers) {
        case 0, 1: return putJob(model)
        case 2: return .removeJob(name: job(), revision: Int.random(in: 1...4, using: &numbers))
        case 3:
            return .pauseJob(name: job(), maybe { Pause(since: $0.moment(), note: $0.maybe { _ in "n" }) })
        case 4: return moveWatermark(model)
        case 5: return recordSpan(model)
        case 6, 7, 8: return .insertRun(run(), orIgnore: flip())
        case 9, 10, 11: return moveRun(model)
        case 12: return flip() ? putAttempt(model) : word(model)
        case 13: return saveLive(model)
        case 14, 16: return .insertMessage(message())
        case 15 where flip(): return talk()
        case 15 where flip():
            return .pinMessage(id: "m\(Int.random(in: 0..<60, using: &numbers))", flip())
        case 15: return .markRead(bot: pick(["ops", "web"]), thread: pick(["main", "b"]), through: moment())
        case 17: return flip() ? putItem(model) : question()
        case 26: return flip() ? putBot(model) : flip() ? channelEntry() : silence()
        case 25: return flip() ? .recordReply(reply()) : .noteBot(pick(["ops", "web"]), note())
        case 18: return .insertOutbox(entry())
        case 19: return flip() ? moveOutbox(model) : moveLine(model)
        case 20:
            return .rewriteOutbox(
                id: pick(model.outbox.map(\.id) + ["none"]), reason: "again\(made)",
                body: [UInt8(made & 255)],
                item: maybe { $0.pick(["job:a", "job:b"]) }, nextAt: moment())
        case 21 where flip(): return fallback(model)
        case 21: return surface()
        case 22:
            return flip()
                ? .insertReceipt(
                    ReceiptRecord(
                        outbox: pick(["o1", "o2"]),
                        receipt: Receipt(at: moment(), kind: pick(ReceiptKind.allCases), status: made)))
                : .putChannel(
                    ChannelRecord(
                        name: pick(["hook", "x"]), circuit: [UInt8(made & 255)],
                        identity: maybe { "i\($0.made)" }, updatedAt: moment()))
        case 23:
            if flip() { return .recordVerdicts([verdict(), verdict()]) }
            let columns = FactColumns(job: maybe { $0.job() }, subject: "\(made)")
            return .append(NewEvent(Fact(pick(EventType.allCases), columns), at: moment()))
        case 24:
            if flip() {
                let ids = model.runs.all.map(\.id)
                return .removeRun(id: pick(ids.isEmpty ? ["none"] : ids))
            }
            // One row of each kind: which of two spans of one moment goes first is left open.
            return .removeHistory(before: moment(), limit: 1)
        default:
            if flip() { return .setFact(name: pick(["zone", "boot"]), value: maybe { "v\($0.made)" }) }
            let name = pick(["items", "outbox"])
            let stored = model.cursors[name, default: 0]
            return .moveConsumer(name: name, from: mostly(stored, or: 3), to: stored + 1)
        }
    }

    private mutating func fallback(_ model: ModelLedger) -> Change {
        let id = pick(model.outbox.map(\.id) + ["o1", "o2"])
        switch Int.random(in: 0..<3, using: &numbers) {
        case 0:
            return .insertOutboxAttempt(
                OutboxAttempt(
                    outbox: id, number: Int.random(in: 1...3, using: &numbers), at: moment(),
                    latency: maybe { .milliseconds($0.made) }, reason: pick(DeliveryReason.allCases),
                    status: maybe { $0.made }, error: "e\(made)", answer: maybe { "a\($0.made)" }))
        case 1:
            return .putFallback(
                FallbackRecord(
                    outbox: id, channel: pick(["hook", "x"]), dueAt: moment(), title: "t\(made)", text: "",
                    urgency: pick(Urgency.allCases)))
        default: return .removeFallback(outbox: id)
        }
    }

    private mutating func putJob(_ model: ModelLedger) -> Change {
        let name = job()
        let stored = model.jobs[name]?.revision
        let newest = model.specs[name]?.keys.max() ?? 0
        let revision = flip() ? newest + 1 : max(1, stored ?? newest)
        var record = JobRecord.sample(name, revision: revision, command: pick(["a", "b"]))
        record.place = maybe { "file:\($0.made)" }
        record.pause = maybe { Pause(since: $0.moment()) }
        record.since = moment()
        return .putJob(record, replacing: mostly(stored, or: 1))
    }

    private mutating func moveWatermark(_ model: ModelLedger) -> Change {
        let other = Watermark(decidedUntil: at(1), era: 9)
        let next = Watermark(decidedUntil: moment(), era: Int.random(in: 0...1, using: &numbers))
        return .moveWatermark(from: mostly(model.mark ?? other, or: other), to: next)
    }

    private mutating func recordSpan(_ model: ModelLedger) -> Change {
        let name = job()
        // As the decider does it: each span begins after all before it.
        let newest = model.spans.filter { $0.job == name }.map(\.last).max() ?? at(0)
        let again = model.spans.filter { $0.job == name }.last?.first
        let first = again.map { mostly(newest + .seconds(60), or: $0) } ?? newest + .seconds(60)
        let isAgain = first == again
        let count = Int.random(in: 1...3, using: &numbers)
        let last = isAgain ? first : first + .seconds(60 * Int64(count - 1))
        let span = SlotSpan(
            job: name, era: 0, first: first, last: last, count: count, state: pick([.skipped, .missed]),
            reason: pick([.overlap, .paused]))
        return .recordSpan(span, follows: isAgain ? nil : maybe { _ in newest })
    }

    private mutating func run() -> RunRecord {
        var run = RunRecord.sample(
            "r\(made)", job: job(), slot: Double(Int.random(in: 0..<40, using: &numbers)))
        run.state = pick([.queued, .queued, .queued, .scheduled, .running, .canceled])
        run.spec = maybe { .sample($0.job()) }
        run.isForced = flip()
        return run
    }

    private mutating func moveRun(_ model: ModelLedger) -> Change {
        let run = pick(model.runs.all + [.sample("none")])
        var move = RunMove(
            run: run.id, from: mostly([run.state], or: [.running, .completed]),
            attempt: mostly(run.attempt, or: 7), token: mostly(run.token, or: 5), to: pick(RunState.allCases),
            reason: maybe { $0.pick(RunReason.allCases) })
        move.nextAttempt = maybe { _ in run.attempt + 1 }
        move.notBefore = maybe { $0.moment() }
        move.startedAt = maybe { $0.moment() }
        move.endedAt = maybe { $0.moment() }
        move.exitCode = maybe { $0.made }
        move.signal = maybe { $0.made }
        move.queueDelay = maybe { .microseconds(Int64($0.made)) }
        move.outputBytes = maybe { Int64($0.made) }
        move.cpu = maybe { .microseconds(Int64($0.made)) }
        move.maxRssKb = maybe { Int64($0.made) }
        move.survivors = maybe { [LeftProcess(pid: Int32($0.made), name: "left")] }
        move.process = maybe { ProcessMark(pid: Int32($0.made), startTime: 1, boot: "b") }
        move.usage = maybe { $0.usage() }
        move.nextToken = maybe { _ in run.token + 1 }
        move.profile = maybe { RunProfile(total: Double($0.made) + 1) } ?? nil
        return .moveRun(move)
    }

    private mutating func word(_ model: ModelLedger) -> Change {
        let run = pick(model.runs.all.map(\.id) + ["none"])
        if flip() { return .askEnd(run: run, pick([.canceled, .replaced])) }
        let end = Fact.End(Fact.Run(job: "a", id: run, bot: "ops"), message: "\(made)")
        return .passOver(run: run, NewEvent(.runSkipped(end), at: moment()))
    }

    private mutating func verdict() -> VerdictRecord {
        VerdictRecord(
            event: Int64.random(in: 1...9, using: &numbers), channel: pick(["hook", "x"]),
            item: maybe { $0.pick(["job:a", "job:b"]) }, at: moment(),
            action: pick([.send, .hold, .suppress]),
            stage: pick(StageName.allCases), reason: "r\(made)", until: maybe { $0.moment() },
            rule: maybe { "silence \($0.made)" })
    }

    private mutating func putAttempt(_ model: ModelLedger) -> Change {
        var attempt = AttemptRecord(
            run: pick(model.runs.all.map(\.id) + ["none"]), n: Int.random(in: 1...3, using: &numbers),
            state: pick(RunState.allCases))
        attempt.reason = maybe { $0.pick(RunReason.allCases) }
        attempt.startedAt = maybe { $0.moment() }
        attempt.exitCode = maybe { $0.made }
        attempt.usage = maybe { $0.usage() }
        attempt.outputBytes = maybe { Int64($0.made) }
        return .putAttempt(attempt)
    }

    private mutating func usage() -> BotUsage {
        BotUsage(
            inputTokens: made, cachedTokens: made / 2, outputTokens: 3, costMicros: maybe { Int64($0.made) })
    }

    /// Sometimes the guard of the change fails: the silence is there, or has ended.
    private mutating func silence() -> Change {
        let id = pick(["s1", "s2", "s3"])
        if flip() { return .endSilence(id: id, at: moment()) }
        let texts = pick([["job=a"], ["host!=db1", "job=~a|b"]])
        let matchers = texts.compactMap { try? Matcher($0) }
        let silence = try? Silence(
            id: id, matchers: matchers, from: moment(), until: moment(), by: "u\(made)",
            note: maybe { "n\($0.made)" })
        return silence.map { .putSilence($0, endedBefore: moment()) } ?? .endSilence(id: id, at: moment())
    }

    private mutating func channelEntry() -> Change {
        let name = pick(["team", "pager"])
        if flip() { return .removeChannelEntry(name: name) }
        let settings = JSON.object(["kind": .string("k\(made)")])
        return .putChannelEntry(
            ChannelEntry(name: name, settings: settings, when: flip() ? ["failed", "test"] : []))
    }

    private mutating func putBot(_ model: ModelLedger) -> Change {
        let name = pick(["ops", "web"])
        let stored = model.ownBots[name]?.revision
        if let stored, flip() { return .removeBot(name: name, revision: mostly(stored, or: 7)) }
        var bot = BotEntry(name: name, settings: .object(["model": .string("m\(made)")]))
        bot.revision = (stored ?? 0) + 1
        return .putBot(bot, replacing: mostly(stored, or: 7))
    }

    private mutating func note() -> BotNote {
        var note = BotNote()
        note.status = maybe { _ in "offline" }
        note.since = maybe { $0.moment() }
        note.budgetLevel = made
        return note
    }

    private mutating func reply() -> BotReply {
        let outcomes: [BotReply.Outcome] = [
            .replied(first: maybe { _ in .milliseconds(5) }, whole: .seconds(1)), .canceled, .answered,
            .failed(pick([.auth, .silent]), maybe { "f\($0.made)" }),
        ]
        return BotReply(
            bot: pick(["ops", "web"]), month: pick(["2026-10", "2026-11"]), at: moment(),
            usage: maybe { $0.usage() }, outcome: pick(outcomes))
    }

    private mutating func saveLive(_ model: ModelLedger) -> Change {
        let id = pick(model.runs.all.map(\.id) + ["none"])
        var live = LiveState.sample(
            id, attempt: Int.random(in: 1...2, using: &numbers), seq: Int64.random(in: 1...5, using: &numbers)
        )
        live.message = "m\(made)"
        return .saveLive(run: id, live)
    }

    private mutating func message() -> MessageRecord {
        let id = "m\(Int.random(in: 0..<60, using: &numbers))"
        let text = pick(["hello", "HELLO there", "grüße"])
        var record = MessageRecord.sample(
            id, bot: pick(["ops", "web"]), thread: pick(["main", "b"]), text: text)
        record.message.at = moment()
        if flip() { record.message.author = .user }
        record.run = maybe { "r\($0.made)" }
        record.pinned = flip()
        return record
    }

    private mutating func question() -> Change {
        let id = "q\(Int.random(in: 0..<20, using: &numbers))"
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: return .closeQuestion(id: id, QuestionEnd(pick([.expired, .withdrawn]), at: moment()))
        case 4:
            let place = pick(["desk", QuestionEnd.byDefault, QuestionEnd.trust + "q1"])
            return .closeQuestion(id: id, QuestionEnd(answer: "yes", by: place, at: moment()))
        case 1: return .closeQuestion(id: id, QuestionEnd(answer: "a\(made)", by: "desk", at: moment()))
        case 2:
            return .putItem(
                ItemRecord(
                    key: .question(id), revision: 1, state: [UInt8(made & 255)], flushAt: nil,
                    updatedAt: moment()), replacing: nil)
        case 3:
            return .wantSurface(
                channel: pick(["desk", "tv"]), item: "question:\(id)", revision: 1, ring: flip(), at: moment()
            )
        default:
            var question = Question(
                id: id, bot: "ops", text: "t\(made)", choices: ["yes", "n\"o"], askedAt: moment())
            question.run = maybe { "a#\($0.made)" }
            question.takesText = flip()
            question.fallback = maybe { _ in "yes" }
            question.deadline = maybe { $0.moment() }
            question.graceUntil = maybe { $0.moment() }
            question.subject = maybe { $0.pick(["s1", "s2"]) }
            return .insertQuestion(QuestionRecord(question, run: maybe { "r\($0.made)" }))
        }
    }

    private mutating func talk() -> Change {
        let (bot, thread) = (pick(["ops", "web"]), pick(["main", "b"]))
        let id = "m\(Int.random(in: 0..<60, using: &numbers))"
        switch Int.random(in: 0..<7, using: &numbers) {
        case 5:
            return .keepSummary(
                "s\(made)", bot: bot, thread: thread, through: Int64.random(in: 1..<60, using: &numbers))
        case 0, 1:
            return .giveMessages(
                bot: bot, thread: thread, run: "r\(made)", through: Int64.random(in: 0..<60, using: &numbers),
                at: moment())
        case 2: return .answerMessages(bot: bot, thread: thread)
        case 3:
            return flip()
                ? .beginSession(bot: bot)
                : .insertAttachment(
                    message: id, AttachmentNote(name: "a", bytes: 1), [UInt8(made & 255)])
        case 4:
            let session = Continuation(provider: "claude", id: "s\(made)")
            return .keepSession(flip() ? .kept(session) : .lost, bot: bot, thread: thread)
        default: return .react(ReactionRecord(message: id, word: pick(["ok", "no"]), at: moment()))
        }
    }

    private mutating func putItem(_ model: ModelLedger) -> Change {
        let key = pick([ItemKey.job("a"), .job("b"), .thread(bot: "ops", thread: "main")])
        let stored = model.items[key]?.revision
        let item = ItemRecord(
            key: key, revision: (stored ?? 0) + 1, state: [UInt8(made & 255)], flushAt: maybe { $0.moment() },
            updatedAt: moment())
        return .putItem(item, replacing: mostly(stored, or: 1))
    }

    private mutating func entry() -> OutboxRecord {
        let number = Int.random(in: 0..<40, using: &numbers)
        var entry = OutboxRecord.sample("o\(made)", channel: pick(["hook", "x"]), cause: "event:\(number)")
        if made % 17 == 0 { entry.id = "o1" }
        entry.item = maybe { $0.pick(["job:a", "job:b"]) }
        entry.state = pick([.pending, .pending, .waiting, .held])
        entry.nextAt = moment()
        return entry
    }

    private mutating func moveOutbox(_ model: ModelLedger) -> Change {
        let entry = pick(model.outbox + [.sample("none")])
        var move = OutboxMove(
            id: entry.id, from: mostly(entry.state, or: .dead), attempts: mostly(entry.attempts, or: 9),
            to: pick(OutboxState.allCases), nextAttempts: entry.attempts + 1)
        move.nextAt = maybe { $0.moment() }
        move.lastError = maybe { "e\($0.made)" }
        move.status = maybe { $0.made }
        move.settledAt = maybe { $0.moment() }
        return .moveOutbox(move)
    }

    private mutating func moveLine(_ model: ModelLedger) -> Change {
        let channel = pick(["hook", "x"])
        if flip(), flip() { return .discardOutbox(channel: channel, at: moment()) }
        if flip(), flip() { return .supersedeHeld(item: pick(["job:a", "thread:ops/main"]), at: moment()) }
        if flip(), flip() { return .replayOutbox(channel: channel, since: moment(), at: moment()) }
        if flip() {
            return .parkOutbox(
                OutboxPark(channel: channel, expiring: moment(), reason: "r\(made)", at: moment()))
        }
        var release = OutboxRelease(
            channel: channel, reviving: flip() ? [.waiting] : [.waiting, .dead], at: moment())
        release.later = [pick(model.outbox.map(\.id) + ["none"]): maybe { $0.moment() }]
        release.newChannel = maybe { $0.pick(["hook", "x"]) }
        return .releaseOutbox(release)
    }

    private mutating func surface() -> Change {
        let (channel, item) = (pick(["desk", "tv"]), pick(["job:a", "job:b"]))
        let revision = Int64.random(in: 1...9, using: &numbers)
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0, 1, 2:
            return .wantSurface(channel: channel, item: item, revision: revision, ring: flip(), at: moment())
        case 3, 4:
            let remote = maybe { RemoteID(generation: $0.pick([":1", ":2"]), id: "\(item)-\(channel)") }
            return .showSurface(
                channel: channel, item: item, revision: revision, remote: remote, at: moment())
        case 5: return .dismissSurface(channel: channel, item: item, flip())
        case 6:
            return .refuseSurface(
                channel: channel, item: item, revision: revision, reason: maybe { _ in "no" })
        default: return .forgetRemotes(channel: channel)
        }
    }

    private mutating func job() -> String { pick(["a", "b", "c"]) }

    private mutating func moment() -> Moment { at(Double(Int.random(in: 0..<1000, using: &numbers))) }

    private mutating func flip() -> Bool { Bool.random(using: &numbers) }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &numbers)]
    }

    private mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? {
        flip() ? make(&self) : nil
    }

    /// `value` nine times in ten.
    private mutating func mostly<Value>(_ value: Value, or other: Value) -> Value {
        Int.random(in: 0..<10, using: &numbers) > 0 ? value : other
    }
}

@Suite struct `a ledger beside the model` {
    private static let seeds: [UInt64] = [1, 2] + (0..<2).map { _ in UInt64.random(in: 0 ... .max) }

    @Test(arguments: LedgerBackend.available, seeds)
    func `answers and holds the same after every random list`(
        _ backend: LedgerBackend, seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        var ledger = try backend.open(in: folder)
        var model = ModelLedger()
        var changes = RandomChanges(seed: seed)
        var refused = 0
        for step in 0..<200 {
            let list = changes.list(for: model)
            let expected = model.commit(list)
            let outcome = await outcome(of: list, on: ledger)
            if case .failure = expected { refused += 1 }
            #expect(outcome == expected, "seed \(seed), list \(step): \(list)")
            if step % 50 == 49 {
                await ledger.close()
                ledger = try backend.open(in: folder)
            }
            let depth = step % 50 == 49 ? 9999 : 6
            let differences = try await Snapshot(of: ledger, asking: model, depth: depth)
                .differences(from: Snapshot(of: model, asking: model, depth: depth))
            #expect(differences == [], "seed \(seed), list \(step): \(list)")
            if outcome != expected || !differences.isEmpty { break }
        }
        await ledger.close()
        // Neither side of the guards may go untried.
        #expect((20...180).contains(refused), "seed \(seed)")
    }

    private func outcome(
        of list: [Change], on ledger: any Ledger
    ) async -> Result<Commit, ModelLedger.RefusedAt> {
        do {
            return .success(try await ledger.commit(list))
        } catch {
            guard case .fenced(let index, _) = error else {
                Issue.record("\(error)")
                return .failure(.init(index: -1))
            }
            return .failure(.init(index: index))
        }
    }
}
