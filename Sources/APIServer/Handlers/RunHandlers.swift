import API
import Delivery
import Engine
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

extension DaemonHandler {
    func runJob(_ name: String, _ request: APIRequest) async throws(APIError) -> APIResponse {
        let asked = try request.valueIfPresent(API.RunRequest.self) ?? API.RunRequest()
        _ = try await entry(name)
        let run: RunRecord
        do throws(EngineError) {
            run = try await control.runNow(name, force: asked.force ?? false, key: asked.key)
        } catch {
            throw try await named(error)
        }
        return .value(await shown(run), status: 201)
    }

    /// The refusal, with the names of the runs where the engine knows their ids.
    private func named(_ error: EngineError) async throws(APIError) -> APIError {
        guard case .busy(let job, let ids) = error else { return APIError(error) }
        var names: [String] = []
        for id in ids {
            let run = try await reading { () async throws(LedgerError) in
                try await control.ledger.run(id: id)
            }
            if let run { names.append(run.name) }
        }
        return APIError(EngineError.busy(job: job, runs: names.sorted()))
    }

    func exec(_ request: APIRequest) async throws(APIError) -> APIResponse {
        let asked: ExecRequest = try request.value()
        guard let program = asked.command.first, !program.isEmpty else {
            throw APIError(.badValue, "the command is empty")
        }
        var wish: NotifyWish?
        if let word = asked.notify {
            guard let known = NotifyWish(rawValue: word) else {
                throw APIError(
                    .badValue, "notify is not \"\(word)\"", hint: "It is always, failure or never.")
            }
            wish = known
        }
        if let id = asked.id, !SpooledFile.isID(id) {
            throw APIError(.badValue, "id is not a UUID in lower case")
        }
        var draft = JobDraft()
        draft.name = asked.name ?? CommandName.of(program)
        draft.bot = asked.bot
        draft.command = asked.command
        draft.cwd = asked.cwd
        draft.env = asked.env
        var spec = try JobSpec(draft, reading)
        spec.notify = wish
        let loan = ExecLoan(
            environment: asked.env, umask: asked.umask.map { $0 & 0o777 }, attachment: asked.attachment,
            terminal: asked.terminal.map { TerminalSize(rows: $0.rows, columns: $0.columns) })
        guard loan.terminal?.isValid != false else {
            throw APIError(.badValue, "a terminal has 1 to 65535 rows and columns")
        }
        let run = try await asking { () async throws(EngineError) in
            try await control.exec(spec, id: asked.id, isNamed: asked.name != nil, loan)
        }
        return .value(await shown(run), status: 201)
    }

    /// Somebody finished a run without us and saw that we are here by now.
    func takeSpool() async -> APIResponse {
        await spool.takeIn()
        return .done
    }

    func run(_ job: String, _ ordinal: Int) async throws(APIError) -> APIResponse {
        let record = try await record(job, ordinal)
        let attempts = try await reading { () async throws(LedgerError) in
            try await control.ledger.attempts(of: record.id)
        }
        let stored = try await reading { () async throws(LedgerError) in
            try await control.ledger.spec(of: job, revision: record.revision)
        }
        var run = await shown(record)
        run.attempts = attempts.map(WireAttempt.init)
        if let spec = record.spec ?? stored {
            run.timeoutMs = spec.timeout?.milliseconds
            run.graceMs = spec.grace.milliseconds
        }
        return .value(run)
    }

    func cancelRun(_ job: String, _ ordinal: Int) async throws(APIError) -> APIResponse {
        let run = try await record(job, ordinal)
        try await asking { () async throws(EngineError) in try await control.cancel(run) }
        return .value(await shown(try await record(job, ordinal)))
    }

    func retryRun(_ job: String, _ ordinal: Int) async throws(APIError) -> APIResponse {
        let run = try await record(job, ordinal)
        let again = try await asking { () async throws(EngineError) in try await control.retry(run) }
        return .value(await shown(again), status: 201)
    }

