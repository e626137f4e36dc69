import API
package import Engine
import Glibc
import Host
import Ledger
package import Logging
import Timeline
import Tracking

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
