package import Host
package import Performing

/// The fields of one frame or value, read whole; unknown ones are kept unread and do no harm.
package struct Fields {
    private enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    private let kind: UInt8
    private var values: [(number: Int, value: Value)] = []

    /// Splits `bytes`, which come from the other side and may be anything.
    package init(kind: UInt8, _ bytes: ArraySlice<UInt8>) throws(WardenError) {
        self.kind = kind
        var rest = bytes
        while !rest.isEmpty {
            let tag = try Self.takeVarint(&rest)
            guard tag >> 3 <= 0xFFFF else { throw .brokenField }
            let number = Int(tag >> 3)
            switch tag & 7 {
            case 0: values.append((number, .number(try Self.takeVarint(&rest))))
            case 2:
                let length = try Self.takeVarint(&rest)
                guard length <= UInt64(rest.count) else { throw .brokenField }
                values.append((number, .bytes(rest.prefix(Int(length)))))
                rest = rest.dropFirst(Int(length))
            default: throw .brokenField
            }
        }
    }

    /// Whether a field of this number is there.
    package func has(_ number: Int) -> Bool {
        values.contains { $0.number == number }
    }

    /// A number that fits a process id.
    package func processID(_ number: Int) throws(WardenError) -> Int32 {
        guard let pid = Int32(exactly: try self.number(number)) else {
            throw .badValue(kind: kind, number: number)
        }
        return pid
    }

    /// A number that must be there.
    package func number(_ number: Int) throws(WardenError) -> Int {
        guard let value = optionalNumber(number) else { throw .missingField(kind: kind, number: number) }
        return value
    }

    /// A number that may be absent.
    package func optionalNumber(_ number: Int) -> Int? {
        for case (number, .number(let value)) in values {
            return Int(truncatingIfNeeded: value >> 1) ^ -Int(truncatingIfNeeded: value & 1)
        }
        return nil
    }

    /// Bytes that must be there.
    package func bytes(_ number: Int) throws(WardenError) -> ArraySlice<UInt8> {
        for case (number, .bytes(let value)) in values { return value }
        throw .missingField(kind: kind, number: number)
    }

    /// A text that must be there.
    package func text(_ number: Int) throws(WardenError) -> String {
        guard let text = try optionalText(number) else { throw .missingField(kind: kind, number: number) }
        return text
    }

    /// A text that may be absent.
    package func optionalText(_ number: Int) throws(WardenError) -> String? {
        for case (number, .bytes(let value)) in values { return try text(value, number) }
        return nil
    }

    /// The bytes of every field of this number, in order.
    package func values(_ number: Int) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        for case (number, .bytes(let value)) in values { found.append(value) }
        return found
    }

    /// Every text under this number, in order.
    package func texts(_ number: Int) throws(WardenError) -> [String] {
        var texts: [String] = []
        for case (number, .bytes(let value)) in values { texts.append(try text(value, number)) }
        return texts
    }

    /// A key that must be there and may name a file.
    package func key(_ number: Int) throws(WardenError) -> RunKey {
        let fields = try Fields(kind: kind, try bytes(number))
        let key = RunKey(run: try fields.text(1), attempt: try fields.number(2))
        guard key.isValid else { throw .badValue(kind: kind, number: number) }
        return key
    }

    private func text(_ bytes: ArraySlice<UInt8>, _ number: Int) throws(WardenError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .badValue(kind: kind, number: number)
        }
        return text
    }

    private static func takeVarint(_ rest: inout ArraySlice<UInt8>) throws(WardenError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw .brokenField }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw .brokenField
    }
}

