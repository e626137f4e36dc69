import API
import Engine
import Host
import Ledger
import Performing
import Synchronization
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

/// Waits for more of an output that somebody else writes.
///
/// The kernel reports each write. The end of the run follows the last one soon, and is looked for at growing intervals.
final class OutputGrowth {
    /// What ended a wait.
    enum Occasion {
        /// More was written.
        case written
        /// It is time to look what is true now.
        case unknown
    }

    /// What the thread that reports writes leaves for the reader.
    private final class Arrivals: Sendable {
        let bell = Bell()
        private let last = Mutex<WriteNotices.Notice?>(nil)

        func note(_ notice: WriteNotices.Notice) {
            last.withLock { last in
                if case .closed? = last { return }
                last = notice
            }
            bell.ring()
        }

        func take() -> WriteNotices.Notice? {
            last.withLock { last in
                defer { last = nil }
                return last
            }
        }
    }

    /// What is watched.
    private enum Place {
        case nowhere
        /// For the folder that the log will be in.
        case above
        /// For the log.
        case folder
        /// What the log has outgrown its head by.
        case pieces
    }

    private static let shortestPause = Duration.milliseconds(10)
    private static let longestPause = Duration.seconds(1)
    /// The longest where nobody reports writes.
    private static let blindPause = Duration.milliseconds(100)

    private let log: OutputLog
    private let notices: WriteNotices
    private let clock: any WallClock
    private let arrivals = Arrivals()
    private var watch: WriteNotices.Watch?
    private var place = Place.nowhere
    private var pause = OutputGrowth.shortestPause

    /// Begins to watch a log that may not be there yet.
    init(of log: OutputLog, _ notices: WriteNotices, clock: any WallClock) {
        self.log = log
        self.notices = notices
        self.clock = clock
    }

    /// Waits until there is a reason to look again.
    func wait() async throws -> Occasion {
        // Something may have been written before it was watched.
        if follow() { return .written }
        let deadline = clock.sinceBoot + pause
        while true {
            let left = max(.zero, deadline - clock.sinceBoot)
            try await arrivals.bell.wait(until: clock.now + left, on: clock)
            switch arrivals.take() {
            case .written:
                pause = Self.longestPause
                return .written
            case .closed:
                pause = Self.shortestPause
                return .unknown
            case nil:
                if follow() { return .written }
                guard clock.sinceBoot >= deadline else { continue }
                pause = min(pause * 2, watch == nil ? Self.blindPause : Self.longestPause)
                return .unknown
            }
        }
    }

    /// Watches where the next bytes are written to; whether that is elsewhere than before.
    private func follow() -> Bool {
        if place != .pieces, log.hasPieces {
            watch = notices.watch(folder: log.pieceFolder) { [arrivals] in arrivals.note($0) }
            place = .pieces
            return true
        }
        guard place == .nowhere || place == .above else { return false }
        if place == .nowhere {
            // The job's first run makes its folder.
            watch = notices.watch(SmallFile.parent(of: log.path)) { [arrivals] in arrivals.note($0) }
            if watch != nil { place = .above }
        }
        guard let inside = notices.watch(log.path, { [arrivals] in arrivals.note($0) }) else { return false }
        (watch, place) = (inside, .folder)
        return true
    }
}
