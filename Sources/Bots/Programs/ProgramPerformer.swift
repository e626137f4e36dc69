import Delivery
import Host
package import Performing
package import Prompting
import Synchronization
package import Timeline
import Tracking

/// Asks bots that are programs: another performer, the warden, runs them, and what they print becomes their replies.
///
/// Everything else passes through it unchanged. A program outlives the daemon: the next one reads its reply again from
/// the beginning of its log.
package final class ProgramPerformer: Performer {
    private struct State {
        var replies: [RunKey: ProgramReply] = [:]
        /// Attempts of an earlier daemon that nobody has reported yet.
        var recalled: Set<RunKey> = []
        /// Attempts that could not be ordered, until they are acknowledged.
        var faults: [RunKey: ExitRecord] = [:]
        var events: [PerformerEvent] = []
    }

    package let survivesTheDaemon = true
    private let base: any Performer
    private let notes: ReplyNotes
    private let clock: any WallClock
    private let home: String?
    private let find: @Sendable (String) -> BotInUse?
    private let state = Mutex(State())
    private let (arrivals, arrived) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let relay: Task<Void, Never>

    /// A performer that has `base` run the programs of the bots that `find` returns by their names.
    ///
    /// In `folder` it keeps what it must know of attempts under way; `home` is the home folder of those programs.
    package init(
        over base: any Performer, folder: String, clock: any WallClock, home: String?,
        find: @escaping @Sendable (String) -> BotInUse?
    ) {
        self.base = base
        notes = ReplyNotes(folder: folder)
        self.clock = clock
        self.home = home
        self.find = find
        let recalled = notes.all()
        relay = Task { [arrived] in
            while await base.waitForEvents() { arrived.yield() }
            arrived.finish()
        }
        state.withLock { state in
            state.replies = recalled.mapValues { ProgramReply($0) }
            state.recalled = Set(recalled.keys)
        }
    }

    deinit { relay.cancel() }

    // MARK: Performer

    package func connect() async throws -> Int32? { try await base.connect() }

    package func holds(_ key: RunKey) -> Bool { state.withLock { $0.replies[key] != nil } }

    package func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else { return base.start(order) }
        do throws(AttemptFault) {
            let (process, note) = try make(prompt)
            // One that is known runs as it was ordered first.
            if !holds(prompt.key) {
                do throws(HostError) {
                    try notes.keep(note, of: prompt.key)
                } catch {
                    let text = "\(prompt.bot): the prompt can't be kept: \(error)"
                    return report(.refused(prompt.key, .badOutput, text: text))
                }
                state.withLock { $0.replies[prompt.key] = ProgramReply(note) }
            }
            state.withLock { _ = $0.recalled.remove(prompt.key) }
            base.start(.process(process))
        } catch {
            var record = ExitRecord(
                key: prompt.key, cause: .exited, startedAt: clock.now, endedAt: clock.now)
            record.fault = error
            state.withLock { $0.faults[prompt.key] = record }
            report(.started(prompt.key, process: nil, at: record.startedAt))
            report(.ended(record))
        }
    }

    package func cancel(_ key: RunKey, reason: String) {
        if !reportFault(of: key) { base.cancel(key, reason: reason) }
    }

    package func ask(_ key: RunKey) {
        if !reportFault(of: key) { base.ask(key) }
    }

    package func acknowledge(_ key: RunKey) {
        forget(key)
        if state.withLock({ $0.faults.removeValue(forKey: key) }) == nil { base.acknowledge(key) }
    }

    package func waitForEvents() async -> Bool {
        for await _ in arrivals { return true }
        return false
    }

    package func takeEvents() -> [PerformerEvent] {
        let arrived = base.takeEvents()
        // What replies report comes after the start of their attempts, and is never older than it.
        let passed = arrived.compactMap { pass($0) }
        return state.withLock { state in
            defer { state.events = [] }
            return passed + state.events
        }
    }

    // MARK: Events of the programs

    /// What the event means for whoever asked; nil: nothing now.
    private func pass(_ event: PerformerEvent) -> PerformerEvent? {
        switch event {
        case .started(let key, _, _): begin(key)
        case .output(let key, _, _):
            guard let reply = reply(of: key) else { break }
            reply.printed()
            return nil
        case .ended(let exit):
            guard let reply = reply(of: exit.key) else { break }
            if let record = reply.record { return .ended(record) }
            begin(exit.key)
            reply.ended(exit)
            return nil
        case .refused(let key, let refusal, let text):
            guard let reply = reply(of: key) else { break }
            forget(key)
            let bot = reply.note.bot
            let hint = refusal == .notFound ? "; install it, or set bots.\(bot).command" : ""
            return .refused(key, refusal, text: "\(bot): \(MissingProgram.headline(of: text))\(hint)")
        case .unknown(let key): forget(key)
        case .caughtUp:
            // Nobody performs them any more: they ended, or were never ordered.
            for key in state.withLock({ $0.recalled }) { forget(key) }
        case .report, .progress, .notify, .inputTaken, .disconnected: break
        }
        return event
    }

    private func reply(of key: RunKey) -> ProgramReply? { state.withLock { $0.replies[key] } }

    private func begin(_ key: RunKey) {
        guard let reply = reply(of: key) else { return }
        state.withLock { _ = $0.recalled.remove(key) }
        let secret = find(reply.note.bot)?.secrets[BotInUse.key].first.flatMap { BotKey($0) }
        reply.begin(key, clock: clock, secret: secret) { [weak self] in self?.report($0) }
    }

    private func forget(_ key: RunKey) {
        let reply = state.withLock { state in
            state.recalled.remove(key)
            return state.replies.removeValue(forKey: key)
        }
        guard let reply else { return }
        reply.stop()
        notes.remove(key)
    }

    private func reportFault(of key: RunKey) -> Bool {
        guard let record = state.withLock({ $0.faults[key] }) else { return false }
        report(.ended(record))
        return true
    }

    private func report(_ event: PerformerEvent) {
        state.withLock { state in
            if case .progress(let key, _) = event, case .progress(key, _)? = state.events.last {
                state.events.removeLast()
            }
            state.events.append(event)
        }
        arrived.yield()
    }

    // MARK: Orders

    /// How long a program may take where its job has no timeout.
    private static let patience = Duration.seconds(1800)

    private func make(_ prompt: PromptOrder) throws(AttemptFault) -> (ProcessOrder, ReplyNote) {
        guard let bot = find(prompt.bot), let program = bot.program else {
            throw AttemptFault(
                .botUnavailable, "\(prompt.bot): its backend is no program any more; run it again",
                mayPass: true)
        }
        if let fault = bot.fault { throw AttemptFault(.botUnavailable, "\(prompt.bot): \(fault)") }
        let note = ReplyNote(
            bot: prompt.bot, program: program.name, dialect: program.dialect, output: prompt.output)
        let path = prompt.output.path
        var order = prompt.program ?? ProcessOrder(key: prompt.key, work: .command([]), output: prompt.output)
        let call = program.call(prompt.conversation, home: home, folder: order.folder)
        order.work = .command(call.words)
        order.stdin = call.input.map { .text(Array($0.utf8)) } ?? .none
        order.timeout = prompt.timeout ?? Self.patience
        order.output = ProcessOrder.Output(path: path + ReplyFiles.printed, headBytes: ReplyReading.limit)
        order.errorPath = path + ReplyFiles.errors
        order.inherited = program.variables
        order.pty = nil
        if let name = program.dialect.keyVariable, let key = bot.secrets[BotInUse.key].first {
            order.environment[name] = key
        }
        return (order, note)
    }
}

extension PromptOrder {
    /// What was said before and what is asked now, as one text: each call of a program begins a new session.
    fileprivate var conversation: String {
        guard !earlier.isEmpty else { return text }
        let said = earlier.map { ($0.isOfBot ? "You: " : "Person: ") + $0.text }
        return (["This was said before:"] + said + ["Reply to this:", text]).joined(separator: "\n\n")
    }
}
