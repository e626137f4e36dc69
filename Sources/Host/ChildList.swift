import Glibc

/// The children of one thread, which are a process's own when it has no other: also adopted ones, zombies included.
///
/// The kernel's file is opened once, because it is read after every run.
package final class ChildList: Sendable {
    private let file: Descriptor

    /// The children of the calling thread; nil where the kernel does not report them.
    ///
    /// - Source: proc(5), `/proc/pid/task/tid/children`.
    package init?() {
        guard let file = try? Descriptor.open("/proc/thread-self/children", O_RDONLY) else { return nil }
        self.file = file
    }

    /// Their ids now; nil when they can't be read.
    package func read(bytesAtATime room: Int = 4096) -> [Int32]? {
        var pids: [Int32] = []
        var buffer = [UInt8](repeating: 0, count: room)
        var offset = 0
        var pid: Int32 = 0
        while true {
            let count = unsafe pread(file.raw, &buffer, buffer.count, offset)
            if count == 0 { return pids }
            guard count > 0 else {
                if errno == EINTR { continue }
                return nil
            }
            // An id may be cut between two reads; a blank follows each.
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: " ") {
                    pids.append(pid)
                    pid = 0
                } else {
                    pid = pid &* 10 &+ Int32(byte &- UInt8(ascii: "0"))
                }
            }
            offset += count
        }
    }
}
