package import Performing
import Timeline

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
    }

    init(_ fields: Fields) throws(WardenError) {
        var survivors: [Survivor] = []
        for value in fields.values(14) {
            survivors.append(try Survivor(Fields(kind: Self.kind, value)))
        }
        self.init(
            key: try fields.key(1),
            // A cause this version has no word for says only that it ended.
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
