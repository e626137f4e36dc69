import CLinux
import Glibc
import Host

/// The write end of somebody's pipe: takes what has room at once and keeps the rest, in order.
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
