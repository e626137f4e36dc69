/// Decodes compiled time zone files, version 1 to 4.
///
/// Later versions repeat the data with 64-bit times and end with a POSIX rule for the time after the last
/// change; that part is used when it is there.
/// - Source: RFC 9636 section 3.
struct TZifDecoder {
    private let bytes: [UInt8]

    /// The table of the file's changes.
    ///
    /// Never reads outside `bytes`; its work is linear in their number.
    static func decode(_ bytes: [UInt8]) throws(TimelineError) -> ZoneTable {
        let decoder = TZifDecoder(bytes: bytes)
        let first = try decoder.header(at: 0)
        guard first.version >= 2 else { return try decoder.table(first, timeSize: 4, rule: nil) }
        let second = try decoder.header(at: first.dataStart + first.length(timeSize: 4))
        let footerStart = second.dataStart + second.length(timeSize: 8)
        return try decoder.table(second, timeSize: 8, rule: decoder.footer(at: footerStart))
    }

    /// One header: six counts after the magic, the version and 15 reserved bytes.
    private struct Header {
        var version: Int
        var dataStart: Int
        var utIndicators: Int
        var standardIndicators: Int
        var leapSeconds: Int
        var changes: Int
        var types: Int
        var nameBytes: Int

        func length(timeSize: Int) -> Int {
            changes * (timeSize + 1) + types * 6 + nameBytes + leapSeconds * (timeSize + 4)
                + standardIndicators + utIndicators
        }
    }

    private func header(at start: Int) throws(TimelineError) -> Header {
        guard bytes.count >= start + 44 else { throw error(at: bytes.count, "the file ends inside a header") }
        guard bytes[start..<start + 4].elementsEqual("TZif".utf8) else {
            throw error(at: start, "no TZif header is here")
        }
        let mark = bytes[start + 4]
        func count(_ number: Int) -> Int { Int(unsigned(at: start + 20 + number * 4)) }
        let header = Header(
            version: mark == 0 ? 1 : Int(mark) - 0x30, dataStart: start + 44, utIndicators: count(0),
            standardIndicators: count(1), leapSeconds: count(2), changes: count(3), types: count(4),
            nameBytes: count(5))
        guard (1...9).contains(header.version) else {
            throw error(at: start + 4, "the version byte is not one of TZif")
        }
        guard header.changes <= 10_000 else {
            throw error(at: start + 32, "\(header.changes) changes are more than any zone has")
        }
        let timeSize = start == 0 ? 4 : 8
        guard bytes.count - header.dataStart >= header.length(timeSize: timeSize) else {
            throw error(at: bytes.count, "the file ends inside its data")
        }
        return header
    }

    private func table(_ header: Header, timeSize: Int, rule: PosixZone?) throws(TimelineError) -> ZoneTable {
        guard header.types > 0 else { throw error(at: header.dataStart, "the file names no local time type") }
        guard header.leapSeconds == 0 else {
            throw error(at: header.dataStart, "the file counts leap seconds, which moments do not")
        }
        let numbersStart = header.dataStart + header.changes * timeSize
        let typesStart = numbersStart + header.changes
        var offsets: [Int32] = []
        for type in 0..<header.types {
            let offset = Int32(bitPattern: unsigned(at: typesStart + type * 6))
            guard (-89_999...93_599).contains(offset) else {
                throw error(at: typesStart + type * 6, "an offset of \(offset) seconds is impossible")
            }
            offsets.append(offset)
        }
        var changes: [(at: Int64, offset: Int32)] = []
        for number in 0..<header.changes {
            let place = header.dataStart + number * timeSize
            let at = timeSize == 8 ? signed64(at: place) : Int64(Int32(bitPattern: unsigned(at: place)))
            let type = Int(bytes[numbersStart + number])
            guard type < header.types else {
                throw error(at: numbersStart + number, "type \(type) does not exist")
            }
            if let last = changes.last, at <= last.at {
                throw error(at: place, "the changes are not in order")
            }
            changes.append((at, offsets[type]))
        }
        // Some writers begin with a change at the Big Bang; it would only widen the index. (10,000 BC.)
        while let first = changes.first, first.at < -377_705_116_800 {
            offsets[0] = first.offset
            changes.removeFirst()
        }
        if let last = changes.last, last.at > 7_289_654_400 {
            throw error(at: header.dataStart, "a change lies after the year 2200")
        }
        if let rule, changes.isEmpty, rule.daylight == nil { offsets[0] = rule.standard }
        return ZoneTable(initial: offsets[0], changes: changes, rule: rule)
    }

    private func footer(at start: Int) throws(TimelineError) -> PosixZone? {
        guard start < bytes.count, bytes[start] == 0x0A else {
            throw error(at: start, "the rule for the future does not begin on a line of its own")
        }
        guard let end = bytes[(start + 1)...].firstIndex(of: 0x0A) else {
            throw error(at: bytes.count, "the rule for the future is not ended")
        }
        guard end > start + 1 else { return nil }
        return try PosixZoneParser.parse(Array(bytes[(start + 1)..<end]), base: start + 1)
    }

    private func unsigned(at place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func signed64(at place: Int) -> Int64 {
        Int64(bitPattern: bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) })
    }

    private func error(at place: Int, _ message: String) -> TimelineError {
        TimelineError(.notZoneData, at: place..<min(place + 1, max(place, bytes.count)), message)
    }
}

/// Reads a text's bytes from left to right; used by the parsers of this target.
struct ByteReader {
    let bytes: [UInt8]
    var position = 0

    init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    /// The byte at the position, 0 at the end.
    var current: UInt8 { isAtEnd ? 0 : bytes[position] }

    /// Steps over `byte` if it is next.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard !isAtEnd, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// The digits from here, at most `limit` of them, as a number; `nil` when there is none.
    mutating func number(limit: Int) -> (value: Int, digits: Int)? {
        let start = position
        var value = 0
        while !isAtEnd, position - start < limit, bytes[position].isDigit {
            value = value * 10 + Int(bytes[position] - 0x30)
            position += 1
        }
        return position == start ? nil : (value, position - start)
    }
}

extension UInt8 {
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }
}
