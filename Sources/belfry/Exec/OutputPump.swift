import Glibc
import Host

/// Copies what comes out of a pipe to one of this process's own streams, byte for byte, never waiting for either.
struct OutputPump {
    /// How a turn ended.
    enum Outcome {
        /// There may be more at once.
        case more
        /// The pipe is empty for now.
        case waits
        /// The stream takes nothing now.
        case isFull
        /// All is copied.
        case ended
        /// The stream takes nothing any more; `EPIPE` when nobody reads it.
        case failed(HostError)
    }

    let source: Descriptor
    /// Where it goes; nil: nowhere.
    private(set) var target: Int32?
    /// Whether the target is a terminal.
    let isTerminal: Bool
    /// Whether what went to a terminal so far ended a line.
    private(set) var isAtLineStart = true
    private var splices: Bool
    private var waiting: ArraySlice<UInt8> = []
    private var buffer: [UInt8] = []

    init(_ source: Descriptor, to target: Int32?) {
        self.source = source
        self.target = target
        isTerminal = target.map { isatty($0) == 1 } ?? false
        splices = target.map(Descriptor.isPipe) ?? false
    }

    /// Copies nothing from now on, and still empties the pipe.
    mutating func discard() {
        target = nil
        splices = false
        waiting = []
    }

    mutating func pump() -> Outcome {
        do throws(HostError) {
            return try splices ? splice() : copy()
        } catch {
            if splices, error.code == EINVAL {
                splices = false
                return .more
            }
            return .failed(error)
        }
    }

    private mutating func splice() throws(HostError) -> Outcome {
        guard let target else { return try copy() }
        switch try source.splice(to: target) {
        case .bytes: return .more
        case .end: return .ended
        case .wouldBlock: return Self.isReady(source.raw, POLLIN) ? .isFull : .waits
        }
    }

    private mutating func copy() throws(HostError) -> Outcome {
        if waiting.isEmpty {
            if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 1 << 16) }
            switch try source.read(into: &buffer) {
            case .bytes(let count): waiting = buffer[..<count]
            case .end: return .ended
            case .wouldBlock: return .waits
            }
        }
        guard let target else {
            waiting = []
            return .more
        }
        while !waiting.isEmpty {
            guard Self.isReady(target, POLLOUT) else { return .isFull }
            // What a stream that has room takes without waiting, at least: PIPE_BUF.
            let part = waiting.prefix(4096)
            let count = unsafe part.withUnsafeBytes { unsafe write(target, $0.baseAddress, $0.count) }
            if count > 0 {
                isAtLineStart = part[part.startIndex + count - 1] == 0x0A
                waiting = waiting.dropFirst(count)
            } else if errno == EAGAIN {
                return .isFull
            } else if errno != EINTR {
                throw .last("write")
            }
        }
        return .more
    }

    private static func isReady(_ descriptor: Int32, _ event: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        // An error counts as ready: the call that follows says what it is.
        return unsafe poll(&waiting, 1, 0) == 1
    }
}
