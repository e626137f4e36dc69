import Glibc
import Host
import Performing
import WardenProtocol

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

    /// Moves the records of those that are gone to `store`, and removes what else is left of them.
    ///
    /// - Returns: the attempts of which there are now records in `store`.
    func adopt(into store: RecordStore) -> [RunKey] {
        var adopted: [RunKey] = []
        for name in names {
            let folder = folder + "/" + name
            // Held until all is moved, so that nobody else does the same.
            guard let lock = try? StateLock(folder: folder),
                let theirs = try? RecordStore(directory: folder, state: nil)
            else { continue }
            for key in theirs.keys where theirs.move(key, to: store) { adopted.append(key) }
            remove(name)
            _ = consume lock
        }
        return adopted
    }

    /// Removes the folder of one that is over, unless records are left in it.
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
