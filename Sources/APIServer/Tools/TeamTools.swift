import API
import Engine
import Ledger
import Logging
import Performing
import Prompting
import Timeline
import Tracking

/// How a bot hands work to other bots.
enum TeamTools {
    static let all = [delegate]

    /// The name of the tool, which each bot with a team has.
    static let name = "delegate"
    /// The subtasks are waited for so long at most.
    private static let patience = Duration.seconds(24 * 3600)

    private static let delegate = BotTool(
        name,
        "Hands subtasks to bots of your team, which work side by side, and returns what each replied. A bot knows nothing but its prompt.",
        [
            ToolParameter(
                "tasks",
                .records(
                    [
                        ToolParameter("bot", .text(limit: 63), "The bot of your team.", isRequired: true),
                        ToolParameter(
                            "prompt", .text(limit: 20_000), "All that it must know to do its part.",
                            isRequired: true),
                    ], most: HandingOn.broadest), "The subtasks.", isRequired: true)
        ], isRepeatable: true,
        obstacle: { user in
            user.team.isEmpty
                ? "you have no team; the person can name one in bots.\(user.bot.name).team" : nil
        }
    ) { request throws(APIError) in
        let parent = try request.underWay
        let tasks = request.arguments.records("tasks").map {
            (bot: $0.text("bot") ?? "", prompt: $0.text("prompt") ?? "")
        }
        let calls = tasks.indices.map { "\(request.key):\($0 + 1)" }
        let handed = try await handedOut(by: parent, to: request.user.team + tasks.map(\.bot), request.daemon)
        var children: [RunRecord?] = calls.map { call in
            handed.first { $0.cause == Subtask.cause(call) }
        }
        // What the same call has handed out before a crash is neither handed out again, nor allowed again.
        let added = children.indices.filter { children[$0] == nil }
        if !added.isEmpty {
            try await check(added.map { tasks[$0].bot }, besides: handed.count, request, parent)
        }
        for number in added {
            let subtask = Subtask(
                parent: parent.id, call: calls[number], by: request.user.bot.name, tasks[number].prompt)
            children[number] = try await request.daemon.asking(
                await request.daemon.control.delegate(subtask, to: tasks[number].bot))
        }
        return try await results(of: children.compactMap(\.self), tasks.map(\.prompt), request, parent)
    }

    /// The subtasks that the present attempt of `parent` has handed out to these bots.
    private static func handedOut(
        by parent: RunRecord, to bots: [String], _ daemon: DaemonHandler
    ) async throws(APIError) -> [RunRecord] {
        var handed: [RunRecord] = []
        for bot in Set(bots).sorted() {
            let runs = try await daemon.reading(
                await daemon.control.ledger.runs(RunFilter(job: Subtask.job(of: bot), limit: 500)))
            handed += runs.filter { $0.isPart(of: parent) }
        }
        return handed
    }

    /// Refuses what would not end, or not end soon; the run has `handed` out so many subtasks before.
    private static func check(
        _ bots: [String], besides handed: Int, _ request: ToolRequest, _ parent: RunRecord
    ) async throws(APIError) {
        let daemon = request.daemon
        var chain = [parent]
        while let above = chain.last?.parent, chain.count <= HandingOn.deepest {
            guard let run = try await daemon.reading(await daemon.control.ledger.run(id: above)) else {
                break
            }
            chain.append(run)
        }
        let asker = request.user.bot.name
        var teams = daemon.control.activeConfiguration.configuration.bots
            .compactMapValues { $0.contact?.team }
        teams[asker] = request.user.team
        let handing = HandingOn(teams: teams, asker: asker, chain: chain.map(\.bot), handed: handed)
        if let refusal = handing.refusal(of: bots) { throw refusal }
        for bot in Set(bots + [asker]).sorted() {
            do throws(AttemptFault) {
                _ = try await daemon.control.desk.bot(bot)
            } catch {
                throw APIError(.badValue, error.text)
            }
        }
    }

    /// Leaves the place of `parent` to others while `body` waits.
    private static func waiting(
        _ request: ToolRequest, _ parent: RunRecord,
        _ body: () async throws(APIError) -> [RunRecord]
    ) async throws(APIError) -> [RunRecord] {
        let runs = request.daemon.control.runs
        await runs.set(parent.id, waitsIn: request.key, true)
        do throws(APIError) {
            let rows = try await body()
            await runs.set(parent.id, waitsIn: request.key, false)
            return rows
        } catch {
            await runs.set(parent.id, waitsIn: request.key, false)
            throw error
        }
    }

