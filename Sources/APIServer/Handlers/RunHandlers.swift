import API
import Cron
import Delivery
import Engine
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

extension DaemonHandler {
    func runJob(_ name: String, _ asked: API.RunRequest) async throws(APIError) -> WireRun {
        _ = try await entry(name)
        let run: RunRecord
        do throws(EngineError) {
            run = try await control.runNow(name, force: asked.force ?? false, key: asked.key)
        } catch {
            throw try await named(error)
        }
        return await shown(run)
    }

    /// The refusal, with the names of the runs where the engine knows their ids.
    private func named(_ error: EngineError) async throws(APIError) -> APIError {
        guard case .busy(let job, let ids) = error else { return APIError(error) }
        var names: [String] = []
        for id in ids {
            let run = try await reading(await control.ledger.run(id: id))
            if let run { names.append(run.name) }
        }
        return APIError(EngineError.busy(job: job, runs: names.sorted()))
    }

    func exec(_ asked: ExecRequest) async throws(APIError) -> WireRun {
        guard let program = asked.command.first, !program.isEmpty else {
            throw APIError(.badValue, "the command is empty")
        }
        var wish: NotifyWish?
        if let word = asked.notify {
            guard let known = NotifyWish(rawValue: word) else {
                throw APIError(
                    .badValue, "notify is not \"\(word)\"",
                    hint: "It is always, failure or never, or outcomes with commas.")
            }
            wish = known
        }
        if let id = asked.id, !SpooledFile.isID(id) {
            throw APIError(.badValue, "id is not a UUID in lower case")
        }
        var draft = JobDraft()
        draft.name = asked.name ?? JobName.of(program: program)
        draft.fields["bot"] = asked.bot?.json
        draft.fields["command"] = asked.command.json
        draft.fields["cwd"] = .string(asked.cwd)
        var spec = try JobSpec(draft, reading)
        spec.environment = asked.env
        spec.notify = wish
        if let after = asked.notifyAfterMs {
            guard (0...ScheduleSpec.longestWait.milliseconds).contains(after) else {
                throw APIError(.badValue, "notifyAfterMs is less than 0, or more than 100 years")
            }
            spec.notifyAfter = .milliseconds(after)
        }
        let loan = ExecLoan(
            environment: asked.env, umask: asked.umask.map { $0 & 0o777 }, attachment: asked.attachment,
            terminal: asked.terminal.map { PtySize(rows: $0.rows, columns: $0.columns) })
        guard loan.terminal?.isValid != false else {
            throw APIError(.badValue, "a terminal has 1 to 65535 rows and columns")
        }
        let run = try await asking(await control.exec(spec, id: asked.id, isNamed: asked.name != nil, loan))
        return await shown(run)
    }

    func run(_ target: RunTarget) async throws(APIError) -> WireRun {
        let record = try await record(target)
        let attempts = try await reading(await control.ledger.attempts(of: record.id))
        let stored = try await reading(await control.ledger.spec(of: record.job, revision: record.revision))
        var run = await shown(record, counting: true)
        run.attempts = attempts.map(WireAttempt.init)
        run.calls = toolCalls(of: record)
        if let parent = record.parent {
            run.parent = try await reading(await control.ledger.run(id: parent))?.name ?? parent
        }
        if let spec = record.spec ?? stored {
            run.timeoutMs = spec.timeout?.milliseconds
            run.graceMs = spec.grace.milliseconds
        }
        return run
    }

    func cancelRun(_ target: RunTarget) async throws(APIError) -> WireRun {
        let run = try await activeRecord(target)
        try await asking(await control.cancel(run))
        return await shown(try await reading(await control.ledger.run(id: run.id)) ?? run)
    }

    func setPaused(_ isPaused: Bool, _ target: RunTarget) async throws(APIError) -> WireRun {
        let run = try await activeRecord(target, hint: isPaused ? "belfry run pause" : "belfry run resume")
        try await asking(await control.setPaused(isPaused, run))
        return await shown(try await reading(await control.ledger.run(id: run.id)) ?? run)
    }

    func retryRun(_ target: RunTarget) async throws(APIError) -> WireRun {
        let run = try await record(target)
        let again = try await asking(await control.retry(run))
        return await shown(again)
    }

    func runs(_ query: RunsQuery) async throws(APIError) -> [WireRun] {
        if let job = query.job { try await knownOnce(job) }
        return try await listed(
            RunFilter(job: query.job, states: Set(query.states), since: query.since, limit: query.limit))
    }

    func history(_ name: String, _ query: HistoryQuery) async throws(APIError) -> [WireRun] {
        try await knownOnce(name)
        if let at = query.at { return try await slot(of: name, at: at) }
        return try await listed(RunFilter(job: name, limit: query.limit))
    }

    /// Where the time of a job goes; of commands of one name those with the arguments of the last one count.
    func profile(of name: String) async throws(APIError) -> WireProfile {
        try await knownOnce(name)
        let all = try await reading(
            await control.ledger.profiles(of: name, limit: FinishEstimator.runsKept * 3))
        let alike = all.alike(all.last?.arguments).suffix(FinishEstimator.runsKept + 1)
        return WireProfile(job: name, Array(alike))
    }

