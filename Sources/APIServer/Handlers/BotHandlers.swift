import API
import Cron
import Delivery
import Engine
import Grouping
import Host
import Ledger
import OpenClaw
import Performing
import Prompting
import Timeline
import Tracking

extension DaemonHandler {
    func bot(_ name: String) async throws(APIError) -> WireBot {
        let bots = try await bots()
        guard var bot = bots.first(where: { $0.name == name }) else {
            throw APIError(
                .noSuchBot, "no bot \"\(name)\"", hint: NearestName.hint(name, among: bots.map(\.name)))
        }
        bot.session = try await session(of: name)
        bot.lastMessage = try await lastMessage(of: name)
        return bot
    }

    /// The bots with what was said last.
    func listedBots() async throws(APIError) -> [WireBot] {
        var bots = try await bots()
        for index in bots.indices { bots[index].lastMessage = try await lastMessage(of: bots[index].name) }
        return bots
    }

    func lastMessage(of bot: String) async throws(APIError) -> WireMessage? {
        let last = try await reading(await control.ledger.messages(bot: bot, search: nil, limit: 1)).first
        guard let last else { return nil }
        var message = WireMessage(last)
        message.text = String(message.text.prefix(1000))
        return message
    }

    /// The session of the bot's thread `main`; nil: each prompt of it stands alone, or it answers nobody.
    private func session(of name: String) async throws(APIError) -> WireBotSession? {
        guard let contact = control.activeConfiguration.configuration.bots[name]?.contact,
            contact.keepsSession
        else { return nil }
        let thread = "main"
        let place = try await reading(await control.ledger.conversation(bot: name, thread: thread))
        let messages = try await reading(
            await control.ledger.messages(
                bot: name, thread: thread, after: place?.since ?? 0, limit: WireBotSession.most))
        var session = WireBotSession(thread: thread, messages: messages.count)
        session.since = messages.last.map { Timestamp($0.record.message.at) }
        session.summary = contact.backend == nil ? nil : place?.summary
        session.id = place?.continuation.flatMap {
            $0.provider == contact.program?.dialect.rawValue && $0.isSafe ? $0.id : nil
        }
        return session
    }

    func addBot(_ draft: BotDraft) async throws(APIError) -> WireBot {
        guard let name = draft.name else { throw APIError(.badValue, "a bot needs a name") }
        let key = try checked(draft.key)
        try await asking(await control.addBot(name, draft.settings, key: key))
        return try await bot(name)
    }

    func editBot(_ name: String, _ draft: BotDraft) async throws(APIError) -> WireBot {
        if let other = draft.name, other != name {
            throw APIError(
                .badValue, "a bot keeps its name", hint: "Add one of the other name, and remove this one.")
        }
        _ = try await bot(name)
        let key = try checked(draft.key)
        try await asking(await control.editBot(name, draft.settings, key: key))
        return try await bot(name)
    }

    /// The key, as far as it can be one: no provider takes one of no words, or of several.
    private func checked(_ key: String?) throws(APIError) -> String? {
        guard let key else { return nil }
        let words = key.split(whereSeparator: \.isWhitespace).count
        guard words == 1 else {
            throw APIError(
                .badValue, words == 0 ? "the key is empty" : "the key has several lines or words",
                hint: "Pipe in the key alone: --key - < FILE")
        }
        return key
    }

    func removeBot(_ name: String, force: Bool) async throws(APIError) {
        _ = try await bot(name)
        try await asking(await control.removeBot(name, force: force))
    }

    func testBot(_ name: String, asks: Bool) async throws(APIError) -> WireBotTest {
        _ = try await bot(name)
        let result = try await asking(await control.test(bot: name, asks: asks))
        return WireBotTest(
            bot: name, ok: result.isGood,
            steps: result.findings.map {
                WireBotTest.Step(
                    step: $0.step.rawValue, outcome: $0.outcome.rawValue, detail: $0.detail, hint: $0.hint)
            })
    }

    /// The bots that are described, and those that jobs or messages name, by name.
    func bots() async throws(APIError) -> [WireBot] {
        try await bots(as: await reading(await control.desk.survey()))
    }

    /// The same, with what is known of each already.
    func bots(as surveys: [String: BotSurvey]) async throws(APIError) -> [WireBot] {
        let unread = try await reading(await control.ledger.unread())
        let atWork = await control.runs.botsAtWork
        let jobs = await control.slots.countsOfBots()
        let described = control.activeConfiguration.configuration.bots
        let names = Set(described.keys).union(jobs.keys).union(unread.keys)
        return names.sorted().map { name in
            let profile = described[name] ?? BotProfile(name: name)
            var bot = WireBot(
                name: name, backend: profile.kind, jobs: jobs[name] ?? 0, unread: unread[name] ?? 0)
            bot.note(profile)
            bot.origin = profile.place.map { _ in profile.isOfLedger ? "cli" : "file" }
            bot.at = profile.isOfLedger ? nil : profile.place
            var survey = surveys[name]
            survey?.knowledge.workingSince = atWork[name]
            bot.note(survey?.view ?? atWork[name].map { BotView(.working, since: $0) } ?? BotView(.online))
            if let survey { bot.note(survey) }
            return bot
        }
    }
}

extension WireBot {
    /// How it is configured, without its key.
    fileprivate mutating func note(_ profile: BotProfile) {
        model = profile.model
        url = profile.contact?.backend?.reach.url.shown
        memory = profile.contact?.memory
        tools = profile.contact.flatMap { $0.tools.isEmpty ? nil : $0.tools }
        guard let program = profile.contact?.program else { return }
        (command, output) = (program.command, program.dialect.rawValue)
        sandbox = program.sandbox.map {
            WireSandbox(read: $0.read, write: $0.write, network: $0.hasNetwork)
        }
    }

