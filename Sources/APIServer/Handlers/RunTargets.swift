import API
import Cron
import Engine
import Ledger
import Tracking

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
