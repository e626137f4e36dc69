import API
import Cron
import Engine
import Host
import Ledger
import Logging
package import Performing
package import Prompting
import Synchronization
import Timeline
import Tracking

/// Who calls a tool.
package struct ToolUser: Sendable {
    /// The bot, as it is configured now.
    let bot: BotProfile
    /// The run in which it calls; nil: none, a client of its own does.
    let run: RunRecord?
    /// What it may call, as it is configured: `run_job:ship` is a tool for one job alone.
    let allowed: [String]

    /// Whether it may call a tool.
    func mayCall(_ tool: String) -> Bool {
        allowed.contains { $0 == tool || $0.hasPrefix(tool + ":") } || tool == TeamTools.name && !team.isEmpty
    }

    /// The bots that it may hand work to.
    var team: [String] { bot.contact?.team ?? [] }
    /// Whether it may deal with the tasks of other bots.
    var hasAllTasks: Bool { allowed.contains(ToolTable.allTasks) }
    /// The jobs that it may run; nil: all of the configuration.
    var jobs: [String]? {
        let start = ToolTable.runJob + ":"
        guard !allowed.contains(ToolTable.runJob) else { return nil }
        return allowed.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }
    /// Whether it may run that job.
    func mayRun(_ job: String) -> Bool { jobs?.contains(job) ?? true }

    /// The thread in which its messages are expected.
    var thread: String {
        guard let run else { return "main" }
        return run.spec?.thread ?? (run.kind == .reply ? "main" : run.job)
    }
}

/// A call that is performed: who calls, with what, and what the daemon can do about it.
package struct ToolRequest: Sendable {
    let user: ToolUser
    let arguments: ToolArguments
    let daemon: DaemonHandler
    let world: ToolWorld
    /// Names the call: the same when it is made again after a crash.
    let key: String
    /// Shows how far it is to whoever waits for it.
    var report: @Sendable (WireToolProgress) -> Void = { _ in }
}

/// What tools reach outside of the daemon.
package struct ToolWorld: Sendable {
    /// The text of a page, or why it can't be had.
    let fetch: @Sendable (WebPage, BotWeb) async -> ToolAnswer
    /// The results of a search, or why there are none.
    let search: @Sendable (WebQuery, WebSearch) async -> ToolAnswer

    package init(
        fetch: @escaping @Sendable (WebPage, BotWeb) async -> ToolAnswer,
        search: @escaping @Sendable (WebQuery, WebSearch) async -> ToolAnswer
    ) {
        self.fetch = fetch
        self.search = search
    }

    /// Reaches nothing.
    package static let none = ToolWorld(
        fetch: { _, _ in ToolAnswer("nothing can be fetched here", isError: true) },
        search: { _, _ in ToolAnswer("nothing can be searched here", isError: true) })
}

