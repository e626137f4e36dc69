package import Curl
import Delivery
import Host
package import Performing
package import Prompting
import Synchronization
package import Timeline
import Tracking

/// Asks bots: each attempt is one reply, which is written to its output while it comes.
///
/// Works inside the daemon: a reply ends with it, and what came of it is kept. One in which tools were called goes on when
/// the next daemon connects, from the last call on.
package final class BotPerformer: TaskPerformer {
    package let attempts = OwnAttempts()
    private let curl: CurlMulti
    private let clock: any WallClock
    private let userAgent: String
    private let sizeNames = SizeNames()
    private let tools: BotTools
    /// How far the replies are in which tools are called; nil: nobody keeps that.
    private let notes: AttemptNotes<LoopNote>?
    private let known: Mutex<[RunKey: LoopNote]>
    /// The attempts of an earlier daemon that can't go on, and why.
    package let unreadable: [RunKey: String]
    private let find: @Sendable (String) async throws(AttemptFault) -> BotInUse?

    /// A performer that asks the bots that `find` returns by their names, as they are at that moment; it throws where
    /// one must not be asked now; they may call `tools`.
    ///
    /// In `folder` it keeps what it must know of replies in which tools are called.
    /// - Throws: a `HostError` where that folder can't be read.
    package init(
        curl: CurlMulti, clock: any WallClock, userAgent: String, tools: BotTools = .none,
        folder: String? = nil,
        find: @escaping @Sendable (String) async throws(AttemptFault) -> BotInUse?
    ) throws {
        notes = folder.map { AttemptNotes(folder: $0, limit: LoopNote.limit) }
        let recalled = try notes?.all()
        known = Mutex(recalled?.readable ?? [:])
        unreadable = recalled?.unreadable ?? [:]
        self.curl = curl
        self.clock = clock
        self.userAgent = userAgent
        self.tools = tools
        self.find = find
    }

    // MARK: Performer

    package func connect() async throws -> Int32? {
        for note in known.withLock({ Array($0.values) }) { resume(note) }
        attempts.reportAll()
        return nil
    }

    package func holds(_ key: RunKey) -> Bool { known.withLock { $0[key] != nil } }

    package func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else {
            return attempts.report(.refused(order.key, .badOrder, text: "a bot runs no programs"))
        }
        if let note = known.withLock({ $0[prompt.key] }) { return resume(note) }
        let start = clock.now
        attempts.begin(order.key, at: start) { [self] in
            await perform(LoopNote(order: prompt, start: start), since: clock.sinceBoot)
        }
    }

    package func acknowledge(_ key: RunKey) {
        attempts.acknowledge(key)
        guard known.withLock({ $0.removeValue(forKey: key) }) != nil else { return }
        notes?.remove(key)
    }

    /// Goes on with an attempt of an earlier daemon, or of an earlier connection.
    private func resume(_ note: LoopNote) {
        attempts.begin(note.order.key, at: note.start) { [self] in
            await perform(note, since: clock.sinceBoot - max(clock.now - note.start, .zero))
        }
    }

    private func keep(_ note: LoopNote) throws(AttemptFault) {
        guard let notes else { return }
        let key = note.order.key
        do throws(HostError) {
            try notes.keep(note, of: key, isDurable: true)
        } catch {
            throw AttemptFault(
                .spawnFailed, "\(note.order.bot): the reply can't be kept: \(error)", mayPass: false)
        }
        known.withLock { $0[key] = note }
    }

    // MARK: An attempt

    private func perform(_ note: LoopNote, since watch: Duration) async -> ExitRecord {
        let (order, start) = (note.order, note.start)
        var record = ExitRecord(key: order.key, cause: .exited, startedAt: start, endedAt: start)
        do {
            let bot = try await bot(of: order)
            var note = note
            if note.model != bot.model { note.state.forgetThinking() }
            note.model = bot.model
            var file = try OutputFile(
                path: order.output.path, headBytes: order.output.headBytes,
                tailBytes: order.output.tailBytes)
            try await listen(to: bot, note, since: watch, &record, &file)
        } catch {
            record.fault = fault(of: error, order)
            if record.fault?.reason == .timeout { record.cause = .timeout }
        }
        record.elapsed = clock.sinceBoot - watch
        record.endedAt = clock.now
        return record
    }

    /// A bot that is asked.
    struct Asked {
        var endpoint: BotEndpoint
        /// The most turns of its reply, where it may call tools; nil: it may call none.
        var maxTurns: Int?
        /// Whether it may write its memory, which then need not be there.
        var keepsMemory = false
        var backend: BotBackend { endpoint.backend }
        /// Its provider and model: what one of them writes for itself, no other one reads.
        var model: String { "\(backend.dialect.rawValue) \(endpoint.reach.url.host) \(backend.model)" }
    }

    /// The order's bot, ready to be called.
    private func bot(of order: PromptOrder) async throws(AttemptFault) -> Asked {
        func refused(_ text: String) -> AttemptFault {
            AttemptFault(.botUnavailable, "\(order.bot): \(text)", wasTried: false)
        }
        guard let bot = try await find(order.bot) else {
            throw refused("no such bot; describe it under bots:")
        }
        if let fault = bot.fault { throw refused(fault) }
        guard let backend = bot.backend else {
            throw refused("it has no provider; set bots.\(order.bot).backend")
        }
        let maxTurns = bot.hasTools ? bot.maxTurns : nil
        var asked = Asked(endpoint: BotEndpoint(bot: order.bot, backend), maxTurns: maxTurns)
        asked.keepsMemory = bot.keepsMemory
        guard let text = bot.secrets[BotInUse.key].first else { return asked }
        guard let key = BotKey(text) else {
            throw AttemptFault(
                .auth, "\(order.bot): its key is empty or no key; check bots.\(order.bot).key")
        }
        asked.endpoint = BotEndpoint(bot: order.bot, backend, key: key)
        return asked
    }

    /// A call of the provider, after so much of the attempt's time was spent.
    func call(
        _ order: PromptOrder, _ endpoint: BotEndpoint, spent: Duration = .zero
    ) throws(AttemptFault) -> BotCall {
        do throws(ReplyFailure) {
            var timeouts = BotCall.Timeouts()
            if let timeout = order.timeout { timeouts.total = min(timeouts.total, timeout) }
            timeouts.total = max(timeouts.total - spent, .milliseconds(1))
            return try BotCall(
                endpoint, curl: curl, clock: clock, userAgent: userAgent, timeouts: timeouts,
                sizeNames: sizeNames)
        } catch {
            throw AttemptFault(error, at: endpoint.place)
        }
    }

    /// How much of the order's time has passed: a job's is that of the whole reply, with tools and a summary; else each
    /// request has its own.
    func spent(of order: PromptOrder, since watch: Duration) -> Duration {
        order.timeout == nil ? .zero : clock.sinceBoot - watch
    }

    /// Asks the bot, in turns where it may call tools.
    private func ask(
        _ bot: Asked, _ prompt: Prompt, _ note: LoopNote, since watch: Duration,
        _ report: (ReplyEvent) -> Void
    ) async throws {
        let order = note.order
        guard let maxTurns = bot.maxTurns else {
            return try await call(order, bot.endpoint, spent: spent(of: order, since: watch))
                .ask(prompt, report)
        }
        var prompt = prompt
        prompt.tools = await tools.offered(order.bot)
        var loop = ToolLoop(maxTurns: maxTurns) { prompt, _, report in
            try await self.call(order, bot.endpoint, spent: self.spent(of: order, since: watch))
                .ask(prompt, report)
        } perform: { call in
            try await self.perform(call, of: order, since: watch)
        }
        loop.isRepeatable = tools.isRepeatable
        loop.keep = { state in
            var kept = note
            kept.state = state
            try self.keep(kept)
        }
        try await loop.run(prompt, from: note.state, report)
    }

    /// Performs a call within what is left of the order's time.
    ///
    /// - Throws: an `AttemptFault` at the end of that time; the call has ended then, too.
    private func perform(
        _ call: ToolCall, of order: PromptOrder, since watch: Duration
    ) async throws(AttemptFault) -> ToolAnswer {
        guard let timeout = order.timeout else { return await tools.perform(call, order.bot, order.key) }
        let end = watch + timeout
        let answer = await withTaskGroup(of: ToolAnswer?.self) { [tools, clock] group in
            group.addTask { await tools.perform(call, order.bot, order.key) }
            group.addTask {
                // A clock that was set ends a sleep early.
                while clock.sinceBoot < end, !Task.isCancelled {
                    try? await clock.sleep(until: clock.now + (end - clock.sinceBoot))
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let answer { return answer }
        guard !Task.isCancelled else { return ToolAnswer("canceled", isError: true) }
        let tool = CleanText.line(call.name, limit: 60)
        throw AttemptFault(
            .timeout, "\(order.bot): the tool \(tool) had not ended when the time of its job was over")
    }

    private func listen(
        to bot: Asked, _ note: LoopNote, since watch: Duration,
        _ record: inout ExitRecord, _ file: inout OutputFile
    ) async throws {
        var (note, order) = (note, note.order)
        var reply = ReplyProgress()
        // Its provider, or a proxy before it, may repeat the key.
        let hidden = HiddenTexts(bot.endpoint.key.map { [$0.text] } ?? [])
        var shown = HidingStream(hidden)
        // Also of a reply that is cut off or canceled: what came of it was used.
        defer {
            file.append(shown.finish()[...])
            record.outputBytes = file.count
            record.outputTail = Array(hidden.hide(in: reply.text).utf8.suffix(ExitRecord.tailLimit))
            let usage = (reply.usage ?? TokenUsage()) + note.summaryUsage
            record.usage =
                usage == TokenUsage() && reply.usage == nil ? nil : BotUsage(usage, price: bot.backend.price)
            record.summary = note.summary.map { TalkSummary(hidden.hide(in: $0.text), through: $0.through) }
        }
        var failure: ReplyFailure?
        defer {
            if record.reply == nil, !reply.text.isEmpty { record.partialReply = hidden.hide(in: reply.text) }
        }
        try await summarize(bot, &note, since: watch)
        order = note.order
        var last = clock.sinceBoot - ReplyProgress.interval
        attempts.report(.progress(order.key, ReplyProgress.waiting))
        let memory = try MemoryFile.text(
            bot.backend.memory, of: order.bot, mayBeMissing: bot.keepsMemory)
        let prompt = bot.backend.prompt(order.turns, memory: memory)
        try await ask(bot, prompt, note, since: watch) { event in
            if case .text(let piece) = event {
                file.append(shown.hide(Array(piece.utf8))[...])
                record.firstWord = record.firstWord ?? clock.sinceBoot - watch
            }
            failure = event.failure(hasOutput: !reply.text.isEmpty) ?? failure
            let isNewPhase = reply.note(event)
            let now = clock.sinceBoot
            guard isNewPhase || now - last >= ReplyProgress.interval else { return }
            last = now
            if let progress = reply.report { attempts.report(.progress(order.key, progress)) }
        }
        // The last words may have come since the last one.
        if let progress = reply.report { attempts.report(.progress(order.key, progress)) }
        if let failure {
            if case .deadline = failure.kind, order.timeout != nil { record.cause = .timeout }
            record.fault = AttemptFault(failure, at: bot.endpoint.place)
        } else {
            record.exitCode = 0
            record.reply = hidden.hide(in: reply.text)
        }
    }

    private func fault(of error: any Error, _ order: PromptOrder) -> AttemptFault? {
        switch error {
        case let fault as AttemptFault: fault
        case is CancellationError: nil
        default: AttemptFault(.spawnFailed, "\(order.bot): the reply can't be kept: \(error)", mayPass: true)
        }
    }
}

extension MemoryFile {
    /// What the file at `path` says; nil: the bot has none.
    ///
    /// Others may write in its folder, and a link put in its place would show any file to the provider.
    static func text(
        _ path: String?, of bot: String, mayBeMissing: Bool = false
    ) throws(AttemptFault) -> String? {
        guard let path else { return nil }
        do throws(HostError) {
            return try SmallFile.text(path, limit: limit, mayBeLink: false)
        } catch  where mayBeMissing && error.isMissing {
            return nil
        } catch {
            throw AttemptFault(
                .botUnavailable, "\(bot): its memory can't be read: \(error); check bots.\(bot).memory")
        }
    }
}

extension PromptOrder {
    /// The conversation as a provider is asked it.
    fileprivate var turns: [SpokenTurn] {
        SummaryText.leading(summary, earlier.map(SpokenTurn.init) + [SpokenTurn(.user, text)])
    }
}

extension SpokenTurn {
    /// What one side said before.
    init(_ turn: EarlierTurn) { self.init(turn.isOfBot ? .assistant : .user, turn.text) }
}

extension BotPerformer {
    /// Has the bot summarize what it will no longer be shown, where its order names something; the note then has the summary,
    /// and orders no other.
    ///
    /// - Throws: an `AttemptFault` where another attempt may have one. Without a summary that the bot will not write either, it
    ///   is asked all the same: what was said long ago is left out then.
    func summarize(_ bot: Asked, _ note: inout LoopNote, since watch: Duration) async throws {
        guard let older = note.order.older else { return }
        let key = note.order.key
        attempts.report(.progress(key, ProgressReport(phase: "summarizing what was said before")))
        let turns =
            SummaryText.leading(note.order.summary, older.turns.map(SpokenTurn.init))
            + [SpokenTurn(.user, SummaryText.request)]
        var (reply, failure) = (ReplyProgress(), ReplyFailure?.none)
        try await call(note.order, bot.endpoint, spent: spent(of: note.order, since: watch))
            .ask(bot.backend.prompt(turns)) { event in
                failure = event.failure(hasOutput: !reply.text.isEmpty) ?? failure
                _ = reply.note(event)
            }
        note.summaryUsage = reply.usage ?? TokenUsage()
        note.order.older = nil
        switch failure?.kind {
        case nil, .endedEarly: break
        default:
            guard let failure, failure.retry != .never else { return }
            throw AttemptFault(failure, at: bot.endpoint.place)
        }
        guard let text = SummaryText.kept(of: reply.text) else { return }
        note.order.summary = text
        note.summary = TalkSummary(text, through: older.through)
    }
}
