package import Curl
import Delivery
import Host
package import Performing
package import Prompting
package import Timeline
import Tracking

/// Asks bots: each attempt is one reply, which is written to its output while it comes.
///
/// Works inside the daemon: a reply ends with it, and what came of it is kept.
package final class BotPerformer: TaskPerformer {
    package let attempts = OwnAttempts()
    private let curl: CurlMulti
    private let clock: any WallClock
    private let userAgent: String
    private let sizeNames = SizeNames()
    private let find: @Sendable (String) async throws(AttemptFault) -> BotInUse?

    /// A performer that asks the bots that `find` returns by their names, as they are at that moment; it throws where
    /// one must not be asked now.
    package init(
        curl: CurlMulti, clock: any WallClock, userAgent: String,
        find: @escaping @Sendable (String) async throws(AttemptFault) -> BotInUse?
    ) {
        self.curl = curl
        self.clock = clock
        self.userAgent = userAgent
        self.find = find
    }

    // MARK: Performer

    package func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else {
            return attempts.report(.refused(order.key, .badOrder, text: "a bot runs no programs"))
        }
        let start = clock.now
        attempts.begin(order.key, at: start) { [self] in await perform(prompt, since: start) }
    }

    // MARK: An attempt

    private func perform(_ order: PromptOrder, since start: Moment) async -> ExitRecord {
        let watch = clock.sinceBoot
        var record = ExitRecord(key: order.key, cause: .exited, startedAt: start, endedAt: start)
        do {
            let bot = try await bot(of: order)
            var file = try OutputFile(
                path: order.output.path, headBytes: order.output.headBytes,
                tailBytes: order.output.tailBytes)
            try await listen(to: bot, order, since: watch, &record, &file)
        } catch {
            record.fault = fault(of: error, order)
        }
        record.elapsed = clock.sinceBoot - watch
        record.endedAt = clock.now
        return record
    }

    /// The order's bot, ready to be called.
    private func bot(of order: PromptOrder) async throws(AttemptFault) -> (call: BotCall, backend: BotBackend)
    {
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
        guard let text = bot.secrets[BotInUse.key].first else {
            return (try call(order, BotEndpoint(bot: order.bot, backend)), backend)
        }
        guard let key = BotKey(text) else {
            throw AttemptFault(
                .auth, "\(order.bot): its key is empty or no key; check bots.\(order.bot).key")
        }
        return (try call(order, BotEndpoint(bot: order.bot, backend, key: key)), backend)
    }

    private func call(_ order: PromptOrder, _ endpoint: BotEndpoint) throws(AttemptFault) -> BotCall {
        do throws(ReplyFailure) {
            var timeouts = BotCall.Timeouts()
            if let timeout = order.timeout { timeouts.total = min(timeouts.total, timeout) }
            return try BotCall(
                endpoint, curl: curl, clock: clock, userAgent: userAgent, timeouts: timeouts,
                sizeNames: sizeNames)
        } catch {
            throw AttemptFault(error, at: endpoint.place)
        }
    }

    private func listen(
        to bot: (call: BotCall, backend: BotBackend), _ order: PromptOrder, since watch: Duration,
        _ record: inout ExitRecord, _ file: inout OutputFile
    ) async throws {
        var reply = ReplyProgress()
        // Also of a reply that is cut off or canceled: what came of it was used.
        defer {
            record.outputBytes = file.count
            record.outputTail = Array(reply.text.utf8.suffix(ExitRecord.tailLimit))
            record.usage = reply.usage.map { BotUsage($0, price: bot.backend.price) }
        }
        var failure: ReplyFailure?
        defer { if record.reply == nil, !reply.text.isEmpty { record.partialReply = reply.text } }
        var last = clock.sinceBoot - ReplyProgress.interval
        attempts.report(.progress(order.key, ReplyProgress.waiting))
        let memory = try MemoryFile.text(bot.backend.memory, of: order.bot)
        try await bot.call.ask(bot.backend.prompt(order.turns, memory: memory)) { event in
            if case .text(let piece) = event {
                file.append(Array(piece.utf8)[...])
                record.firstWord = record.firstWord ?? clock.sinceBoot - watch
            }
            switch event {
            case .failed(let reason): failure = reason
            case .finished(let end): failure = end.failure(hasOutput: !reply.text.isEmpty)
            default: break
            }
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
            record.fault = AttemptFault(failure, at: bot.call.endpoint.place)
        } else {
            record.exitCode = 0
            record.reply = reply.text
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
    static func text(_ path: String?, of bot: String) throws(AttemptFault) -> String? {
        guard let path else { return nil }
        do throws(HostError) {
            return try SmallFile.text(path, limit: limit, mayBeLink: false)
        } catch {
            throw AttemptFault(
                .botUnavailable, "\(bot): its memory can't be read: \(error); check bots.\(bot).memory")
        }
    }
}

extension PromptOrder {
    /// The conversation as a provider is asked it.
    fileprivate var turns: [Turn] {
        earlier.map { Turn($0.isOfBot ? .assistant : .user, $0.text) } + [Turn(.user, text)]
    }
}

extension AttemptFault {
    /// What a failure of a provider means for the attempt.
    init(_ failure: ReplyFailure, at place: ReplyFailure.Place) {
        let hint = failure.hint(at: place).map { "; \($0)" } ?? ""
        self.init(RunReason(failure), failure.sentence(at: place) + hint)
        if case .endedEarly = failure.kind { isOfReply = true }
        switch failure.retry {
        case .never: break
        case .soon: mayPass = true
        case .after(let wait): (mayPass, self.wait) = (true, wait)
        }
    }
}

extension RunReason {
    /// The reason of a run that ended with this failure.
    fileprivate init(_ failure: ReplyFailure) {
        self =
            switch failure.kind {
            case .auth: .auth
            case .model: .model
            case .address, .network, .refusedAddress: .botUnavailable
            case .badRequest: .badRequest
            case .promptTooLong: .promptTooLong
            case .budget: .budget
            case .rateLimited: .rateLimited
            case .overloaded: .overloaded
            case .server: .providerFailed
            case .silent: .silent
            case .deadline: .timeout
            case .truncated: .truncated
            case .malformed: .malformed
            case .replyTooLong: .replyTooLong
            case .refused: .refused
            case .endedEarly: .truncated
            case .program(exit: nil): .signal
            case .program: .exitCode
            }
    }
}
