import API
import Engine
import Host
import Ledger
import ServiceLifecycle
import Timeline
import Tracking

/// Waits for the ends of runs that a bot asked for.
struct RunWatch {
    private let daemon: DaemonHandler

    init(_ daemon: DaemonHandler) { self.daemon = daemon }

    /// The rows of these runs once all have ended, or as they are when the time is up, the task is cancelled, or the run
    /// `asker` that wants to know has ended itself; `note` is called with the rows each time something happened.
    func ends(
        of ids: [String], within limit: Duration, for asker: String? = nil,
        _ note: ([RunRecord]) async -> Void = { _ in }
    ) async throws(APIError) -> [RunRecord] {
        let (clock, board) = (daemon.control.clock, daemon.control.board)
        let deadline = clock.sinceBoot + limit
        let commits = daemon.control.ledger.commits()
        let (news, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wake.yield()
        let result = await withTaskGroup(of: Void.self) { group -> Result<[RunRecord], APIError> in
            defer { group.cancelAll() }
            group.addTask {
                for await stations in commits where stations.contains(.runs) { wake.yield() }
                wake.finish()
            }
            group.addTask { for await _ in board.taps() { wake.yield() } }
            group.addTask {
                // A wait that is cut short looks again, and nothing more.
                try? await clock.sleep(until: clock.now + limit)
                wake.yield()
            }
            do throws(APIError) {
                for await _ in news {
                    let rows = try await current(ids)
                    await note(rows)
                    if rows.allSatisfy(\.state.isEnded) || clock.sinceBoot >= deadline {
                        return .success(rows)
                    }
                    if let asker, try await current([asker]).allSatisfy(\.state.isEnded) {
                        return .success(rows)
                    }
                }
                // The daemon stops: what is waited for goes on.
                guard Task.isCancelled, !Task.isShuttingDownGracefully else {
                    return .failure(APIError(.stopping))
                }
                return .success(try await current(ids))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func current(_ ids: [String]) async throws(APIError) -> [RunRecord] {
        let rows = try await daemon.reading(await daemon.control.ledger.runs(ids: ids))
        return ids.compactMap { id in rows.first { $0.id == id } }
    }

    /// The beginning of what the run's last attempt printed or replied, without what steers a terminal.
    func output(of run: RunRecord, limit: Int) -> String {
        let path = daemon.identity.places.output(of: run.id, job: run.job, attempt: run.attempt)
        // A run that printed nothing has no output.
        guard let slice = try? OutputLog(path: path).read(from: 0, limit: limit) else { return "" }
        let text = String(decoding: slice.bytes, as: UTF8.self)
        let isCut = run.outputBytes.map { $0 > Int64(slice.bytes.count) } ?? false
        return isCut ? text + "\n… \(run.name) has more" : text
    }
}

extension RunRecord {
    /// How it ended: `completed`, `failed: exit code 3`.
    var sentence: String {
        guard state != .completed else { return "completed" }
        return state.words + (reason.map { ": " + $0.words } ?? "")
    }
}

extension WireToolProgress {
    /// How far a run is that a call waits for.
    init(_ live: LiveState?, of name: String, hasEnded: Bool = false) {
        let words = hasEnded ? "has ended" : live?.message ?? live?.phase
        self.init(
            progress: hasEnded ? 1 : live?.progress,
            message: CleanText.line(words.map { "\(name): \($0)" } ?? name, limit: 300))
    }

    /// How far several are that a call waits for: what nobody knows of one counts as nothing.
    init(together parts: [WireToolProgress]) {
        let done = parts.reduce(0) { $0 + ($1.progress ?? 0) }
        self.init(
            progress: parts.isEmpty ? nil : done / Double(parts.count),
            message: parts.compactMap(\.message).joined(separator: "; "))
    }
}
