import API
import Engine
import Host
import Ledger
import Timeline
import Tracking
import WardenProtocol

extension DaemonHandler {
    /// The name of the field that says how much the run printed before the answer's first byte.
    static let offsetField = "belfry-offset"

    /// A stretch of a run's output: to the next gap, to its end now, or with `follow` to the end of the run.
    ///
    /// The reader asks again behind it; an empty answer says that there is nothing more.
    func logs(_ job: String, _ ordinal: Int, _ request: APIRequest) async throws(APIError) -> APIResponse {
        let run = try await record(job, ordinal)
        let offset = Int(clamping: try request.query.number("offset") ?? 0)
        let path = identity.places.output(of: run.id, job: run.job, attempt: run.attempt)
        let log = OutputLog(path: path)
        let follow = request.query.flag("follow")
        guard let first = try await firstSlice(log, offset, of: run) else {
            throw APIError(.noOutput, "the output of \(run.name) is not kept")
        }
        return .stream(
            contentType: "application/octet-stream", fields: [Self.offsetField: String(first.offset)]
        ) { writer in
            try await writer.write(first.bytes)
            try await copy(
                log, from: first.offset + first.bytes.count, of: run, follow: follow, to: &writer)
        }
    }

    /// Writes what the run prints until a gap, its end now, or with `follow` the end of the run.
    @concurrent
    private func copy(
        _ log: OutputLog, from start: Int, of run: RunRecord, follow: Bool, to writer: inout any BodyWriter
    ) async throws {
        var end = start
        var pause = Self.shortestPause
        while true {
            // Before the read: what was printed before the end is then read after it.
            let isOver = follow ? try await hasEnded(run) : true
            // No slice: there is no file yet.
            let slice = try? log.read(from: end)
            if let slice, slice.offset != end { return }
            if let slice, !slice.bytes.isEmpty {
                try await writer.write(slice.bytes)
                end = slice.end
                pause = Self.shortestPause
                continue
            }
            if isOver { return }
            try await control.clock.sleep(until: control.clock.now + pause)
            pause = min(pause * 2, .seconds(1))
        }
    }

    private static let shortestPause = Duration.milliseconds(50)

    /// The first bytes and where they stand, none when they are still to come; nil when nothing is kept.
    private func firstSlice(
        _ log: OutputLog, _ offset: Int, of run: RunRecord
    ) async throws(APIError) -> (offset: Int, bytes: [UInt8])? {
        let current = try await reading { () async throws(LedgerError) in
            try await control.ledger.run(id: run.id)
        }
        guard let slice = try? log.read(from: offset) else { return nil }
        let isOver = current?.state.isEnded ?? true
        // It printed something, and retention took it away.
        if isOver, slice.bytes.isEmpty, !log.exists, current?.outputBytes ?? 0 > 0 { return nil }
        // What it printed last was not kept: there is nothing more, and so much is missing.
        if isOver, slice.bytes.isEmpty, let count = current?.outputBytes {
            return (max(slice.offset, Int(clamping: count)), [])
        }
        return (slice.offset, slice.bytes)
    }

    private func hasEnded(_ run: RunRecord) async throws -> Bool {
        try await control.ledger.run(id: run.id)?.state.isEnded ?? true
    }
}
