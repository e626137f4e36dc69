import CLinux
import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// What the warden knows of one attempt on disk.
///
/// A record file is a row of frames, one for each thing that happened; one that was cut off is ignored.
struct AttemptFile {
    /// The first process of the run, as its record names it.
    struct Started: Hashable {
        var pid: Int32
        var startTime: UInt64
        var at: Moment
        /// Since boot, for what is left of its time.
        var instant: Duration
    }

    var key: RunKey
    /// The boot in which it was made.
    var bootID: String
    /// When it was made: just before the start.
    var madeAt: Moment
    var timeout: Duration?
    var grace: Duration
    /// The control group made for it.
    var group: ControlGroup?
    /// Nil when the warden ended between making the record and starting the process, or just after.
    var started: Started?
    /// Since when it is paused, since boot; nil: it is not.
    var pausedAt: Duration?
    /// How long it was paused before that.
    var paused = Duration.zero
    var ended: ExitRecord?

    init(
        key: RunKey, bootID: String, madeAt: Moment, timeout: Duration?, grace: Duration,
        group: ControlGroup? = nil
    ) {
        self.key = key
        self.bootID = bootID
        self.madeAt = madeAt
        self.timeout = timeout
        self.grace = grace
        self.group = group
    }

    /// Reads a record file; nil when not even its first frame is whole.
    init?(fileBytes: [UInt8]) {
        var buffer = FrameBuffer()
        buffer.append(fileBytes[...])
        guard let first = try? buffer.next(), first.kind == 1, let made = try? Fields(kind: 1, first.fields),
            let key = try? made.key(1), let bootID = try? made.text(2), let madeAt = made.optionalNumber(3)
        else { return nil }
        self.init(
            key: key, bootID: bootID, madeAt: Moment(microseconds: Int64(madeAt)),
            timeout: made.optionalNumber(5).map { .microseconds($0) },
            grace: .microseconds(made.optionalNumber(4) ?? 10_000_000),
            group: (try? made.optionalText(6)).flatMap { $0 }.map(ControlGroup.init(path:)))
        while let frame = try? buffer.next() {
            switch frame.kind {
            case 2: started = Started(frame.fields)
            case 4: pausedAt = pausedAt ?? Self.instant(kind: 4, frame.fields)
            case 5:
                if let since = pausedAt, let now = Self.instant(kind: 5, frame.fields) {
                    paused += max(.zero, now - since)
                    pausedAt = nil
                }
            case 3: ended = try? ExitRecord(fileBytes: Array(frame.fields))
            default: break
            }
        }
    }

    /// The first frame of the file.
    var makingFrame: [UInt8] {
        var fields = FieldWriter(kind: 1)
        fields.put(1, key)
        fields.put(2, bootID)
        fields.put(3, Int(madeAt.microseconds))
        fields.put(4, Int(grace.microseconds))
        fields.put(5, ifKnown: timeout.map { Int($0.microseconds) })
        fields.put(6, ifKnown: group?.path)
        return fields.frame()
    }

    /// The frame of a pause that begins at a moment since boot.
    static func pausingFrame(at now: Duration) -> [UInt8] { frame(4, at: now) }

    /// The frame of the end of a pause.
    static func resumingFrame(at now: Duration) -> [UInt8] { frame(5, at: now) }

    private static func frame(_ kind: UInt8, at now: Duration) -> [UInt8] {
        var fields = FieldWriter(kind: kind)
        fields.put(1, Int(now.microseconds))
        return fields.frame()
    }

    private static func instant(kind: UInt8, _ bytes: ArraySlice<UInt8>) -> Duration? {
        (try? Fields(kind: kind, bytes))?.optionalNumber(1).map { .microseconds($0) }
    }

    /// The frame of the run's end.
    static func endingFrame(_ record: ExitRecord) -> [UInt8] {
        FieldWriter(kind: 3, fields: record.fileBytes).frame()
    }
}

extension AttemptFile.Started {
    /// The frame of the run's start.
    var frame: [UInt8] {
        var fields = FieldWriter(kind: 2)
        fields.put(1, Int(pid))
        fields.put(2, Int(truncatingIfNeeded: startTime))
        fields.put(3, Int(at.microseconds))
        fields.put(4, Int(instant.microseconds))
        return fields.frame()
    }

    fileprivate init?(_ bytes: ArraySlice<UInt8>) {
        guard let fields = try? Fields(kind: 2, bytes), let pid = try? fields.processID(1),
            let startTime = fields.optionalNumber(2), let at = fields.optionalNumber(3),
            let instant = fields.optionalNumber(4)
        else { return nil }
        self.init(
            pid: pid, startTime: UInt64(bitPattern: Int64(startTime)), at: Moment(microseconds: Int64(at)),
            instant: .microseconds(instant))
    }
}

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
    func make(_ record: AttemptFile) throws(HostError) -> Descriptor {
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
    func record(of key: RunKey) -> AttemptFile? {
        (try? SmallFile.read(path(key))).flatMap(AttemptFile.init(fileBytes:))
    }

    /// Every record of the runtime folder.
    ///
    /// Files that are not records are left alone.
    func all() -> [AttemptFile] { keys.compactMap(record) }

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
