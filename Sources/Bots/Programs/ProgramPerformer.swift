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
    /// An attempt whose bot is being looked up, and what was asked of it meanwhile.
    private struct Pending {
        var task: Task<Void, Never>
        var isAsked = false
        var cancelReason: String?
    }

    private struct State {
        var pending: [RunKey: Pending] = [:]
        var replies: [RunKey: ProgramReply] = [:]
        /// Attempts of an earlier daemon that nobody has reported yet.
        var recalled: Set<RunKey> = []
        /// Attempts of an earlier daemon that are a bot's, and of which no more is known, because of this.
        var unreadable: [RunKey: String] = [:]
        /// Attempts that ended before they were ordered, until they are acknowledged.
        var faults: [RunKey: ExitRecord] = [:]
        var events: [PerformerEvent] = []
    }

    package let survivesTheDaemon = true
    /// The attempts of an earlier daemon whose replies can't be read, and why: they fail when they end.
    package let unreadable: [RunKey: String]
    private let base: any Performer
    private let notes: AttemptNotes<ReplyNote>
    private let clock: any WallClock
    private let home: String?
    private let toolServer: @Sendable (_ bot: String, _ run: String) async -> ToolServer?
    private let find: @Sendable (String) -> BotInUse?
    private let admit: @Sendable (String) async throws(AttemptFault) -> Void
    private let state = Mutex(State())
    private let (arrivals, arrived) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let relay: Task<Void, Never>

    /// A performer that has `base` run the programs of the bots that `find` returns by their names; `admit` throws where
    /// one must not be asked now.
    ///
    /// In `folder` it keeps what it must know of attempts under way; `home` is the home folder of those programs, and
    /// `toolServer` serves the tools of a bot in a run of it.
    ///
    /// - Throws: a `HostError` where that folder can't be read.
    package init(
        over base: any Performer, folder: String, clock: any WallClock, home: String?,
        find: @escaping @Sendable (String) -> BotInUse?,
        toolServer: @escaping @Sendable (_ bot: String, _ run: String) async -> ToolServer? = { _, _ in nil },
        admit: @escaping @Sendable (String) async throws(AttemptFault) -> Void = { _ in }
    ) throws {
        self.base = base
        notes = AttemptNotes(folder: folder)
        self.clock = clock
        self.home = home
        self.toolServer = toolServer
        self.find = find
        self.admit = admit
        let recalled = try notes.all()
        unreadable = recalled.unreadable
        relay = Task { [arrived] in
            while await base.waitForEvents() { arrived.yield() }
            arrived.finish()
        }
        state.withLock { state in
            state.replies = recalled.readable.mapValues { ProgramReply($0) }
            state.unreadable = recalled.unreadable
            state.recalled = Set(recalled.readable.keys).union(recalled.unreadable.keys)
        }
    }

    deinit {
        relay.cancel()
        for pending in state.withLock(\.pending).values { pending.task.cancel() }
    }

    // MARK: Performer

    package func connect() async throws -> Int32? { try await base.connect() }

    package func holds(_ key: RunKey) -> Bool {
        state.withLock { $0.replies[key] != nil || $0.unreadable[key] != nil }
    }

    package func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else { return base.start(order) }
        state.withLock { state in
            guard state.pending[prompt.key] == nil else { return }
            state.pending[prompt.key] = Pending(task: Task { [weak self] in await self?.perform(prompt) })
        }
    }

    package func cancel(_ key: RunKey, reason: String) {
        let isPending = state.withLock { state in
            state.pending[key]?.cancelReason = reason
            return state.pending[key] != nil
        }
        if !isPending, !reportFault(of: key) { base.cancel(key, reason: reason) }
    }

    package func ask(_ key: RunKey) {
        let isPending = state.withLock { state in
            state.pending[key]?.isAsked = true
            return state.pending[key] != nil
        }
        if !isPending, !reportFault(of: key) { base.ask(key) }
    }

    package func pauses(_ key: RunKey) -> Bool { base.pauses(key) }

    package func pause(_ key: RunKey) { base.pause(key) }

    package func resume(_ key: RunKey) { base.resume(key) }

    package func acknowledge(_ key: RunKey) {
        if let reply = reply(of: key) { ReplyFiles.settle(besides: reply.note.output.path) }
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
            if unreadable(key) != nil { return nil }
            guard let reply = reply(of: key) else { break }
            reply.printed()
            return nil
        case .ended(let exit):
            if let why = unreadable(exit.key) { return .ended(exit.malformed(why)) }
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

    /// Why nothing is known of the attempt but that it is a bot's; nil: that is not so.
    private func unreadable(_ key: RunKey) -> String? {
        state.withLock { state in
            guard let why = state.unreadable[key] else { return nil }
            state.recalled.remove(key)
            return why
        }
    }

    private func begin(_ key: RunKey) {
        guard let reply = reply(of: key) else {
            _ = unreadable(key)
            return
        }
        state.withLock { _ = $0.recalled.remove(key) }
        let hidden = HiddenTexts(find(reply.note.bot)?.secrets[BotInUse.key] ?? [])
        reply.begin(key, clock: clock, hiding: hidden) { [weak self] in self?.report($0) }
    }

    private func forget(_ key: RunKey) {
        let (reply, why) = state.withLock { state in
            state.recalled.remove(key)
            return (state.replies.removeValue(forKey: key), state.unreadable.removeValue(forKey: key))
        }
        guard reply != nil || why != nil else { return }
        reply?.stop()
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
    private static let standardTimeout = Duration.seconds(1800)

    /// Orders the program of the prompt's bot, or reports why that can't be; then does what was asked meanwhile.
    private func perform(_ prompt: PromptOrder) async {
        let start = clock.now
        var record = ExitRecord(key: prompt.key, cause: .exited, startedAt: start, endedAt: start)
        do throws(AttemptFault) {
            try await admit(prompt.bot)
            let server = await toolServer(prompt.bot, prompt.key.run)
            let (process, note) = try make(prompt, server)
            if let reason = state.withLock({ $0.pending[prompt.key]?.cancelReason }) {
                (record.cause, record.cancelReason) = (.canceled, reason)
                end(record)
            } else {
                order(process, note)
            }
        } catch {
            record.fault = error
            end(record)
        }
        guard let pending = state.withLock({ $0.pending.removeValue(forKey: prompt.key) }) else { return }
        if let reason = pending.cancelReason {
            cancel(prompt.key, reason: reason)
        } else if pending.isAsked {
            ask(prompt.key)
        }
    }

    /// The attempt ended before it was ordered.
    private func end(_ record: ExitRecord) {
        state.withLock { $0.faults[record.key] = record }
        report(.started(record.key, process: nil, at: record.startedAt))
        report(.ended(record))
    }

    private func order(_ process: ProcessOrder, _ note: ReplyNote) {
        let key = process.key
        // One that is known runs as it was ordered first.
        if !holds(key) {
            do throws(HostError) {
                try notes.keep(note, of: key)
            } catch {
                let text = "\(note.bot): the prompt can't be kept: \(error)"
                return report(.refused(key, .badOutput, text: text))
            }
            state.withLock { $0.replies[key] = ProgramReply(note) }
        }
        state.withLock { _ = $0.recalled.remove(key) }
        base.start(.process(process))
    }

    private func make(_ prompt: PromptOrder, _ server: ToolServer?) throws(AttemptFault) -> (
        ProcessOrder, ReplyNote
    ) {
        guard let bot = find(prompt.bot), let program = bot.program else {
            throw AttemptFault(
                .botUnavailable, "\(prompt.bot): its backend is no longer a program; repeat the run",
                mayPass: true)
        }
        if let fault = bot.fault { throw AttemptFault(.botUnavailable, "\(prompt.bot): \(fault)") }
        try program.sandbox?.requireNoLinks(of: prompt.bot)
        var note = ReplyNote(
            bot: prompt.bot, program: program.name, dialect: program.dialect, output: prompt.output)
        note.price = program.price
        note.isReadLive = prompt.isReadLive
        note.keepsSession = program.sessionProvider(home: home) != nil
        let session = prompt.session.flatMap { $0.isSafe ? $0 : nil }
        note.session = note.keepsSession || prompt.goesOn ? session : nil
        let goesOn = prompt.goesOn && note.session?.provider == program.dialect.rawValue
        let path = prompt.output.path
        var order = prompt.program ?? ProcessOrder(key: prompt.key, work: .command([]), output: prompt.output)
        let call = program.call(
            prompt.conversation, home: home, folder: order.folder, session: note.session,
            memory: try MemoryFile.text(
                program.memory, of: prompt.bot, mayBeMissing: bot.keepsMemory),
            // The daemon is not to be reached from a sandbox: what reaches it may do all that its user may.
            tools: program.sandbox == nil ? server : nil, goesOn: goesOn)
        if note.mayPark { order.environment[ParkingHook.variable] = "1" }
        order.run(call, of: program, bot)
        order.timeout = prompt.timeout ?? Self.standardTimeout
        order.output = ProcessOrder.Output(path: path + ReplyFiles.printed, headBytes: ReplyReading.limit)
        order.errorPath = path + ReplyFiles.errors
        return (order, note)
    }
}

extension ProcessOrder {
    /// Runs a bot's program: what it is called with, its key, and the variables that it gets.
    mutating func run(_ call: BotProgram.Call, of program: BotProgram, _ bot: BotInUse) {
        work = .command(call.words)
        stdin = call.input.map { .text(Array($0.utf8)) } ?? .none
        inherited = program.variables
        pty = nil
        if let name = program.dialect.keyVariable, let key = bot.secrets[BotInUse.key].first {
            environment[name] = key
        }
    }
}

/// What lets a program's own hook put a call off until a person was asked.
package enum ParkingHook {
    /// The variable that is set where the run may wait without a process.
    package static let variable = "BELFRY_PARKS"
}

extension Sandbox {
    /// Links on the way to the named paths are followed outside of the sandbox: whoever put one there since the
    /// configuration was written chose what the program reaches.
    func requireNoLinks(of bot: String) throws(AttemptFault) {
        for path in read + write {
            guard let link = ReplaceableLink.first(in: path) else { continue }
            let way = link == path ? "" : ", on the way to \(path),"
            throw AttemptFault(
                .botUnavailable,
                "\(bot): \(link)\(way) is a symbolic link, which could lead out of the sandbox; "
                    + "name the folder that is meant in bots.\(bot).sandbox")
        }
    }
}

extension PromptOrder {
    /// What was said before and what is asked now, as one text: a program knows only what its own session does.
    fileprivate var conversation: String {
        guard !earlier.isEmpty else { return text }
        let said = earlier.map { ($0.isOfBot ? "You: " : "Person: ") + $0.text }
        return (["This was said before:"] + said + ["Reply to this:", text]).joined(separator: "\n\n")
    }
}

extension ExitRecord {
    /// The end of a bot's program whose reply can't be read, as `why` says: what it printed is no reply.
    fileprivate func malformed(_ why: String) -> ExitRecord {
        var record = self
        if cause == .exited {
            record.fault = AttemptFault(
                .malformed, "the reply cannot be read: \(why)", wasTried: false)
        }
        // All that it printed is beside the output.
        record.outputBytes = 0
        return record
    }
}