    fileprivate mutating func note(_ view: BotView) {
        status = view.status.rawValue
        since = Timestamp(view.since)
        reason = view.reason
        message = view.text
    }

    fileprivate mutating func note(_ survey: BotSurvey) {
        if survey.total.usage != BotUsage() || survey.total.replies > 0 {
            usage = WireBotUsage(
                month: WireUsage(survey.month.usage), total: WireUsage(survey.total.usage),
                monthReplies: survey.month.replies, totalReplies: survey.total.replies)
        }
        if let use = survey.knowledge.budget {
            var budget = WireBudget(
                month: survey.month.month, percent: (use.percent * 10).rounded() / 10)
            (budget.usd, budget.leftUsd) = (use.limitUSD, use.leftUSD)
            (budget.tokens, budget.leftTokens) = (use.limitTokens, use.leftTokens)
            self.budget = budget
        }
        latencyMs = survey.record.lastSuccess?.whole?.milliseconds
        pingMs = survey.knowledge.link?.latency.map { Double(($0 / .microseconds(1)).rounded()) / 1000 }
        firstWordMs = survey.record.lastSuccess?.first?.milliseconds
        lastError = survey.record.lastFailure.map {
            WireBotError(at: Timestamp($0.at), reason: $0.reason.rawValue, message: $0.text)
        }
    }
}

extension DaemonHandler {
    func gateway(of bot: String) async throws(APIError) -> WireGateway {
        WireGateway(bot, try await asking(await control.gatewayOverview(of: bot)))
    }

    func watchGateway(of bot: String, _ isOn: Bool) async throws(APIError) -> WireGateway {
        try await asking(await control.setGatewayWatch(isOn, of: bot))
        return try await gateway(of: bot)
    }

    func takeOver(_ bot: String, _ request: TakeOverRequest) async throws(APIError) -> WireJob {
        let spec = try JobSpec(request.draft, reading)
        try checkBot(of: request.draft)
        let record = try await asking(await control.takeOver(request.id, of: bot, as: spec))
        return try await saved(record.name)
    }

    func giveBack(_ bot: String, _ request: GiveBackRequest) async throws(APIError) {
        try await asking(await control.giveBack(request.id, of: bot))
    }
}

extension WireGateway {
    fileprivate init(_ bot: String, _ overview: GatewayOverview) {
        let taken = Dictionary(overview.taken.map { ($0.id, $0) }) { first, _ in first }
        let jobs = overview.look.jobs.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        self.init(
            bot: bot, gateway: overview.place, version: overview.look.version,
            jobs: jobs.map { job in
                let alarms = overview.watch?.alarms(of: job.id) ?? []
                return WireGatewayJob(
                    job, alarms: alarms.map(\.rawValue).sorted(), taken[job.id]?.spec.name)
            })
        watchedSince = overview.watch.map { Timestamp($0.since ?? overview.look.at) }
    }
}

extension WireGatewayJob {
    fileprivate init(_ job: GatewayJob, alarms: [String], _ takenAs: String?) {
        self.init(
            id: job.id, name: job.name, enabled: job.isEnabled, known: job.isKnown,
            offsetMs: job.offset.milliseconds, alarms: alarms, whole: job.whole)
        nextAt = Timestamp(job.state.next)
        lastAt = Timestamp(job.state.lastRun)
        (lastStatus, lastError) = (job.state.lastStatus, job.state.lastError)
        self.takenAs = takenAs
    }
}

extension DaemonHandler {
    /// The tools that a bot may call now.
    func offeredTools(to name: String) async throws(APIError) -> [WireTool] {
        try await checkCaller(name)
        return tools.tools(of: tools.user(name, nil, self)).map { tool in
            let offer = tool.offer
            return WireTool(
                name: offer.name, description: offer.about, inputSchema: offer.arguments,
                isRepeatable: tool.isRepeatable)
        }
    }

    /// Performs a call as the bot; a refusal by the tool is an answer.
    func callTool(_ name: String, _ asked: ToolCallRequest) async throws(APIError) -> WireToolAnswer {
        try await checkCaller(name)
        var run: RunRecord?
        if let id = asked.run {
            run = try await reading(await control.ledger.run(id: id))
            // What it does belongs to a run of its own that is under way, or to none.
            if run?.bot != name || run?.state.isEnded == true { run = nil }
        }
        if let id = asked.id, !SpooledFile.isID(id) {
            throw APIError(.badValue, "id is not a UUID in lower case")
        }
        let call = ToolCall(
            id: asked.id ?? UniqueID.v4(), name: asked.name, arguments: asked.arguments ?? .members([]))
        let answer = await tools.follow(call, by: tools.user(name, run, self), on: self)
        if answer.isInterrupted { throw APIError(.stopping) }
        return WireToolAnswer(text: answer.text, isError: answer.isError)
    }

    private func checkCaller(_ name: String) async throws(APIError) {
        if name != "belfry" { _ = try await bot(name) }
    }

    /// The calls of tools that a run made, oldest first; nil: none.
    func toolCalls(of run: RunRecord) -> [WireToolCall]? {
        let calls = (1...max(run.attempt, 1)).suffix(20).flatMap { attempt in
            ToolLog(besides: identity.places.output(of: run.id, job: run.job, attempt: attempt)).calls()
        }
        return calls.isEmpty ? nil : calls
    }
}