    /// The run as the API shows it, with where it is now; with `counting` also how many are before it.
    func shown(_ record: RunRecord, counting: Bool = false) async -> WireRun {
        let live = await control.board.state(of: record.id)
        var run = WireRun(record, live: live, at: control.clock.now)
        guard let wait = await control.wait(of: record, live, counting: counting) else { return run }
        run.waitsFor = WireWait(
            kind: wait.kind, name: wait.name, until: Timestamp(wait.until), before: wait.before)
        run.reason = run.reason ?? wait.kind.reason
        return run
    }

    /// Runs, and spans of slots that did not run, newest first.
    private func listed(_ filter: RunFilter) async throws(APIError) -> [WireRun] {
        let records = try await reading(await control.ledger.runs(filter))
        // Of skipped and missed only one is wanted: which spans those are is found among all.
        let isPart = filter.states.contains(.skipped) != filter.states.contains(.missed)
        let spans = try await reading(
            await control.ledger.spans(of: filter.job, limit: isPart ? .max : filter.limit))
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
    func knownOnce(_ name: String) async throws(APIError) {
        let ran = try await reading(await control.ledger.runs(RunFilter(job: name, limit: 1)))
        let passed = try await reading(ran.isEmpty ? await control.ledger.spans(of: name, limit: 1) : [])
        if ran.isEmpty, passed.isEmpty { _ = try await entry(name) }
    }
}

extension DaemonHandler {
    /// What happened to the slot of a job at a moment: its run, or the span with the reason why there is none.
    ///
    /// More than one row where the clock was set back so far that the moment came again; none when the job had
    /// no slot then.
    func slot(of job: String, at moment: Moment) async throws(APIError) -> [WireRun] {
        var rows: [WireRun] = []
        let newest = try await reading(await control.ledger.watermark())
        for era in (0...(newest?.era ?? 0)).reversed() {
            let run = try await reading(
                await control.ledger.run(job: job, cause: RunCause.slot(moment, era: era)))
            if let run { rows.append(await shown(run)) }
        }
        let spans = try await reading(await control.ledger.spans(of: job, limit: .max))
        return rows + spans.filter { $0.first <= moment && moment <= $0.last }.map(WireRun.init)
    }
}

// Which run is meant where a job's name may stand for it.

extension DaemonHandler {
    /// The run that is meant; of a job's name alone the newest one.
    ///
    /// - Throws: ``ErrorCode/noSuchRun`` with the name that was perhaps meant, the newest one there is, or how to start
    ///   the first; ``ErrorCode/noSuchJob``.
    func record(_ target: RunTarget) async throws(APIError) -> RunRecord {
        switch target {
        case .run(let name): return try await record(name)
        case .newest(let job): return try await newest(of: job)
        }
    }

    /// The run to cancel, pause or resume; of a job's name alone the one that is active, or if none is, the one that waits.
    ///
    /// - Throws: ``ErrorCode/runEnded`` when none is, ``ErrorCode/overlap`` with the names when several are.
    func activeRecord(
        _ target: RunTarget, hint command: String = "belfry run cancel"
    ) async throws(APIError) -> RunRecord {
        guard case .newest(let job) = target else { return try await record(target) }
        let states = Set(RunState.allCases.filter { !$0.isEnded })
        let runs = try await reading(await control.ledger.runs(RunFilter(job: job, states: states)))
        let active = runs.filter { $0.state != .scheduled && $0.state != .queued }
        let candidates = active.isEmpty ? runs : active
        guard let run = candidates.first else {
            let last = try await newest(of: job)
            throw APIError(
                .runEnded, "\"\(job)\" is not running",
                hint: "Its newest run is \(last.name) (\(last.state.rawValue)).")
        }
        guard candidates.count == 1 else {
            let names = candidates.prefix(5).map(\.name).joined(separator: ", ")
            throw APIError(
                .overlap,
                "\"\(job)\" has \(candidates.count) active runs (\(names)"
                    + (candidates.count > 5 ? ", ...)" : ")"),
                hint: "Name one: \(command) \(run.name)")
        }
        return run
    }

    private func newest(of job: String) async throws(APIError) -> RunRecord {
        let newest = try await reading(await control.ledger.runs(RunFilter(job: job, limit: 1)))
        if let run = newest.first { return run }
        try await knownOnce(job)
        throw APIError(.noSuchRun, "\"\(job)\" has no runs yet", hint: "Start one: belfry run \(job)")
    }

    private func record(_ name: RunName) async throws(APIError) -> RunRecord {
        do throws(EngineError) {
            return try await control.run(named: name.job, name.ordinal)
        } catch {
            guard case .noSuchRun = error else { throw APIError(error) }
            throw APIError(.noSuchRun, "no run \"\(name)\"", hint: try await hint(name))
        }
    }

    private func hint(_ name: RunName) async throws(APIError) -> String? {
        let newest = try await reading(await control.ledger.runs(RunFilter(job: name.job, limit: 1)))
        if let newest = newest.first { return "The newest is \(newest.name)." }
        let names = await control.slots.names()
        return NearestName.of(name.job, among: names).map { "Did you mean \"\($0)#\(name.ordinal)\"?" }
    }
}
