import API
package import Engine
import Ledger

/// Answers for the daemon: each route by the station it is about.
package struct DaemonHandler: APIHandler {
    let control: Control
    let identity: DaemonIdentity
    let spool: SpoolDoor

    /// A handler over the engine, and over the spool of its state folder.
    package init(control: Control, identity: DaemonIdentity, spool: SpoolDoor? = nil) {
        self.control = control
        self.identity = identity
        self.spool = spool ?? SpoolDoor(control: control, identity: identity, logger: control.logger)
    }

    /// The answer to `request`.
    package func respond(to request: APIRequest) async -> APIResponse {
        do throws(APIError) {
            if request.route.needsJobs {
                try await asking { () async throws(EngineError) in try await control.whenLoaded() }
            }
            return try await answer(request)
        } catch {
            return .failure(error)
        }
    }

    private func answer(_ request: APIRequest) async throws(APIError) -> APIResponse {
        switch request.route {
        case .healthz: .whole(status: 200, contentType: "text/plain", bytes: Array("ok\n".utf8))
        case .readyz: try await readiness()
        case .status: try await status()
        case .config: try await configuration()
        case .reload: try await reload()
        case .jobs: try await jobs()
        case .addJob: try await addJob(request)
        case .job(let name): try await job(name)
        case .editJob(let name): try await editJob(name, request)
        case .removeJob(let name): try await removeJob(name)
        case .pauseJob(let name): try await pauseJob(name, request)
        case .resumeJob(let name): try await resumeJob(name)
        case .runJob(let name): try await runJob(name, request)
        case .nextSlots(let name): try await nextSlots(name, request)
        case .history(let name): try await history(name, request)
        case .runs: try await runs(request)
        case .run(let job, let ordinal): try await run(job, ordinal)
        case .logs(let job, let ordinal): try await logs(job, ordinal, request)
        case .cancelRun(let job, let ordinal): try await cancelRun(job, ordinal)
        case .retryRun(let job, let ordinal): try await retryRun(job, ordinal)
        case .exec: try await exec(request)
        case .spool: await takeSpool()
        case .events: try await events(request)
        case .live: await live()
        case .messages: try await messages(request)
        case .items: try await items(request)
        case .notify: try await notify(request)
        case .read(let id): try await read(id)
        case .outbox: try await outbox(request)
        case .outboxEntry(let id): try await outboxEntry(id)
        case .retryEntry(let id): try await retryEntry(id)
        case .discardEntry(let id): try await discardEntry(id)
        case .why: try await why(request)
        case .channels: try await channels()
        case .testChannel(let name): try await testChannel(name)
        case .retryChannel(let name): try await retryChannel(name, request)
        case .bots: try await bots()
        case .bot(let name): try await bot(name)
        }
    }

    /// What the engine answers, or its refusal in the API's words.
    func asking<Value: Sendable>(
        _ body: () async throws(EngineError) -> Value
    ) async throws(APIError) -> Value {
        do throws(EngineError) { return try await body() } catch { throw APIError(error) }
    }

    /// What the ledger holds, or its refusal in the API's words.
    func reading<Value: Sendable>(
        _ body: () async throws(LedgerError) -> Value
    ) async throws(APIError) -> Value {
        do throws(LedgerError) { return try await body() } catch { throw APIError(error) }
    }
}

extension Route {
    /// Whether the answer is about the jobs of the files, or changes what they are held against.
    fileprivate var needsJobs: Bool {
        switch self {
        case .config, .reload, .jobs, .addJob, .job, .editJob, .removeJob, .pauseJob, .resumeJob, .runJob,
            .nextSlots, .history, .exec, .retryRun, .bots, .bot:
            true
        case .healthz, .readyz, .status, .runs, .run, .logs, .cancelRun, .spool, .events, .live, .messages,
            .items, .notify, .read, .outbox, .outboxEntry, .retryEntry, .retryChannel,
            .discardEntry, .why, .channels, .testChannel:
            false
        }
    }
}
