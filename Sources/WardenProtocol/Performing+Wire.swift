package import Performing
import Timeline

// The numbers in this file are the protocol: they are never used again for something else.

extension ProcessOrder {
    private static let kind: UInt8 = 2

    func write(to fields: inout FieldWriter) {
        fields.put(1, key)
        switch work {
        case .command(let words): for word in words { fields.put(2, word) }
        case .shell(let text): fields.put(3, text)
        }
        for (name, value) in environment { fields.put(4, name + "=" + value) }
        fields.put(5, ifKnown: folder)
        fields.put(6, ifKnown: timeout.map { Int($0.microseconds) })
        fields.put(7, Int(grace.microseconds))
        fields.put(8, output.path)
        fields.put(9, output.headBytes)
        fields.put(10, output.tailBytes)
        fields.put(11, isOutputWatched ? 1 : 0)
        fields.put(12, ifKnown: umask.map(Int.init))
        fields.put(40, ifKnown: attachment)
        fields.put(41, ifKnown: leftoverGrace.map { Int($0.microseconds) })
        fields.put(42, ifKnown: errorPath)
        for name in inherited ?? [] { fields.put(43, name) }
        fields.put(13, ifKnown: pty?.rows)
        fields.put(14, ifKnown: pty?.columns)
        switch stdin {
        case .none: break
        case .pipe: fields.put(15, 1)
        case .pty: fields.put(15, 2)
        case .text(let bytes): fields.put(16, bytes)
        case .file(let path): fields.put(17, path)
        }
        fields.put(18, ifKnown: user)
        fields.put(19, ifKnown: nice)
        for (limit, most) in limits {
            var pair = FieldWriter()
            pair.put(1, limit.number)
            pair.put(2, most)
            fields.put(20, pair.bytes)
        }
    }

    init(_ fields: Fields) throws(WardenError) {
        let kind = Self.kind
        var environment: [String: String] = [:]
        for pair in try fields.texts(4) {
            let bytes = pair.utf8
            guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > bytes.startIndex else {
                throw .badValue(kind: kind, number: 4)
            }
            environment[String(pair[..<equals])] = String(pair[bytes.index(after: equals)...])
        }
        let (grace, head, tail) = (try fields.number(7), try fields.number(9), try fields.number(10))
        guard grace >= 0 else { throw .badValue(kind: kind, number: 7) }
        guard (0...1 << 40).contains(head) else { throw .badValue(kind: kind, number: 9) }
        guard (0...1 << 40).contains(tail) else { throw .badValue(kind: kind, number: 10) }
        let timeout = fields.optionalNumber(6)
        guard timeout.map({ $0 > 0 }) ?? true else { throw .badValue(kind: kind, number: 6) }
        let words = try fields.texts(2)
        self.init(
            key: try fields.key(1),
            work: try fields.optionalText(3).map(Work.shell) ?? .command(words),
            environment: environment, folder: try fields.optionalText(5),
            timeout: timeout.map { .microseconds($0) }, grace: .microseconds(grace),
            output: Output(path: try fields.text(8), headBytes: head, tailBytes: tail),
            isOutputWatched: fields.optionalNumber(11) != 0,
            umask: fields.optionalNumber(12).map { UInt32(truncatingIfNeeded: $0) & 0o777 },
            pty: try Self.terminal(fields), stdin: try Self.input(fields),
            user: try fields.optionalText(18), nice: try Self.nice(fields), limits: try Self.limits(fields))
        attachment = try fields.optionalText(40)
        leftoverGrace = fields.optionalNumber(41).map { .microseconds(max(0, $0)) }
        errorPath = try fields.optionalText(42)
        if fields.has(43) { inherited = try fields.texts(43) }
    }

    private static func terminal(_ fields: Fields) throws(WardenError) -> PtySize? {
        guard fields.has(13) else { return nil }
        let size = PtySize(rows: try fields.number(13), columns: try fields.number(14))
        guard size.isValid else { throw .badValue(kind: kind, number: 13) }
        return size
    }

    private static func input(_ fields: Fields) throws(WardenError) -> Input {
        if fields.has(16) { return .text(Array(try fields.bytes(16))) }
        if let path = try fields.optionalText(17) { return .file(path) }
        switch fields.optionalNumber(15) {
        case nil: return .none
        case 1: return .pipe
        case 2 where fields.has(13): return .pty
        default: throw .badValue(kind: kind, number: 15)
        }
    }

    private static func nice(_ fields: Fields) throws(WardenError) -> Int? {
        guard let nice = fields.optionalNumber(19) else { return nil }
        guard (-20...19).contains(nice) else { throw .badValue(kind: kind, number: 19) }
        return nice
    }

    private static func limits(_ fields: Fields) throws(WardenError) -> [ResourceLimit: Int] {
        var limits: [ResourceLimit: Int] = [:]
        for value in fields.values(20) {
            let pair = try Fields(kind: kind, value)
            // One that this warden has no word for must not be passed over: the run would have no limit.
            guard let limit = ResourceLimit(number: try pair.number(1)), try pair.number(2) >= 0 else {
                throw .badValue(kind: kind, number: 20)
            }
            limits[limit] = try pair.number(2)
        }
        return limits
    }

