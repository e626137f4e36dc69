import API
import Engine
import Host
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

extension DaemonHandler {
    /// A stretch of an attempt's output: to the next gap, to its end now, or with `follow` to the attempt's end.
    ///
    /// Without `attempt` it is the newest one that was started. The reader asks again behind the stretch; an empty
    /// answer shows that the attempt has no more.
    func logs(_ target: RunTarget, _ query: LogsQuery) async throws(APIError) -> StreamAnswer {
        let run = try await record(target)
        var shown = run
        shown.attempt = try await attempt(query, of: run)
        let path = identity.places.output(of: run.id, job: run.job, attempt: shown.attempt)
        let log = OutputLog(path: path)
        guard let first = try await firstSlice(log, query.offset, of: shown) else {
            let whole = run.attempt == 1 ? run.name : "attempt \(shown.attempt) of \(run.name)"
            throw APIError(.noOutput, "the output of \(whole) is no longer kept")
        }
        let fields = [
            OutputStream.offsetField: String(first.offset), OutputStream.attemptField: String(shown.attempt),
        ]
        return StreamAnswer(fields: fields) { [shown] writer in
            try await writer.write(first.bytes)
            try await copy(
                log, from: first.offset + first.bytes.count, of: shown, follow: query.follow, to: &writer)
        }
    }

    /// The attempt that is asked for, else the newest one that was started.
    private func attempt(_ query: LogsQuery, of run: RunRecord) async throws(APIError) -> Int {
        let asked = query.attempt.map { Int(clamping: $0) }
        var newest = run.attempt
        // The next attempt counts from the moment the one before it failed.
        if newest > 1, run.state == .queued || run.state.isEnded {
            let started = try await reading(await control.ledger.attempts(of: run.id))
            newest = started.map(\.n).max() ?? 1
        }
        guard let asked, asked != newest else { return newest }
        guard asked <= run.attempt else {
            let count = newest == 1 ? "one attempt" : "\(newest) attempts"
            throw APIError(
                .noSuchAttempt, "\(run.name) has no attempt \(asked)",
                hint: "It has \(count). See: belfry run show \(run.name)")
        }
        guard asked < newest || query.follow && !run.state.isEnded else {
            throw APIError(.noSuchAttempt, "attempt \(asked) of \(run.name) has not started")
        }
        return asked
    }

    /// Writes what the attempt prints until a gap, its end now, or with `follow` the attempt's end.
    @concurrent
    private func copy(
        _ log: OutputLog, from start: Int, of run: RunRecord, follow: Bool, to writer: inout any BodyWriter
    ) async throws {
        var end = start
        // Before the read: what was printed before the end is then read after it.
        var isOver = follow ? try await hasEnded(run) : true
        let growth = OutputGrowth(of: log, notices, clock: control.clock)
        while true {
            let slice = try read(log, from: end, of: run)
            if slice.offset != end { return }
            if !slice.bytes.isEmpty {
                try await writer.write(slice.bytes)
                end = slice.end
                continue
            }
            if isOver { return }
            if try await growth.wait() == .unknown { isOver = try await hasEnded(run) }
        }
    }

    /// The first bytes and where they stand, none when they are still to come; nil when nothing is kept.
    private func firstSlice(
        _ log: OutputLog, _ offset: Int, of run: RunRecord
    ) async throws(APIError) -> (offset: Int, bytes: [UInt8])? {
        let current = try await reading(await control.ledger.run(id: run.id))
        let isLast = current.map { $0.attempt == run.attempt } ?? true
        let attempts = try await reading(isLast ? [] : await control.ledger.attempts(of: run.id))
        let slice = try read(log, from: offset, of: run)
        let isOver = current?.state.isEnded ?? true || !isLast
        let count = isLast ? current?.outputBytes : attempts.first { $0.n == run.attempt }?.outputBytes
        guard isOver, slice.bytes.isEmpty, let count else { return (slice.offset, slice.bytes) }
        // It printed something, and its log was removed.
        if !log.exists, count > 0 { return nil }
        // What it printed last was not kept: there is nothing more, and so much is missing.
        return (max(slice.offset, Int(clamping: count)), [])
    }

    /// What is kept from there on: nothing where there is no file yet, or any more.
    private func read(
        _ log: OutputLog, from offset: Int, of run: RunRecord
    ) throws(APIError) -> OutputLog.Slice {
        do throws(HostError) {
            return try log.read(from: offset)
        } catch {
            throw APIError(.internalFault, "the output of \(run.name) can't be read: \(error)")
        }
    }

    private func hasEnded(_ run: RunRecord) async throws -> Bool {
        try await control.ledger.run(id: run.id).map { $0.state.isEnded || $0.attempt > run.attempt } ?? true
    }
}
