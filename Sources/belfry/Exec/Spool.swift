import API
import APIClient
import Host
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

/// Keeps a run for the next daemon: `spool/ID.json` in the state folder, and its output beside it.
final class Spool {
    /// Where the run's output begins.
    let log: String
    private let folder: String
    private let file: String
    private var run: SpooledRun
    private var isKept = true

    init(folder: String, _ request: ExecRequest, id: String, name: String, warden: WardenHello) {
        self.folder = folder
        file = "\(folder)/\(id).json"
        log = "\(folder)/\(id).log"
        run = SpooledRun(
            id: id, job: name, command: request.command, cwd: request.cwd, startedAt: Timestamp(.now),
            watcher: ProcessMark(pid: warden.pid, startTime: warden.startTime, boot: warden.bootID))
        run.bot = request.bot
        run.notify = request.notify
        run.notifyAfterMs = request.notifyAfterMs
    }

    /// Writes down, for good, that the run is about to begin; false, after reporting it, when that can't be kept.
    func begin() -> Bool {
        do {
            try PrivateFolder.make(SmallFile.parent(of: folder))
            try PrivateFolder.make(folder)
            try save()
        } catch {
            isKept = false
            StandardError.print("belfry: this run can't be recorded: \(error)")
        }
        return isKept
    }

    /// Writes down, for good, how it ended, and notifies a daemon that has started meanwhile.
    func finish(_ end: ExecEnd) {
        guard isKept else { return }
        (run.state, run.reason) = end.outcome
        run.endedAt = Timestamp(.now)
        if case .ended(let record) = end {
            run.startedAt = Timestamp(record.startedAt)
            run.endedAt = Timestamp(record.end)
            run.exitCode = record.exitCode
            run.signal = record.signal
            run.cpuMs = record.cpu?.milliseconds
            run.maxRssKb = record.maxResidentKiB.map(Int64.init)
            let left = record.survivors.map { WireSurvivor(pid: $0.pid, name: $0.name) }
            run.survivors = left.isEmpty ? nil : left
            run.outputBytes = Int64(record.outputBytes)
        }
        do {
            try save()
        } catch {
            StandardError.print("belfry: the outcome of this run can't be recorded: \(error)")
        }
        let patience = (try? Patience.wished(else: .seconds(2))) ?? .seconds(2)
        for socket in Paths.socketsToTry().prefix(1) {
            try? DaemonClient(socket: socket, timeout: patience, longest: patience).ask(Endpoints.spool())
        }
    }

    private func save() throws {
        try SmallFile.replace(file, with: try WireCoding.encode(run), isDurable: true)
    }
}
