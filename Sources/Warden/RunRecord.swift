import Host
import Performing
import Timeline
import WardenProtocol

/// What the warden knows of one attempt on disk.
///
/// A record file is a row of frames, one for each thing that happened; one that was cut off is ignored.
struct RunRecord {
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

    /// The frame that says the run has ended.
    static func endingFrame(_ record: ExitRecord) -> [UInt8] {
        FieldWriter(kind: 3, fields: record.fileBytes).frame()
    }
}

extension RunRecord.Started {
    /// The frame that says the run has started.
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
