import API
import Delivery
import Engine
import Glibc
import Host
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

/// Why a file of the spool is set aside; a sentence.
struct SpoolRefusal: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// One file of the spool; anybody may have written it, so nothing in it is believed before it was looked at.
struct SpooledFile {
    let id: String
    let path: String
    let now: Moment

    /// The run as the ledger will have it; nil while it is under way.
    ///
    /// One whose watcher has ended is lost.
    func record() throws -> RunRecord? {
        guard Self.isID(id) else { throw SpoolRefusal("its name is no run's id") }
        let run = try read()
        guard run.form == SpooledRun.form else {
            throw SpoolRefusal("it is of form \(run.form), not \(SpooledRun.form)")
        }
        guard run.id == id else { throw SpoolRefusal("it names the run \"\(run.id.prefix(64))\"") }
        for name in [run.job, run.bot ?? "belfry"] {
            if let fault = JobName.fault(in: name) {
                throw SpoolRefusal("the name \"\(name.prefix(64))\": \(fault)")
            }
        }
        guard let program = run.command.first, !program.isEmpty else {
            throw SpoolRefusal("it names no command")
        }
        guard run.notify == nil || run.notify.flatMap(NotifyWish.init) != nil else {
            throw SpoolRefusal("notify is not always, failure or never")
        }
        guard [.running, .completed, .failed, .canceled, .timedOut, .lost].contains(run.state) else {
            throw SpoolRefusal("no run of it ends as \(run.state.rawValue)")
        }
        if run.state == .running {
            if let end = wardenRecord { return record(run, endedBy: end) }
            if isWatched(run.watcher) { return nil }
        }
        return record(run)
    }

    /// Where the warden of a `belfry exec` that was killed writes down how its run ended.
    var wardenPath: String { "\(SmallFile.parent(of: path))/warden/\(id).1" }

    private var wardenRecord: ExitRecord? {
        guard let bytes = try? SmallFile.read(wardenPath), let record = try? ExitRecord(fileBytes: bytes),
            record.key == RunKey(run: id, attempt: 1)
        else { return nil }
        return record
    }

    private func record(_ run: SpooledRun, endedBy end: ExitRecord) -> RunRecord {
        var run = run
        let outcome = RunOutcome(end)
        (run.state, run.reason) = (outcome.state, outcome.reason)
        run.startedAt = Timestamp(end.startedAt)
        run.endedAt = Timestamp(end.endedAt)
        run.exitCode = end.exitCode
        run.signal = end.signal
        run.cpuMs = end.cpu?.milliseconds
        run.maxRssKb = end.maxResidentKiB.map(Int64.init)
        run.survivors = end.leftProcesses?.map { WireSurvivor(pid: $0.pid, name: $0.name) }
        run.outputBytes = Int64(end.outputBytes)
        return record(run)
    }

    private func record(_ run: SpooledRun) -> RunRecord {
        let isLost = run.state == .running
        // A clock that was wrong, or a liar: nothing ended after now, or before it began.
        let started = min(max(run.startedAt.moment, Moment(microseconds: 0)), now)
        var record = RunRecord(
            id: id, job: run.job, bot: run.bot ?? "belfry", kind: .exec, cause: RunCause.exec(id),
            state: isLost ? .lost : run.state, queuedAt: started, revision: 0)
        record.reason = isLost ? .wardenLost : run.reason
        record.startedAt = started
        record.endedAt = min(max(run.endedAt?.moment ?? now, started), now)
        record.exitCode = run.exitCode.map { min(max($0, 0), 255) }
        record.signal = run.signal.flatMap { (1...64).contains($0) ? $0 : nil }
        record.queueDelay = .zero
        record.cpu = run.cpuMs.map { .milliseconds(min(max($0, 0), 1 << 40)) }
        record.maxRssKb = run.maxRssKb.map { max($0, 0) }
        record.survivors = run.survivors?.map { LeftProcess(pid: $0.pid, name: $0.name) }
        record.outputBytes = run.outputBytes.map { max($0, 0) }
        var spec = JobSpec(
            name: run.job, bot: run.bot ?? "belfry", action: .command(run.command),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        spec.directory = run.cwd.hasPrefix("/") ? run.cwd : nil
        spec.notify = run.notify.flatMap(NotifyWish.init)
        spec.notifyAfter = run.notifyAfterMs.map { .milliseconds(min(max($0, 0), 1 << 40)) }
        record.spec = spec
        return record
    }

    private func read() throws -> SpooledRun {
        let bytes: [UInt8]
        do throws(HostError) {
            let file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
            bytes = try SmallFile.read(file, path: path, limit: SpooledRun.limit)
        } catch {
            throw SpoolRefusal("\(error)")
        }
        do throws(APIError) {
            return try WireCoding.decode(SpooledRun.self, from: bytes)
        } catch {
            throw SpoolRefusal(error.message)
        }
    }

    private func isWatched(_ watcher: ProcessMark) -> Bool {
        watcher.boot == (try? Machine.bootID())
            && ProcessTable.isAlive(pid: watcher.pid, startTime: watcher.startTime)
    }

    /// A UUID in lower case, as file names and causes may hold it.
    static func isID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 36
            && bytes.enumerated().allSatisfy { index, byte in
                if [8, 13, 18, 23].contains(index) { return byte == 0x2D }
                return (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
            }
    }
}