/// Builds one frame: a kind and numbered fields.
package struct FieldWriter {
    /// What was put, with the frame's head in front when it has a kind.
    package private(set) var bytes: [UInt8]

    /// A frame of this kind.
    package init(kind: UInt8) {
        bytes = [0, 0, 0, 0, kind]
    }

    /// Fields alone, for a value inside a field or a file.
    package init() {
        bytes = []
    }

    /// A frame of this kind around fields that are written already.
    package init(kind: UInt8, fields: [UInt8]) {
        bytes = [0, 0, 0, 0, kind] + fields
    }

    /// Puts a number, of either sign.
    package mutating func put(_ number: Int, _ value: Int) {
        put(tag: number, form: 0)
        // Zigzag: small negative numbers stay short.
        put(varint: UInt64(bitPattern: Int64((value << 1) ^ (value >> 63))))
    }

    /// Puts a text, as UTF-8.
    package mutating func put(_ number: Int, _ text: String) {
        put(tag: number, form: 2)
        put(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Puts bytes, or the fields of a value.
    package mutating func put(_ number: Int, _ value: [UInt8]) {
        put(tag: number, form: 2)
        put(varint: UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Puts a key.
    package mutating func put(_ number: Int, _ key: RunKey) {
        var fields = FieldWriter()
        fields.put(1, key.run)
        fields.put(2, key.attempt)
        put(number, fields.bytes)
    }

    /// An absent value is an absent field.
    package mutating func put(_ number: Int, ifKnown value: Int?) {
        if let value { put(number, value) }
    }

    /// An absent text is an absent field.
    package mutating func put(_ number: Int, ifKnown text: String?) {
        if let text { put(number, text) }
    }

    /// The finished frame, its length in front.
    package consuming func frame() -> [UInt8] {
        let length = UInt32(bytes.count - 4)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return bytes
    }

    private mutating func put(tag number: Int, form: UInt64) {
        put(varint: UInt64(number) << 3 | form)
    }

    private mutating func put(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Cuts a stream of bytes into frames.
package struct FrameBuffer: Sendable {
    /// The longest frame, without its length.
    package static let limit = 4 << 20

    private var bytes: [UInt8] = []
    private var start = 0

    /// Nothing received yet.
    package init() {}

    /// Adds what was received.
    package mutating func append(_ received: ArraySlice<UInt8>) {
        if start > 0, start == bytes.count || start > 1 << 16 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: received)
    }

    /// Receives once from `socket`, through `buffer`; false when the other side disconnected.
    ///
    /// Descriptors that came along are added to `received`.
    package mutating func receive(
        from socket: Descriptor, into buffer: inout [UInt8], received: inout [Descriptor]
    ) throws(WardenError) -> Bool {
        do throws(HostError) {
            switch try LocalSocket.receive(from: socket, into: &buffer, received: &received) {
            case .bytes(let count): append(buffer[..<count])
            case .wouldBlock: break
            case .end: return false
            }
            return true
        } catch {
            throw .host(error)
        }
    }

    /// The next whole frame: its kind and its fields; nil when more bytes are needed.
    ///
    /// - Throws: ``WardenError/badFrameLength(_:)``; nothing after it can be read.
    package mutating func next() throws(WardenError) -> (kind: UInt8, fields: ArraySlice<UInt8>)? {
        guard bytes.count - start >= 4 else { return nil }
        var length = 0
        for index in 0..<4 { length |= Int(bytes[start + index]) << (8 * index) }
        guard (1...Self.limit).contains(length) else { throw .badFrameLength(length) }
        guard bytes.count - start >= 4 + length else { return nil }
        let frame = bytes[(start + 4)..<(start + 4 + length)]
        start += 4 + length
        return (frame[frame.startIndex], frame.dropFirst())
    }
}

/// Frames that wait until the other side has room for them, and the descriptors that go with them.
package struct SendBuffer {
    private struct Segment {
        var bytes: [UInt8]
        var start = 0
        var passing: Descriptor?
    }

    private var segments: [Segment] = []
    /// How many bytes wait.
    package private(set) var count = 0
    /// Whether something waits.
    package var isWaiting: Bool { count > 0 }

    /// Nothing waits.
    package init() {}

    /// Adds a frame behind those that wait; `passing` travels with its first byte.
    package mutating func append(_ frame: [UInt8], passing: Descriptor? = nil) {
        count += frame.count
        if passing == nil, let last = segments.indices.last, segments[last].bytes.count < 1 << 16 {
            segments[last].bytes += frame
        } else {
            segments.append(Segment(bytes: frame, passing: passing))
        }
    }

    /// Sends what fits now; what does not stays.
    package mutating func flush(to socket: Descriptor) throws(HostError) {
        var done = 0
        defer { segments.removeSubrange(..<done) }
        while done < segments.count {
            let segment = segments[done]
            let sent = try LocalSocket.send(
                segment.bytes[segment.start...], over: socket, passing: segment.passing)
            if sent == 0 { return }
            count -= sent
            segments[done].start += sent
            segments[done].passing = nil
            if segments[done].start == segment.bytes.count { done += 1 }
        }
    }
}
