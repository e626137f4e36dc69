package import Performing
package import Timeline

/// What the daemon asks of the warden.
package enum WardenCommand: Hashable, Sendable {
    /// The first command of a connection, with the version of the protocol the daemon speaks.
    case hello(version: Int)
    /// Start this attempt, once. Answered by started or refused; a repeated order is answered with what
    /// is true now, started or ended, and starts nothing.
    case start(ProcessOrder)
    /// End this attempt's whole process tree: TERM, its grace, KILL. Answered by ended when all have ended,
    /// or unknown. `reason`, at most 64 bytes, comes back in the record.
    case cancel(RunKey, reason: String)
    /// Report what is known: of one attempt (started, ended or unknown), or of all, closed by caughtUp.
    case query(RunKey?)
    /// The outcome of this attempt is in the ledger: forget its record. Not answered.
    case acknowledge(RunKey)
    /// What the attempt reported up to this number is in the ledger: forget those reports. Not answered.
    case acknowledgeReports(RunKey, through: Int)
    /// Bytes for the run to read, the first of them at `offset` of all that it is given. Those that came
    /// before are passed over, so that a sender that lost its connection can continue after what was accepted.
    /// Answered by inputTaken as the run takes them; one that is further ahead than
    /// ``ProcessOrder/inputWindow`` loses what is too much.
    case input(RunKey, offset: Int, bytes: [UInt8])
    /// Nothing more comes for the run to read; at a terminal its end-of-file character is typed.
    case closeInput(RunKey)
    /// The run's terminal has another size: its foreground processes get SIGWINCH.
    case resize(RunKey, PtySize)
    /// Send the run's process group a signal, 1...64, and the foreground group of its terminal.
    case signal(RunKey, number: Int)
    /// Stop this attempt's whole process tree until it is resumed; its timeout stands still meanwhile. Not answered;
    /// repeated, it changes nothing.
    case pause(RunKey)
    /// Continue a paused attempt; one that is not paused is left alone. Not answered.
    case resume(RunKey)
    /// Start nothing any more, and end when the last run has ended and its outcome is acknowledged: a newer
    /// warden takes over. Answered by retired.
    case retire

    // What a terminal sends on a connection of its own, in place of hello.

    /// A descriptor comes with this: stream 0, 1 or 2 of a job to come. Not answered.
    case offer(stream: Int)
    /// The streams offered before belong to the start order that names this token. Answered by attached; then
    /// the attempt is reported here, too.
    case attach(token: String)
    /// Nobody reads this stream any more: the job that writes to it learns it from its pipe. Not answered.
    case endStream(Int)
}

extension WardenCommand {
    /// The version of the protocol whose warden knows this command; see ``WardenHello/version``.
    package var neededVersion: Int {
        switch self {
        case .start(let order): order.neededVersion
        case .pause, .resume: 4
        case .acknowledgeReports: 5
        case .hello, .cancel, .query, .acknowledge, .input, .closeInput, .resize, .signal, .retire, .offer,
            .attach,
            .endStream:
            1
        }
    }

    /// The attempt it is about, if it is about one.
    var key: RunKey? {
        switch self {
        case .hello, .query(nil), .retire, .offer, .attach, .endStream: nil
        case .start(let order): order.key
        case .cancel(let key, _), .query(let key?), .acknowledge(let key), .acknowledgeReports(let key, _),
            .input(let key, _, _), .closeInput(let key), .resize(let key, _), .signal(let key, _),
            .pause(let key), .resume(let key):
            key
        }
    }
}

// The numbers in this file are the protocol: they are never used again for something else.

extension WardenCommand {
    /// The frame of this command.
    package var frame: [UInt8] {
        switch self {
        case .hello(let version):
            var fields = FieldWriter(kind: 1)
            fields.put(1, version)
            return fields.frame()
        case .start(let order):
            var fields = FieldWriter(kind: 2)
            order.write(to: &fields)
            return fields.frame()
        case .cancel(let key, let reason):
            var fields = FieldWriter(kind: 3)
            fields.put(1, key)
            fields.put(2, reason)
            return fields.frame()
        case .query(let key):
            var fields = FieldWriter(kind: 4)
            if let key { fields.put(1, key) }
            return fields.frame()
        case .acknowledge(let key): return Self.frame(5, key)
        case .input(let key, let offset, let bytes):
            var fields = FieldWriter(kind: 6)
            fields.put(1, key)
            fields.put(2, offset)
            fields.put(3, bytes)
            return fields.frame()
        case .closeInput(let key): return Self.frame(7, key)
        case .resize(let key, let size):
            var fields = FieldWriter(kind: 8)
            fields.put(1, key)
            fields.put(2, size.rows)
            fields.put(3, size.columns)
            return fields.frame()
        case .signal(let key, let number):
            var fields = FieldWriter(kind: 9)
            fields.put(1, key)
            fields.put(2, number)
            return fields.frame()
        case .retire: return FieldWriter(kind: 10).frame()
        case .pause(let key): return Self.frame(11, key)
        case .resume(let key): return Self.frame(12, key)
        case .acknowledgeReports(let key, let number):
            var fields = FieldWriter(kind: 13)
            fields.put(1, key)
            fields.put(2, number)
            return fields.frame()
        case .offer(let stream):
            var fields = FieldWriter(kind: 40)
            fields.put(1, stream)
            return fields.frame()
        case .attach(let token):
            var fields = FieldWriter(kind: 41)
            fields.put(1, token)
            return fields.frame()
        case .endStream(let stream):
            var fields = FieldWriter(kind: 42)
            fields.put(1, stream)
            return fields.frame()
        }
    }

