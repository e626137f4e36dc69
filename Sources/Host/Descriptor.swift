import CLinux
import Glibc

/// An open file descriptor with one owner, closed when the last reference goes.
///
/// Every descriptor the package opens is close-on-exec, so that no child inherits one by accident.
package final class Descriptor: Sendable {
    /// The number, for system calls.
    ///
    /// Valid as long as this object lives.
    package let raw: Int32

    /// Takes over `raw`, which must be open and have no other owner.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    /// Takes over the result of the call named `call`, or throws its errno when it is -1.
    package init(_ raw: Int32, call: String, path: String? = nil) throws(HostError) {
        guard raw >= 0 else { throw .last(call, path) }
        self.raw = raw
    }

    deinit {
        close(raw)
    }

    /// Opens `path`; `O_CLOEXEC` is always added.
    package static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(HostError) -> Descriptor
    {
        try Descriptor(unsafe clinux_open(path, flags | O_CLOEXEC, mode), call: "open", path: path)
    }

    /// Opens what is closed of the descriptors 0 to 2, so that no file or socket gets one of these numbers.
    ///
    /// Reading such a standard input finds its end; writing to such an output fails with `EBADF`, as to a closed one.
    package static func fillStandardStreams() {
        while true {
            let filler = unsafe clinux_open("/dev/null", O_RDONLY | O_CLOEXEC, 0)
            if filler > 2 { close(filler) }
            if filler < 0 || filler > 2 { return }
        }
    }

    /// A pipe; both ends close-on-exec, the read end non-blocking when asked.
    package static func pipe(nonblockingRead: Bool) throws(HostError) -> (read: Descriptor, write: Descriptor)
    {
        var both: [Int32] = [-1, -1]
        guard unsafe clinux_pipe2(&both, O_CLOEXEC) == 0 else { throw .last("pipe2") }
        let ends = (read: Descriptor(owning: both[0]), write: Descriptor(owning: both[1]))
        if nonblockingRead, clinux_fcntl(ends.read.raw, F_SETFL, O_NONBLOCK) != 0 { throw .last("fcntl") }
        return ends
    }

    /// Makes reads and writes return at once.
    ///
    /// Affects every process that shares the open file.
    package func setNonblocking() throws(HostError) {
        let flags = clinux_fcntl(raw, F_GETFL, 0)
        guard flags >= 0, clinux_fcntl(raw, F_SETFL, flags | O_NONBLOCK) == 0 else { throw .last("fcntl") }
    }

    /// Makes reads and writes wait.
    ///
    /// Affects every process that shares the open file.
    package func setBlocking() throws(HostError) {
        let flags = clinux_fcntl(raw, F_GETFL, 0)
        guard flags >= 0, clinux_fcntl(raw, F_SETFL, flags & ~O_NONBLOCK) == 0 else { throw .last("fcntl") }
    }

    /// Another descriptor of the same open file, close-on-exec.
    package func duplicate() throws(HostError) -> Descriptor {
        try Descriptor(clinux_fcntl(raw, F_DUPFD_CLOEXEC, 3), call: "fcntl")
    }

    /// Another descriptor, close-on-exec, of an open file that somebody else owns.
    package static func duplicate(of raw: Int32) throws(HostError) -> Descriptor {
        try Descriptor(clinux_fcntl(raw, F_DUPFD_CLOEXEC, 3), call: "fcntl")
    }

    /// What a read brought.
    package enum Reading: Hashable {
        /// This many bytes, at least one.
        case bytes(Int)
        /// Nothing now; a non-blocking descriptor would have to wait.
        case wouldBlock
        /// Nothing ever again.
        case end
    }

    /// Reads once into `buffer`, starting over when a signal interrupted.
    package func read(into buffer: inout [UInt8]) throws(HostError) -> Reading {
        while true {
            let count = unsafe Glibc.read(raw, &buffer, buffer.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: throw .last("read")
            }
        }
    }

    /// Writes once to a non-blocking descriptor and returns how many bytes it took, 0 when it has no room.
    package func write(_ bytes: ArraySlice<UInt8>) throws(HostError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(raw, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return 0
            default: throw .last("write")
            }
        }
    }

    /// Writes all of `bytes` to a blocking descriptor.
    package func writeAll(_ bytes: ArraySlice<UInt8>) throws(HostError) {
        try Self.writeAll(bytes, to: raw)
    }

    /// Writes all of `bytes` to an open file that somebody else owns, waiting for room where it does not block.
    ///
    /// - Throws: what the system refused, `EPIPE` when nobody reads a pipe any more; some may be written by then.
    package static func writeAll(_ bytes: ArraySlice<UInt8>, to raw: Int32) throws(HostError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(raw, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: raw, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw .last("write")
            }
        }
    }
}