    /// Waits for the ends of the subtasks, shows them as parts of the run, and ends them when that ends first.
    private static func results(
        of children: [RunRecord], _ prompts: [String], _ request: ToolRequest, _ parent: RunRecord
    ) async throws(APIError) -> String {
        let daemon = request.daemon
        let watch = RunWatch(daemon)
        let ends = try await waiting(request, parent) { () async throws(APIError) in
            try await watch.ends(of: children.map(\.id), within: patience, for: parent.id) { rows in
                var parts: [WireToolProgress] = []
                for (number, row) in rows.enumerated() {
                    var report = ProgressReport(message: CleanText.line(prompts[number], limit: 100))
                    let live = await daemon.control.board.state(of: row.id)
                    let progress = live?.progress
                    parts.append(WireToolProgress(live, of: row.name, hasEnded: row.state.isEnded))
                    report.part = ReportedPart(
                        path: "\(row.bot.prefix(26)).\(row.ordinal)", progress: progress, word: row.partWord)
                    _ = await daemon.control.board.receive(
                        report, of: parent.id, at: daemon.control.clock.now)
                }
                request.report(WireToolProgress(together: parts))
            }
        }
        for row in ends where !row.state.isEnded {
            do throws(EngineError) {
                try await daemon.control.cancel(row)
            } catch {
                // It has ended meanwhile, or can't be ended: its own row shows which.
                daemon.control.logger.debug(
                    "a subtask was not ended", metadata: ["run.id": "\(row.name)", "reason": "\(error)"])
            }
        }
        let share = 60 * 1024 / max(ends.count, 1)
        return ends.enumerated().map { number, row in
            let text = watch.output(of: row, limit: share)
            return "## \(number + 1). \(row.bot) (\(row.name)): \(row.sentence)\n\(text)"
        }.joined(separator: "\n\n")
    }
}

extension RunRecord {
    /// Whether the present attempt of `parent` handed it out.
    fileprivate func isPart(of parent: RunRecord) -> Bool {
        cause.hasPrefix(Subtask.cause("\(parent.id).\(parent.attempt):"))
    }

    /// Where it is, as a part of another run.
    fileprivate var partWord: ReportedPart.Word {
        switch state {
        case .completed: .done
        case .blocked: .blocked
        case _ where state.isEnded: .failed
        default: .working
        }
    }
}

/// A run that wants to hand out subtasks: to whom it may, and how many.
struct HandingOn {
    /// How many bots may hand on one after the other.
    static let deepest = 3
    /// So many subtasks a run may hand out in all.
    static let broadest = 10

    /// The bots of each team, by the name of the bot that has it.
    let teams: [String: [String]]
    /// The bot that hands out.
    let asker: String
    /// The bot of the run, and those of the runs that wait for it, the nearest first.
    let chain: [String]
    /// How many subtasks the run has handed out before.
    let handed: Int

    /// Why these bots are not handed one subtask each, as it would not end, or not end soon; nil: they may be.
    func refusal(of bots: [String]) -> APIError? {
        let team = teams[asker] ?? []
        if let bot = bots.first(where: { !team.contains($0) }) {
            return APIError(
                .noSuchBot, "\"\(CleanText.line(bot, limit: 63))\" is not of your team",
                hint: "Your team: \(team.joined(separator: ", ")).")
        }
        if let bot = bots.first(where: { leads(from: $0, to: asker) }) {
            return APIError(
                .badValue, "the team of \(bot) leads back to you: each could wait for the other",
                hint: "Do it yourself, or hand it to another bot.")
        }
        if let bot = bots.first(where: chain.contains) {
            return APIError(
                .badValue, "\(bot) waits for what you do: it can't be handed a part of it",
                hint: "Do it yourself, or hand it to another bot.")
        }
        guard chain.count <= Self.deepest else {
            return APIError(
                .badValue, "work is handed on at most \(Self.deepest) times, and was so often",
                hint: "Do it yourself.")
        }
        guard handed + bots.count <= Self.broadest else {
            return APIError(
                .badValue,
                "a run hands out at most \(Self.broadest) subtasks, and this one has handed out \(handed)",
                hint: "Do the rest yourself.")
        }
        return nil
    }

    /// Whether a bot may hand on, over whomever, to another one.
    private func leads(from bot: String, to other: String) -> Bool {
        var (seen, next) = (Set([bot]), [bot])
        while let name = next.popLast() {
            for member in teams[name] ?? [] {
                if member == other { return true }
                if seen.insert(member).inserted { next.append(member) }
            }
        }
        return false
    }
}