    /// Reads a frame of ``FrameBuffer``; nil when it is of a kind this version does not know.
    package init?(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(WardenError) {
        let fields = try Fields(kind: kind, bytes)
        switch kind {
        case 1: self = .hello(version: try fields.number(1))
        case 2: self = .start(try ProcessOrder(fields))
        case 3:
            let reason = try fields.text(2)
            guard reason.utf8.count <= 64 else { throw .badValue(kind: kind, number: 2) }
            self = .cancel(try fields.key(1), reason: reason)
        case 4: self = .query(fields.has(1) ? try fields.key(1) : nil)
        case 5: self = .acknowledge(try fields.key(1))
        case 6:
            let offset = try fields.number(2)
            guard offset >= 0 else { throw .badValue(kind: kind, number: 2) }
            self = .input(try fields.key(1), offset: offset, bytes: Array(try fields.bytes(3)))
        case 7: self = .closeInput(try fields.key(1))
        case 8:
            let size = PtySize(rows: try fields.number(2), columns: try fields.number(3))
            guard size.isValid else { throw .badValue(kind: kind, number: 2) }
            self = .resize(try fields.key(1), size)
        case 9:
            let number = try fields.number(2)
            guard (1...64).contains(number) else { throw .badValue(kind: kind, number: 2) }
            self = .signal(try fields.key(1), number: number)
        case 10: self = .retire
        case 11: self = .pause(try fields.key(1))
        case 12: self = .resume(try fields.key(1))
        case 13: self = .acknowledgeReports(try fields.key(1), through: try fields.number(2))
        case 40: self = .offer(stream: try Self.stream(fields, kind))
        case 41:
            let token = try fields.text(1)
            guard (1...64).contains(token.utf8.count) else { throw .badValue(kind: kind, number: 1) }
            self = .attach(token: token)
        case 42: self = .endStream(try Self.stream(fields, kind))
        default: return nil
        }
    }

    private static func stream(_ fields: Fields, _ kind: UInt8) throws(WardenError) -> Int {
        let number = try fields.number(1)
        guard (0...2).contains(number) else { throw .badValue(kind: kind, number: 1) }
        return number
    }

    private static func frame(_ kind: UInt8, _ key: RunKey) -> [UInt8] {
        var fields = FieldWriter(kind: kind)
        fields.put(1, key)
        return fields.frame()
    }
}

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
    ///
    /// `number` counts the reports of the attempt that the warden read, from 1. Those that are not acknowledged are
    /// repeated on every new connection, the newest 64 of them; nil of a warden of an older version, which repeats none.
    case report(RunKey, line: [UInt8], number: Int? = nil)
    /// A datagram sent to its `NOTIFY_SOCKET` that the warden read itself; `number` as for a line.
    case notify(RunKey, datagram: [UInt8], number: Int? = nil)
    /// Its `NOTIFY_SOCKET` comes with this message, as it reports fast: from now on the daemon reads it.
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
    package static let currentVersion = 5

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
        case .report(let key, let line, let number): return Self.frame(5, key, line, number)
        case .notify(let key, let datagram, let number): return Self.frame(6, key, datagram, number)
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
        case 5:
            self = .report(
                try fields.key(1), line: Array(try fields.bytes(2)), number: fields.optionalNumber(3))
        case 6:
            self = .notify(
                try fields.key(1), datagram: Array(try fields.bytes(2)), number: fields.optionalNumber(3))
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

    private static func frame(
        _ kind: UInt8, _ key: RunKey, _ bytes: [UInt8]?, _ number: Int? = nil
    ) -> [UInt8] {
        var fields = FieldWriter(kind: kind)
        fields.put(1, key)
        if let bytes { fields.put(2, bytes) }
        fields.put(3, ifKnown: number)
        return fields.frame()
    }
}
