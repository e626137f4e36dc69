import Glibc
import Host
import Performing
import WardenProtocol

extension Warden {
    /// Leaves the folder to another warden, and only finishes what runs here.
    ///
    /// Its records, its socket and its lock move to a folder of its own; whoever dies in between leaves
    /// everything where the next warden looks for it. The lock of the shared folder goes last.
    func retire() {
        guard !phase.isRetired else { return send(.retired) }
        let retired = RetiredWardens(directory: options.directory)
        do throws(HostError) {
            try PrivateFolder.make(retired.own)
            let held = try StateLock(folder: retired.own)
            let own = try RecordStore(directory: retired.own, state: options.state)
            for key in outcomes.store.keys { _ = outcomes.store.move(key, to: own) }
            guard unsafe rename(options.directory + "/warden.sock", retired.own + "/warden.sock") == 0 else {
                throw .last("rename", retired.own)
            }
            outcomes.store = own
            phase.isRetired = true
            lock = held
            send(.retired)
        } catch {
            // Still in charge: the next one will try again.
            for key in (try? RecordStore(directory: retired.own, state: nil))?.keys ?? [] {
                _ = (try? RecordStore(directory: retired.own, state: nil))?.move(key, to: outcomes.store)
            }
            retired.remove(String(getpid()))
        }
    }

    /// Whether a retired warden has nothing left to do: its outcomes are acknowledged, or wait for the
    /// warden in charge, which takes their records over.
    func hasFinished(_ now: Duration) -> Bool {
        outcomes.isEmpty || links.awaySince.map { now - $0 >= .seconds(2) } ?? false
    }

    /// Takes over the runs of retired wardens that have ended.
    func adoptRetired() {
        for key in RetiredWardens(directory: options.directory).adopt(into: outcomes.store) {
            guard runs[key] == nil, outcomes[key] == nil, let record = outcomes.store.record(of: key) else {
                continue
            }
            adopt(record)
        }
    }

    /// What must be gone when this warden is.
    func leaveFolder() {
        if phase.isRetired {
            RetiredWardens(directory: options.directory).remove(String(getpid()))
        } else {
            unsafe unlink(options.directory + "/warden.sock")
            removeFolder()
        }
    }

    /// Leaves no folder behind when there is nothing in it that another warden would need.
    ///
    /// The lock is held to the end; one who waits for it sees that its file is gone, and makes another.
    private func removeFolder() {
        for folder in ["/old", "/runs", "/n"] {
            let isGone = unsafe rmdir(options.directory + folder) == 0 || errno == ENOENT
            guard isGone else { return }
        }
        unsafe unlink(options.directory + "/lock")
        unsafe rmdir(options.directory)
    }
}
