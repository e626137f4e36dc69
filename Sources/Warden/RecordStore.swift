import CLinux
import Glibc
import Host
import Performing
import WardenProtocol

/// The record files of the runs: in the runtime folder, and synced in the state folder when asked.
struct RecordStore {
    private let folder: String
    /// The state folder, where records outlive a restart of the machine; nil for nowhere.
    private let state: String?
    private var saved: String? { state.map { $0 + "/warden" } }

    init(directory: String, state: String?) throws(HostError) {
        folder = directory + "/runs"
        self.state = state
        try PrivateFolder.make(folder)
    }

    /// Makes the record of an attempt that is about to start; what happens is written behind it.
    ///
    /// Throws `EEXIST` when there is one already.
    func make(_ record: RunRecord) throws(HostError) -> Descriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try Descriptor.open(path(record.key), flags, mode: 0o600)
        do throws(HostError) {
            try file.writeAll(record.makingFrame[...])
            return file
        } catch {
            unsafe unlink(path(record.key))
            throw error
        }
    }

    /// Adds what happened to the record of a run that another warden started.
    func append(_ frame: [UInt8], to key: RunKey) throws(HostError) {
        let file = try Descriptor.open(path(key), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, mode: 0o600)
        try file.writeAll(frame[...])
    }

    /// Forgets the attempt, here and in the state folder.
    func remove(_ key: RunKey, isSaved: Bool) {
        unsafe unlink(path(key))
        if isSaved, let saved { unsafe unlink("\(saved)/\(key)") }
    }

    /// Writes the outcome into the state folder, synced.
    ///
    /// False when there is none or it did not take it.
    func save(_ record: ExitRecord) -> Bool {
        guard let state, let saved, (try? PrivateFolder.make(saved, within: state)) != nil else {
            return false
        }
        let bytes = record.fileBytes
        return (try? SmallFile.replace("\(saved)/\(record.key)", with: bytes, isDurable: true)) != nil
    }

    /// The attempts with a record in the runtime folder.
    var keys: [RunKey] { keys(in: folder) }

    /// The record of an attempt; nil when there is none or it is not one.
    func record(of key: RunKey) -> RunRecord? {
        (try? SmallFile.read(path(key))).flatMap(RunRecord.init(fileBytes:))
    }

    /// Every record of the runtime folder.
    ///
    /// Files that are not records are left alone.
    func all() -> [RunRecord] { keys.compactMap(record) }

    /// Gives a record to another store in the same runtime folder; who writes to it notices nothing.
    func move(_ key: RunKey, to other: RecordStore) -> Bool {
        unsafe rename(path(key), other.path(key)) == 0
    }

    /// Whether there is an outcome of the attempt in the state folder.
    func hasSaved(_ key: RunKey) -> Bool {
        saved.map { unsafe access("\($0)/\(key)", F_OK) == 0 } ?? false
    }

    /// The outcomes in the state folder, of this boot or an earlier one.
    func allSaved() -> [ExitRecord] {
        guard let saved else { return [] }
        return keys(in: saved).compactMap { key in
            (try? SmallFile.read("\(saved)/\(key)")).flatMap { try? ExitRecord(fileBytes: $0) }
        }
    }

    private func path(_ key: RunKey) -> String { "\(folder)/\(key)" }

    private func keys(in folder: String) -> [RunKey] {
        ((try? Folder.names(in: folder)) ?? []).compactMap(RunKey.init(description:))
    }
}
