import API
import Delivery
package import Engine
import Glibc
import Host
import Ledger
package import Logging
import Performing
import Timeline
import Tracking
import WardenProtocol

/// Takes in what `belfry exec` left in the state folder's `spool` while no daemon was there.
///
/// Exactly once: a run's id is its cause, and its file goes only after its row is written. A file that is not what it
/// should be is set aside in `spool/refused`, and the log has the reason.
package actor SpoolDoor {
    private let control: Control
    private let folder: String
    private let identity: DaemonIdentity
    private let logger: Logger

    /// The door of the daemon whose identity this is; opens nothing.
    package init(control: Control, identity: DaemonIdentity, logger: Logger) {
        self.control = control
        self.identity = identity
        self.logger = logger
        folder = identity.state + "/spool"
    }

    /// Takes in all that is there; how many runs are still under way.
    @discardableResult
    package func takeIn() async -> Int {
        var (taken, waiting) = (0, 0)
        let names = (try? Folder.names(in: folder)) ?? []
        for name in names.sorted() where name.hasSuffix(".json") {
            switch await takeIn(String(name.dropLast(5))) {
            case true?: taken += 1
            case nil: waiting += 1
            case false?: break
            }
        }
        if taken > 0 { logger.notice("recorded runs of belfry exec", metadata: ["count": "\(taken)"]) }
        return waiting
    }

    /// Whether it is a new run of the ledger; nil: it is still under way, or must be tried again.
    private func takeIn(_ id: String) async -> Bool? {
        let path = "\(folder)/\(id).json"
        do {
            let file = SpooledFile(id: id, path: path, now: control.clock.now)
            guard let ended = try file.record() else { return nil }
            let run = await control.filed(ended)
            if let known = try await control.ledger.run(id: id), known.cause != run.cause {
                throw SpoolRefusal("\(known.name) bears its id")
            }
            moveOutput(of: id, job: run.job)
            let isNew = try await control.takeIn(run)
            unsafe unlink(path)
            unsafe unlink(file.wardenPath)
            return isNew
        } catch let refusal as SpoolRefusal {
            setAside(id, because: refusal.description)
            return false
        } catch {
            // The ledger's trouble: the file stays for the next time.
            logger.error(
                "a spooled run can't be recorded", metadata: ["file": "\(path)", "reason": "\(error)"])
            return nil
        }
    }

    private func moveOutput(of id: String, job: String) {
        let log = "\(id).log"
        let target = identity.places.output(of: id, job: job, attempt: 1)
        try? PrivateFolder.make(SmallFile.parent(of: target), within: identity.state)
        for name in (try? Folder.names(in: folder)) ?? [] where name == log || name.hasPrefix(log + ".") {
            unsafe rename("\(folder)/\(name)", target + name.dropFirst(log.count))
        }
    }

    private func setAside(_ id: String, because reason: String) {
        let refused = folder + "/refused"
        try? PrivateFolder.make(refused, within: identity.state)
        let isAside = unsafe rename("\(folder)/\(id).json", "\(refused)/\(id).json") == 0
        logger.warning(
            "a spooled run was refused",
            metadata: ["file": "\(isAside ? refused : folder)/\(id).json", "reason": "\(reason)"])
    }
}

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
