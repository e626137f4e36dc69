package import Host

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