/// Performs the calls of tools: for the bots of providers, and for MCP clients.
///
/// A bot has the tools that its configuration names and no others. Each call is recorded with the run that it belongs to.
package final class ToolDesk: Sendable {
    private struct State {
        var daemon: DaemonHandler?
        /// The refused calls of which the person was notified, as `BOT TOOL`.
        var reported: Set<String> = []
        /// How many calls each run under way has made.
        var calls: [String: Int] = [:]
        /// The calls of clients that are under way, by the ids that these chose.
        var underWay: [String: CallUnderWay] = [:]
    }

    /// A call that somebody else waits for.
    private struct CallUnderWay {
        var progress = WireToolProgress()
        /// Finished: the call is to end.
        let end: AsyncStream<Never>.Continuation
    }

    /// The most calls of one run.
    static let callsPerRun = 200

    private let table: ToolTable
    private let world: ToolWorld
    private let state = Mutex(State())

    /// A desk with these tools.
    package init(_ table: ToolTable = .standard, world: ToolWorld = .none) {
        self.table = table
        self.world = world
    }

    /// Begins to serve the bots of providers.
    package func open(_ daemon: DaemonHandler) { state.withLock { $0.daemon = daemon } }

    // MARK: The bots of providers

    /// The tools that a bot may call now.
    package func offered(to bot: String) async -> [Tool] {
        guard let daemon = state.withLock({ $0.daemon }) else { return [] }
        return tools(of: user(bot, nil, daemon)).map(\.offer)
    }

    /// Performs a call that a bot made in an attempt.
    package func perform(_ call: ToolCall, of bot: String, in key: RunKey) async -> ToolAnswer {
        guard let daemon = state.withLock({ $0.daemon }) else {
            return ToolAnswer("the daemon is starting; try again", isError: true)
        }
        let run = try? await daemon.control.ledger.run(id: key.run)
        return await perform(call, by: user(bot, run, daemon), on: daemon)
    }

    // MARK: Everybody

    /// Who calls as that bot.
    ///
    /// It may call what its configuration names. Nobody answers as `belfry` unless it is described: who calls as that one is
    /// the person, who may do everything.
    func user(_ bot: String, _ run: RunRecord?, _ daemon: DaemonHandler) -> ToolUser {
        let profile = daemon.control.activeConfiguration.configuration.bot(bot)
        let isPerson = bot == "belfry" && profile.contact == nil && run == nil
        return ToolUser(
            bot: profile, run: run, allowed: profile.contact?.tools ?? (isPerson ? table.names : []))
    }

    /// The tools that it may call now.
    func tools(of user: ToolUser) -> [BotTool] {
        table.tools.filter { user.mayCall($0.name) && $0.obstacle(user) == nil }
    }

    /// Whether a call of that tool, made again after a crash, does nothing twice.
    package func isRepeatable(_ tool: String) -> Bool { table[tool]?.isRepeatable ?? true }

    /// Performs a call, and records it.
    func perform(_ call: ToolCall, by user: ToolUser, on daemon: DaemonHandler) async -> ToolAnswer {
        let start = daemon.control.clock.now
        let watch = daemon.control.clock.sinceBoot
        let answer: ToolAnswer
        do throws(APIError) {
            let tool = try await tool(call.name, of: user, on: daemon)
            try count(user)
            let arguments = try tool.read(call.arguments)
            let key = user.run.map { "\($0.id).\($0.attempt):\(call.id)" } ?? call.id
            let request = ToolRequest(
                user: user, arguments: arguments, daemon: daemon, world: world, key: key,
                report: { [weak self] in self?.note($0, of: call.id) })
            answer = ToolAnswer(try await tool.run(request))
        } catch {
            var refusal = ToolAnswer(error.sentence, isError: true)
            refusal.isInterrupted = error.code == .stopping
            answer = refusal
        }
        // It is made again.
        if answer.isInterrupted { return answer }
        let elapsed = daemon.control.clock.sinceBoot - watch
        daemon.control.logger.debug(
            "a tool was called",
            metadata: [
                "bot": "\(user.bot.name)", "tool": "\(CleanText.line(call.name, limit: 60))",
                "refused": "\(answer.isError)", "duration.ms": "\(elapsed.milliseconds)",
            ])
        if let run = user.run {
            let output = daemon.identity.places.output(of: run.id, job: run.job, attempt: run.attempt)
            let entry = ToolLog.Entry(call, answer, attempt: run.attempt, at: start, elapsed: elapsed)
            do throws(HostError) {
                try ToolLog(besides: output).append(entry)
            } catch {
                // What was done stays done: the run has no record of it.
                daemon.control.logger.warning(
                    "a call of a tool can't be recorded",
                    metadata: ["run.id": "\(run.name)", "reason": "\(error)"])
            }
        }
        return answer
    }

    // MARK: Calls under way

    /// Performs a call that its client may ask about, and cancel.
    func follow(_ call: ToolCall, by user: ToolUser, on daemon: DaemonHandler) async -> ToolAnswer {
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        // Sent twice, it is the first one that is shown.
        let isFirst = state.withLock { state in
            guard state.underWay[call.id] == nil else { return false }
            state.underWay[call.id] = CallUnderWay(end: end)
            return true
        }
        defer { if isFirst { state.withLock { _ = $0.underWay.removeValue(forKey: call.id) } } }
        return await withTaskGroup(of: ToolAnswer?.self) { group in
            group.addTask { [self] in await perform(call, by: user, on: daemon) }
            group.addTask {
                for await _ in ends {}
                return nil
            }
            var answer: ToolAnswer?
            for await next in group {
                answer = next ?? answer
                // A call that is cancelled ends by itself, with what it handed out.
                if next == nil { group.cancelAll() } else { end.finish() }
            }
            return answer ?? ToolAnswer("the call was cancelled", isError: true)
        }
    }

    /// How far the call of that id is.
    func progress(of call: String) -> WireToolProgress {
        state.withLock { $0.underWay[call]?.progress ?? WireToolProgress() }
    }

    /// Ends the call of that id.
    func cancel(_ call: String) -> Nothing {
        state.withLock { $0.underWay[call]?.end }?.finish()
        return Nothing()
    }

    private func note(_ progress: WireToolProgress, of call: String) {
        state.withLock { $0.underWay[call]?.progress = progress }
    }

    /// The tool of that name, which the caller may use.
    private func tool(
        _ name: String, of user: ToolUser, on daemon: DaemonHandler
    ) async throws(APIError) -> BotTool {
        let shown = CleanText.line(name, limit: 60)
        guard let tool = table[name] else {
            let mine = tools(of: user).map(\.name)
            throw APIError(
                .badValue, "there is no tool \"\(shown)\"",
                hint: NearestName.hint(name, among: mine) ?? Self.listed(mine))
        }
        guard user.mayCall(name) else {
            await report(name, of: user, on: daemon)
            throw APIError(
                .badValue, "\(name) is not allowed to this bot",
                hint: Self.listed(tools(of: user).map(\.name)))
        }
        if let obstacle = tool.obstacle(user) { throw APIError(.badValue, "\(name): \(obstacle)") }
        return tool
    }

    private static func listed(_ names: [String]) -> String {
        names.isEmpty ? "It has no tools." : "Its tools: \(names.joined(separator: ", "))."
    }

    /// Counts a call of a run; too many end in a refusal.
    private func count(_ user: ToolUser) throws(APIError) {
        guard let run = user.run?.id else { return }
        let count = state.withLock { state in
            // Runs end without a word here: what is forgotten begins again.
            if state.calls.count > 1000 { state.calls = [:] }
            state.calls[run, default: 0] += 1
            return state.calls[run] ?? 0
        }
        guard count > Self.callsPerRun else { return }
        throw APIError(.badValue, "this run has made its \(Self.callsPerRun) calls: reply without tools")
    }

    /// Notifies the person, once for each bot and tool, that a bot wanted what it may not do.
    private func report(_ name: String, of user: ToolUser, on daemon: DaemonHandler) async {
        let bot = user.bot.name
        guard state.withLock({ $0.reported.insert("\(bot) \(name)").inserted }) else { return }
        let fact = "tools.refused.\(bot).\(name)"
        do throws(LedgerError) {
            // Also not again by the next daemon.
            guard try await daemon.control.ledger.fact(named: fact) == nil else { return }
            try await daemon.control.ledger.commit([
                .setFact(name: fact, value: daemon.control.clock.now.iso8601)
            ])
        } catch {
            daemon.control.logger.warning(
                "a refused tool can't be recorded", metadata: ["bot": "\(bot)", "reason": "\(error)"])
        }
        var notice = NotifyRequest(
            text: "\(bot) called the tool \(name), which bots.\(bot).tools does not allow. It was refused.")
        (notice.thread, notice.urgency) = ("tools", "low")
        do throws(APIError) {
            _ = try await daemon.notify(notice)
        } catch {
            daemon.control.logger.warning(
                "nobody could be notified of a refused tool",
                metadata: ["bot": "\(bot)", "reason": "\(error.sentence)"])
        }
    }
}
