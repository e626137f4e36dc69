package import Performing
package import Timeline

/// What the warden reports to the daemon, as it travels.
///
/// The Engine reads it as `PerformerEvent`.
package enum WardenMessage: Hashable, Sendable {
    /// The answer to the daemon's hello.
    case hello(WardenHello)
    /// The attempt runs: just started, or known from before.
    case started(RunKey, pid: Int32, startTime: UInt64, at: Moment)
    /// The attempt was not started.
    case refused(RunKey, Refusal, text: String)
    /// A copy of what it printed. Copies may be left out under pressure: then `offset` is larger than
    /// the end of the one before.
    case output(RunKey, offset: Int, bytes: [UInt8])
    /// A line written to its `PROGRESS_FD`, without the line's end.
    case report(RunKey, line: [UInt8])
    /// A datagram sent to its `NOTIFY_SOCKET` that the warden read itself.
    case notify(RunKey, datagram: [UInt8])
    /// Its `NOTIFY_SOCKET` comes with this message: from now on the daemon reads it.
    case notifySocket(RunKey)
    /// The attempt ended. Repeated on every new connection until acknowledged.
    case ended(ExitRecord)
    /// Nothing is known of the attempt.
    case unknown(RunKey)
    /// Everything known has been reported.
    case caughtUp
    /// It has accepted its input up to `end`; `isClosed`: it reads no more.
    case inputTaken(RunKey, end: Int, isClosed: Bool)
    /// The warden starts nothing any more, and its folder is free for another one.
    case retired
    /// The streams are kept for the order that names this token.
    case attached(token: String)
    /// The attempt ended, and processes it left behind still hold this stream open; everything printed up to the
    /// end is in it, and what they print goes there, too, as long as somebody reads it.
    case outlived(RunKey, stream: Int)
}

/// What a warden reports about itself when a daemon connects.
package struct WardenHello: Hashable, Sendable {
    /// The version of this source; it rises with every addition.
    package static let currentVersion = 4

    /// The version of the protocol it speaks.
    package var version: Int
    /// Its process.
    package var pid: Int32
    /// When its process started, in clock ticks since the machine did.
    package var startTime: UInt64
    /// The boot it runs in.
    ///
    /// No run of another boot is alive.
    package var bootID: String
    /// How many runs are alive in it now.
    package var runs: Int
    /// Which program it is, the one it was launched as, else its own file, by `Machine.build(of:)`; nil when unknown.
    package var build: String?

    /// Whether it knows how to make way for a newer one.
    var mayRetire: Bool { version >= 2 && build != nil }

    /// A hello of these values.
    package init(
        version: Int = currentVersion, pid: Int32, startTime: UInt64, bootID: String, runs: Int,
        build: String? = nil
    ) {
        self.version = version
        self.pid = pid
        self.startTime = startTime
        self.bootID = bootID
        self.runs = runs
        self.build = build
    }
}

// The numbers in this file are the protocol: they are never used again for something else.

extension WardenMessage {
    /// The frame of this message.
    package var frame: [UInt8] {
        switch self {
        case .hello(let hello):
            var fields = FieldWriter(kind: 1)
            fields.put(1, hello.version)
            fields.put(2, Int(hello.pid))
            fields.put(3, Int(truncatingIfNeeded: hello.startTime))
            fields.put(4, hello.bootID)
            fields.put(5, hello.runs)
            fields.put(6, ifKnown: hello.build)
            return fields.frame()
        case .started(let key, let pid, let startTime, let at):
            var fields = FieldWriter(kind: 2)
            fields.put(1, key)
            fields.put(2, Int(pid))
            fields.put(3, Int(truncatingIfNeeded: startTime))
            fields.put(4, Int(at.microseconds))
            return fields.frame()
        case .refused(let key, let refusal, let text):
            var fields = FieldWriter(kind: 3)
            fields.put(1, key)
            fields.put(2, refusal.number)
            fields.put(3, text)
            return fields.frame()
        case .output(let key, let offset, let bytes):
            var fields = FieldWriter(kind: 4)
            fields.put(1, key)
            fields.put(2, offset)
            fields.put(3, bytes)
            return fields.frame()
        case .report(let key, let line): return Self.frame(5, key, line)
        case .notify(let key, let datagram): return Self.frame(6, key, datagram)
        case .notifySocket(let key): return Self.frame(7, key, nil)
        case .ended(let record):
            var fields = FieldWriter(kind: 8)
            record.write(to: &fields)
            return fields.frame()
        case .unknown(let key): return Self.frame(9, key, nil)
        case .caughtUp: return FieldWriter(kind: 10).frame()
        case .inputTaken(let key, let end, let isClosed):
            var fields = FieldWriter(kind: 11)
            fields.put(1, key)
            fields.put(2, end)
            fields.put(3, isClosed ? 1 : 0)
            return fields.frame()
        case .retired: return FieldWriter(kind: 12).frame()
        case .attached(let token):
            var fields = FieldWriter(kind: 40)
            fields.put(1, token)
            return fields.frame()
        case .outlived(let key, let stream):
            var fields = FieldWriter(kind: 41)
            fields.put(1, key)
            fields.put(2, stream)
            return fields.frame()
        }
    }

    /// Reads a frame of ``FrameBuffer``; nil when it is of a kind this version does not know.
    package init?(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(WardenError) {
        let fields = try Fields(kind: kind, bytes)
        switch kind {
        case 1:
            self = .hello(
                WardenHello(
                    version: try fields.number(1), pid: try fields.processID(2),
                    startTime: UInt64(bitPattern: Int64(try fields.number(3))), bootID: try fields.text(4),
                    runs: try fields.number(5), build: try fields.optionalText(6)))
        case 2:
            self = .started(
                try fields.key(1), pid: try fields.processID(2),
                startTime: UInt64(bitPattern: Int64(try fields.number(3))),
                at: Moment(microseconds: Int64(try fields.number(4))))
        case 3:
            let refusal = Refusal(number: try fields.number(2))
            self = .refused(try fields.key(1), refusal, text: try fields.text(3))
        case 4:
            self = .output(try fields.key(1), offset: try fields.number(2), bytes: Array(try fields.bytes(3)))
        case 5: self = .report(try fields.key(1), line: Array(try fields.bytes(2)))
        case 6: self = .notify(try fields.key(1), datagram: Array(try fields.bytes(2)))
        case 7: self = .notifySocket(try fields.key(1))
        case 8: self = .ended(try ExitRecord(fields))
        case 9: self = .unknown(try fields.key(1))
        case 10: self = .caughtUp
        case 11:
            self = .inputTaken(
                try fields.key(1), end: try fields.number(2), isClosed: fields.optionalNumber(3) == 1)
        case 12: self = .retired
        case 40: self = .attached(token: try fields.text(1))
        case 41: self = .outlived(try fields.key(1), stream: try fields.number(2))
        default: return nil
        }
    }

    private static func frame(_ kind: UInt8, _ key: RunKey, _ bytes: [UInt8]?) -> [UInt8] {
        var fields = FieldWriter(kind: kind)
        fields.put(1, key)
        if let bytes { fields.put(2, bytes) }
        return fields.frame()
    }
}
