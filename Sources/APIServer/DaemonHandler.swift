import API
package import Engine
import Host
import Ledger

/// Answers for the daemon: each endpoint by a handler of the station it is about.
package struct DaemonHandler: Sendable {
    let control: Control
    let identity: DaemonIdentity
    let spool: SpoolDoor
    let tools: ToolDesk
    /// The links of questions; nil: there are none.
    let links: QuestionLinks?
    let notices = WriteNotices()
    let liveTexts = LiveTexts()
    let agents = AgentQuestions()

    /// A handler over the engine, over the spool of its state folder, and over the tools of bots.
    package init(
        control: Control, identity: DaemonIdentity, spool: SpoolDoor? = nil, tools: ToolDesk = ToolDesk(),
        links: QuestionLinks? = nil
    ) {
        self.control = control
        self.tools = tools
        self.links = links
        self.identity = identity
        self.spool = spool ?? SpoolDoor(control: control, identity: identity, logger: control.logger)
    }

    /// A handler for each endpoint.
    package var handlers: HandlerTable {
        var table = HandlerTable(Endpoints.all) {
            try await asking(await control.whenLoaded())
        }
        addHouse(to: &table)
        addJobs(to: &table)
        addRuns(to: &table)
        addTalk(to: &table)
        addGateways(to: &table)
        addQuestions(to: &table)
        addOutbox(to: &table)
        addTokens(to: &table)
        return table
    }

    private func addHouse(to table: inout HandlerTable) {
        // A sign of life that waits for no worker, which may all be busy.
        table.on(Endpoints.health, isBrief: true) { _ in "ok\n" }
        table.on(Endpoints.readiness) { _ in try await readiness() }
        table.on(Endpoints.openAPI) { _ in try openAPI() }
        table.on(Endpoints.status) { _ in try await status() }
        table.on(Endpoints.config) { _ in try await configuration() }
        table.on(Endpoints.reload) { _ in try await reload() }
        table.on(Endpoints.events) { try await events($0.query, lastEventID: $0.lastEventID) }
        table.on(Endpoints.live) { _ in await live() }
    }

    private func addJobs(to table: inout HandlerTable) {
        table.on(Endpoints.jobs) { _ in try await jobs() }
        table.on(Endpoints.addJob) { try await addJob($0.body) }
        table.on(Endpoints.job) { try await shown($0.path) }
        table.on(Endpoints.editJob) { try await editJob($0.path, $0.body) }
        table.on(Endpoints.removeJob) { try await removeJob($0.path) }
        table.on(Endpoints.pauseJob) { try await pauseJob($0.path, note: $0.body.note) }
        table.on(Endpoints.resumeJob) { try await resumeJob($0.path) }
        table.on(Endpoints.runJob) { try await runJob($0.path, $0.body) }
        table.on(Endpoints.nextSlots) { try await nextSlots($0.path, $0.query) }
        table.on(Endpoints.history) { try await history($0.path, $0.query) }
        table.on(Endpoints.profile) { try await profile(of: $0.path) }
        table.on(Endpoints.jobText) { try await jobText($0.path, $0.query) }
        table.on(Endpoints.setJobText) { try await setJobText($0.path, $0.body) }
    }

    private func addRuns(to table: inout HandlerTable) {
        table.on(Endpoints.runs) { try await runs($0.query) }
        table.on(Endpoints.run) { try await run($0.path) }
        table.on(Endpoints.logs) { try await logs($0.path, $0.query) }
        table.on(Endpoints.cancelRun) { try await cancelRun($0.path) }
        table.on(Endpoints.retryRun) { try await retryRun($0.path) }
        table.on(Endpoints.pauseRun) { try await setPaused(true, $0.path) }
        table.on(Endpoints.resumeRun) { try await setPaused(false, $0.path) }
        table.on(Endpoints.exec) { try await exec($0.body) }
        table.on(Endpoints.spool) { _ in _ = await spool.takeIn() }
    }

    private func addTalk(to table: inout HandlerTable) {
        table.on(Endpoints.messages) { try await messages($0.query) }
        table.on(Endpoints.message) { try await message($0.path) }
        table.on(Endpoints.items) { try await items(limit: $0.query.limit) }
        table.on(Endpoints.notify, isBrief: true) { try await notify($0.body) }
        table.on(Endpoints.pin) { try await pin($0.path, true) }
        table.on(Endpoints.unpin) { try await pin($0.path, false) }
        table.on(Endpoints.read) { try await read($0.path) }
        table.on(Endpoints.readItem) { try await readItem($0.path) }
        table.on(Endpoints.bots) { _ in try await listedBots() }
        table.on(Endpoints.bot) { try await bot($0.path) }
        table.on(Endpoints.addBot) { try await addBot($0.body) }
        table.on(Endpoints.editBot) { try await editBot($0.path, $0.body) }
        table.on(Endpoints.removeBot) { try await removeBot($0.path, force: $0.query.force) }
        table.on(Endpoints.testBot) { try await testBot($0.path, asks: $0.body.ask ?? false) }
        table.on(Endpoints.tools) { try await offeredTools(to: $0.path) }
        table.on(Endpoints.callTool, isAwaited: true) { try await callTool($0.path, $0.body) }
        table.on(Endpoints.toolProgress) { tools.progress(of: $0.path) }
        table.on(Endpoints.cancelTool) { tools.cancel($0.path) }
        table.on(Endpoints.say) { try await say($0.path, $0.body) }
        table.on(Endpoints.reply) { try await reply($0.path, $0.query) }
        table.on(Endpoints.react) { try await react($0.path, $0.body) }
        table.on(Endpoints.resetBot) { try await reset($0.path) }
    }

    private func addGateways(to table: inout HandlerTable) {
        table.on(Endpoints.gateway) { try await gateway(of: $0.path) }
        table.on(Endpoints.watchGateway) { try await watchGateway(of: $0.path, $0.body.on) }
        table.on(Endpoints.takeOverJob) { try await takeOver($0.path, $0.body) }
        table.on(Endpoints.giveBackJob) { try await giveBack($0.path, $0.body) }
    }

    private func addQuestions(to table: inout HandlerTable) {
        table.on(Endpoints.questions) { try await questions($0.query) }
        table.on(Endpoints.askQuestion) { try await ask($0.body) }
        table.on(Endpoints.question) { try await question($0.path) }
        table.on(Endpoints.answerQuestion) { try await answer($0.path, $0.body) }
        table.on(Endpoints.withdrawQuestion) { try await withdraw($0.path) }
        table.on(Endpoints.settleQuestions) { try await settle($0.body) }
    }

    private func addOutbox(to table: inout HandlerTable) {
        table.on(Endpoints.outbox) { try await outbox($0.query) }
        table.on(Endpoints.outboxEntry) { try await outboxEntry($0.path) }
        table.on(Endpoints.retryEntry) { try await retryEntry($0.path) }
        table.on(Endpoints.discardEntry) { try await discardEntry($0.path) }
        table.on(Endpoints.why) { try await why($0.query) }
        table.on(Endpoints.silences) { try await silences($0.query) }
        table.on(Endpoints.addSilence) { try await addSilence($0.body) }
        table.on(Endpoints.digest) { _ in try await digest() }
        table.on(Endpoints.endSilence) { try await endSilence($0.path) }
        table.on(Endpoints.channels) { _ in channels() }
        table.on(Endpoints.addChannel) { try await addChannel($0.body) }
        table.on(Endpoints.removeChannel) { try await removeChannel($0.path) }
        table.on(Endpoints.testChannel) { try await testChannel($0.path) }
        table.on(Endpoints.retryChannel) { try await retryChannel($0.path, from: $0.query.from) }
        table.on(Endpoints.discardChannel) { try await discardChannel($0.path) }
        table.on(Endpoints.replayChannel) { try await replayChannel($0.path, since: $0.query.since) }
    }

    private func addTokens(to table: inout HandlerTable) {
        table.on(Endpoints.tokens) { _ in try await tokens() }
        table.on(Endpoints.addToken) { try await addToken($0.body) }
        table.on(Endpoints.removeToken) { try await removeToken($0.path) }
        table.on(Endpoints.expectations) { _ in try await expectations() }
        table.on(Endpoints.expect) { try await expect($0.body) }
        table.on(Endpoints.removeExpectation) { try await removeExpectation($0.path) }
    }

    /// What the engine answers, or its refusal in the API's words.
    func asking<Value: Sendable>(
        _ body: @autoclosure () async throws(EngineError) -> Value
    ) async throws(APIError) -> Value {
        do throws(EngineError) { return try await body() } catch { throw APIError(error) }
    }

    /// What the ledger holds, or its refusal in the API's words.
    func reading<Value: Sendable>(
        _ body: @autoclosure () async throws(LedgerError) -> Value
    ) async throws(APIError) -> Value {
        do throws(LedgerError) { return try await body() } catch { throw APIError(error) }
    }
}

/// What the daemon knows of itself and the engine need not.
package struct DaemonIdentity: Hashable, Sendable {
    /// Such as `0.1.0`.
    package var version: String
    /// Its process.
    package var pid: Int32
    /// The state folder.
    package var state: String
    /// Where runs leave their output.
    package var places: RunPlaces
    /// The folder of the warden's socket; nil: nobody needs to know.
    package var wardenDirectory: String?

    /// The identity of a daemon.
    package init(version: String, pid: Int32, state: String, places: RunPlaces) {
        self.version = version
        self.pid = pid
        self.state = state
        self.places = places
    }
}
