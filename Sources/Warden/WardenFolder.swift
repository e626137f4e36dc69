import Glibc
import Host
import Performing
import WardenProtocol

/// The folder of a warden: its lock, where its socket and its records are, and how another one takes its place.
final class WardenFolder {
    private let directory: String
    private let state: String?
    /// Of the shared folder; of its own one when it is retired.
    private var lock: StateLock
    /// Another warden is in charge: this one starts nothing any more.
    private(set) var isRetired = false

    /// Makes the folder when it is missing, and holds its lock.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` when another warden has it.
    init(_ directory: String, state: String?) throws(HostError) {
        self.directory = directory
        self.state = state
        try PrivateFolder.make(directory)
        lock = try StateLock(folder: directory)
    }

    /// Where daemons connect.
    var socket: String { directory + "/warden.sock" }

    /// The wardens that made way and still finish their runs.
    var retired: RetiredWardens { RetiredWardens(directory: directory) }

    /// The store of the records here and in the state.
    func makeStore() throws(HostError) -> RecordStore { try RecordStore(directory: directory, state: state) }

    /// Leaves the folder to another warden, with the records of `outcomes`; true: this one is retired.
    ///
    /// Its records, its socket and its lock move to a folder of its own; if it dies in between, everything is
    /// where the next warden looks for it. The lock of the shared folder moves last. When one of them can't be moved
    /// it is still in charge.
    func retire(_ outcomes: Outcomes) -> Bool {
        guard !isRetired else { return true }
        do throws(HostError) {
            try PrivateFolder.make(retired.own)
            let held = try StateLock(folder: retired.own)
            let own = try RecordStore(directory: retired.own, state: state)
            for key in outcomes.store.keys { _ = outcomes.store.move(key, to: own) }
            guard unsafe rename(socket, retired.own + "/warden.sock") == 0 else {
                throw .last("rename", retired.own)
            }
            outcomes.store = own
            isRetired = true
            lock = held
            return true
        } catch {
            moveBack(to: outcomes.store)
            return false
        }
    }

    private func moveBack(to store: RecordStore) {
        for key in (try? RecordStore(directory: retired.own, state: nil))?.keys ?? [] {
            _ = (try? RecordStore(directory: retired.own, state: nil))?.move(key, to: store)
        }
        retired.remove(String(getpid()))
    }

    /// Removes what must not stay behind when this warden ends.
    func leave() {
        if isRetired {
            retired.remove(String(getpid()))
        } else {
            unsafe unlink(socket)
            remove()
        }
    }

    /// Leaves no folder behind when there is nothing in it that another warden would need.
    ///
    /// The lock is held to the end; one who waits for it sees that its file was removed, and makes another.
    private func remove() {
        for folder in ["/old", "/runs", "/n"] {
            let isRemoved = unsafe rmdir(directory + folder) == 0 || errno == ENOENT
            guard isRemoved else { return }
        }
        unsafe unlink(directory + "/lock")
        unsafe rmdir(directory)
    }
}

/// Wardens that start nothing any more and only finish their runs, each with a folder of its own in `old`.
///
/// Such a folder is laid out as the warden's own: `lock`, `warden.sock`, `runs`.
struct RetiredWardens {
    private let folder: String

    /// Those below a warden's folder.
    init(directory: String) {
        folder = directory + "/old"
    }

    /// Where this process goes when it retires.
    var own: String { "\(folder)/\(getpid())" }

    /// The ids of those that still work, as the folders are named.
    var working: Set<String> {
        Set(names.filter { (try? StateLock(folder: folder + "/" + $0)) == nil })
    }

    /// Moves the records of those that have ended to `store`, and removes what else is left of them.
    ///
    /// - Returns: the attempts of which there are now records in `store`.
    func adopt(into store: RecordStore) -> [RunKey] {
        var adopted: [RunKey] = []
        for name in names {
            let folder = folder + "/" + name
            // Held until all is moved, so that no other warden does the same.
            guard let lock = try? StateLock(folder: folder),
                let theirs = try? RecordStore(directory: folder, state: nil)
            else { continue }
            for key in theirs.keys where theirs.move(key, to: store) { adopted.append(key) }
            remove(name)
            _ = consume lock
        }
        return adopted
    }

    /// Removes the folder of one that has ended, unless records are left in it.
    func remove(_ name: String) {
        let folder = folder + "/" + name
        unsafe unlink(folder + "/warden.sock")
        guard unsafe rmdir(folder + "/runs") == 0 else { return }
        unsafe unlink(folder + "/lock")
        unsafe rmdir(folder)
    }

    private var names: [String] {
        ((try? Folder.names(in: folder)) ?? []).filter { Int32($0) != nil }
    }
}
