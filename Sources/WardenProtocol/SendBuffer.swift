package import Host

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