    /// The version of the protocol whose warden does all that this asks for; see ``WardenHello/version``.
    ///
    /// An older one would skip what it does not know, and start the run as another user.
    package var neededVersion: Int {
        if errorPath != nil || inherited != nil { return 3 }
        return pty == nil && stdin == .none && user == nil && nice == nil && limits.isEmpty ? 1 : 2
    }
}

extension ResourceLimit {
    /// Its number in the protocol, which is Linux's number of the same limit.
    ///
    /// - Source: getrlimit(2).
    package var number: Int {
        switch self {
        case .cpuSeconds: 0
        case .fileBytes: 1
        case .stackBytes: 3
        case .coreBytes: 4
        case .processes: 6
        case .descriptors: 7
        case .memoryBytes: 9
        }
    }

    /// The limit of this number; nil for one that this version does not know.
    init?(number: Int) {
        guard let limit = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = limit
    }
}

// The numbers in this file are the protocol, and the format of the record files.

extension ExitRecord {
    private static let kind: UInt8 = 8

    func write(to fields: inout FieldWriter) {
        fields.put(1, key)
        fields.put(2, cause.number)
        fields.put(3, ifKnown: exitCode)
        fields.put(4, ifKnown: signal)
        fields.put(5, ifKnown: cancelReason)
        fields.put(6, Int(pid ?? 0))
        fields.put(7, Int(startedAt.microseconds))
        fields.put(8, Int(endedAt.microseconds))
        fields.put(9, ifKnown: elapsed.map { Int($0.microseconds) })
        fields.put(10, ifKnown: cpu.map { Int($0.microseconds) })
        fields.put(11, ifKnown: maxResidentKiB)
        fields.put(12, outputBytes)
        // Read by the daemons that know no more than how many there are.
        fields.put(13, survivors.count)
        for survivor in survivors.prefix(Self.survivorLimit) { fields.put(14, survivor.fields) }
        if !outputTail.isEmpty { fields.put(15, outputTail) }
        if !errorTail.isEmpty { fields.put(16, errorTail) }
    }

    init(_ fields: Fields) throws(WardenError) {
        var survivors: [Survivor] = []
        for value in fields.values(14) {
            survivors.append(try Survivor(Fields(kind: Self.kind, value)))
        }
        self.init(
            key: try fields.key(1),
            // A cause this version does not know counts as a plain end.
            cause: Cause(number: try fields.number(2)) ?? .exited,
            exitCode: fields.optionalNumber(3), signal: fields.optionalNumber(4),
            cancelReason: try fields.optionalText(5), pid: try fields.processID(6),
            startedAt: Moment(microseconds: Int64(try fields.number(7))),
            endedAt: Moment(microseconds: Int64(try fields.number(8))),
            elapsed: fields.optionalNumber(9).map { .microseconds($0) },
            cpu: fields.optionalNumber(10).map { .microseconds($0) },
            // Older wardens wrote 0 for what nobody measured.
            maxResidentKiB: fields.optionalNumber(11).flatMap { $0 > 0 ? $0 : nil },
            outputBytes: fields.optionalNumber(12) ?? 0, survivors: survivors)
        // Older wardens keep none.
        if fields.has(15) { outputTail = Array(try fields.bytes(15).suffix(Self.tailLimit)) }
        if fields.has(16) { errorTail = Array(try fields.bytes(16).suffix(Self.tailLimit)) }
    }

    /// The record as bytes of a file.
    package var fileBytes: [UInt8] {
        var fields = FieldWriter()
        write(to: &fields)
        return fields.bytes
    }

    /// Reads ``fileBytes`` back.
    package init(fileBytes: [UInt8]) throws(WardenError) {
        try self.init(Fields(kind: Self.kind, fileBytes[...]))
    }
}

extension ExitRecord.Cause {
    var number: Int {
        switch self {
        case .exited: 1
        case .timeout: 2
        case .canceled: 3
        case .lost: 4
        }
    }

    init?(number: Int) {
        guard let cause = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = cause
    }
}

extension Survivor {
    var fields: [UInt8] {
        var fields = FieldWriter()
        fields.put(1, Int(pid))
        fields.put(2, name)
        return fields.bytes
    }

    init(_ fields: Fields) throws(WardenError) {
        self.init(pid: try fields.processID(1), name: try fields.text(2))
    }
}

extension Refusal {
    var number: Int {
        switch self {
        case .other: 0
        case .notFound: 1
        case .notExecutable: 2
        case .badFolder: 3
        case .badOutput: 4
        case .badOrder: 5
        case .tooLong: 6
        case .exhausted: 7
        case .badInput: 8
        case .noSuchUser: 9
        case .notPermitted: 10
        case .stillAlive: 11
        }
    }

    /// The reason of this number; a newer warden's unknown one reads as ``other``.
    init(number: Int) {
        self = Self.allCases.first { $0.number == number } ?? .other
    }
}
