import Glibc
import Host
import Performing

/// The newest bytes of a stream, for the record of its run's end.
struct RecentBytes {
    private var bytes: [UInt8] = []

    /// At most ``ExitRecord/tailLimit`` of them.
    var newest: [UInt8] { Array(bytes.suffix(ExitRecord.tailLimit)) }

    mutating func append(_ more: ArraySlice<UInt8>) {
        if more.count >= ExitRecord.tailLimit {
            bytes = Array(more.suffix(ExitRecord.tailLimit))
            return
        }
        bytes += more
        // Not with each short piece: what is in front is moved only now and then.
        if bytes.count > 2 * ExitRecord.tailLimit { bytes.removeFirst(bytes.count - ExitRecord.tailLimit) }
    }
}

/// The write end of a reader's pipe: writes what has room at once and keeps the rest, in order.
final class OutputSink {
    let descriptor: Descriptor
    private var waiting: [UInt8] = []
    private var start = 0
    /// Nobody reads the other end any more; what is written is dropped.
    private(set) var isBroken = false

    init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
    }

    /// Whether bytes wait for the reader.
    var hasWaiting: Bool { start < waiting.count }

    func write(_ bytes: ArraySlice<UInt8>) {
        guard !isBroken else { return }
        let sent = hasWaiting ? 0 : send(bytes)
        if !isBroken { waiting += bytes.dropFirst(sent) }
    }

    /// Writes what has room now of what waits.
    func flush() {
        guard hasWaiting else { return }
        start += send(waiting[start...])
        guard isBroken || !hasWaiting else { return }
        waiting = []
        start = 0
    }

    private func send(_ bytes: ArraySlice<UInt8>) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = bytes.dropFirst(sent)
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor.raw, $0.baseAddress, $0.count)
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                isBroken = true
                return bytes.count
            }
        }
        return sent
    }
}

/// Cuts what comes out of a `PROGRESS_FD` into lines.
struct LineSplitter {
    /// The longest line that is passed on; of a longer one nothing is.
    static let limit = 8192

    private var partial: [UInt8] = []
    private var isTooLong = false

    /// The lines that `bytes` completed, without their ends, empty ones left out.
    mutating func split(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            if let line = finish() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// What stands after the last line's end, when nothing more comes.
    mutating func finish() -> [UInt8]? {
        defer {
            partial = []
            isTooLong = false
        }
        if partial.last == 0x0D { partial.removeLast() }
        return partial.isEmpty || isTooLong ? nil : partial
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        if partial.count + bytes.count > Self.limit { isTooLong = true }
        if !isTooLong { partial += bytes }
    }
}