    func runs(_ request: APIRequest) async throws(APIError) -> APIResponse {
        var states: Set<RunState> = []
        for word in (request.query["state"] ?? "").split(separator: ",") {
            guard let state = RunState(rawValue: String(word)) else {
                throw APIError(.badValue, "no state \"\(word)\"")
            }
            states.insert(state)
        }
        var since: Moment?
        if let text = request.query["since"] {
            do {
                since = try Moment(iso8601: text)
            } catch {
                throw APIError(.badValue, "since: \(error.message)")
            }
        }
        if let job = request.query["job"] { try await knownOnce(job) }
        let limit = Int(clamping: try request.query.number("limit", atLeast: 1) ?? 100)
        return .value(
            try await listed(
                RunFilter(job: request.query["job"], states: states, since: since, limit: limit)))
    }

    func history(_ name: String, _ request: APIRequest) async throws(APIError) -> APIResponse {
        try await knownOnce(name)
        if let at = request.query["at"] { return .value(try await slot(of: name, at: at)) }
        let limit = Int(clamping: try request.query.number("limit", atLeast: 1) ?? 100)
        return .value(try await listed(RunFilter(job: name, limit: limit)))
    }

    /// The run as the API shows it, with where it is now.
    func shown(_ record: RunRecord) async -> WireRun {
        let live = await control.board.state(of: record.id)
        var run = WireRun(record, live: live, at: control.clock.now)
        if record.state == .queued, record.reason == nil {
            run.reason = await control.runs.obstacle(of: record.id)
        }
        return run
    }

    /// The run called `JOB#N`.
    ///
    /// - Throws: ``ErrorCode/noSuchRun`` with the name that was perhaps meant, or the newest one there is.
    func record(_ job: String, _ ordinal: Int) async throws(APIError) -> RunRecord {
        do throws(EngineError) {
            return try await control.run(named: job, ordinal)
        } catch {
            guard case .noSuchRun(let name) = error else { throw APIError(error) }
            throw APIError(.noSuchRun, "no run \"\(name)\"", hint: try await hint(job, ordinal))
        }
    }

    private func hint(_ job: String, _ ordinal: Int) async throws(APIError) -> String? {
        let newest = try await reading { () async throws(LedgerError) in
            try await control.ledger.runs(RunFilter(job: job, limit: 1))
        }
        if let newest = newest.first { return "The newest is \(newest.name)." }
        let names = await control.slots.names()
        return NearestName.of(job, among: names).map { "Did you mean \"\($0)#\(ordinal)\"?" }
    }

    /// Runs, and spans of slots that did not run, newest first.
    private func listed(_ filter: RunFilter) async throws(APIError) -> [WireRun] {
        let records = try await reading { () async throws(LedgerError) in
            try await control.ledger.runs(filter)
        }
        // Of skipped and missed only one is wanted: which spans those are is found among all.
        let isPart = filter.states.contains(.skipped) != filter.states.contains(.missed)
        let spans = try await reading { () async throws(LedgerError) in
            try await control.ledger.spans(of: filter.job, limit: isPart ? .max : filter.limit)
        }
        var rest = spans.filter { span in
            (filter.states.isEmpty || filter.states.contains(span.state))
                && filter.since.map { span.last >= $0 } ?? true
        }.sorted { ($0.era, $0.last) > ($1.era, $1.last) }[...]
        // Runs come in the order they were made in, which no clock that was wrong for a while can change.
        var rows: [WireRun] = []
        for record in records {
            let at = record.slot ?? record.queuedAt
            while let span = rest.first, span.last > at { rows.append(WireRun(rest.removeFirst())) }
            rows.append(await shown(record))
        }
        rows += rest.map { WireRun($0) }
        return Array(rows.prefix(filter.limit))
    }

    /// A job of that name is or was there, or something ran under it.
    private func knownOnce(_ name: String) async throws(APIError) {
        let ran = try await reading { () async throws(LedgerError) in
            try await control.ledger.runs(RunFilter(job: name, limit: 1))
        }
        let passed = try await reading { () async throws(LedgerError) in
            ran.isEmpty ? try await control.ledger.spans(of: name, limit: 1) : []
        }
        if ran.isEmpty, passed.isEmpty { _ = try await entry(name) }
    }
}
