import CLinux
import Glibc
import Synchronization

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

    /// Another descriptor, close-on-exec, of an open file that another object owns.
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

    /// Writes once to a non-blocking descriptor and returns how many bytes were written, 0 when it has no room.
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

    /// Writes all of `bytes` to an open file that another object owns, waiting for room where it does not block.
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

extension Descriptor {
    /// Whether the open file is a pipe.
    package static func isPipe(_ raw: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(raw, &status) == 0 && status.st_mode & 0o170000 == 0o010000
    }

    /// Moves up to `limit` bytes from this pipe to the pipe `target`, without copying and without waiting.
    ///
    /// - Returns: ``Reading/wouldBlock`` when this one is empty or the other one is full.
    /// - Throws: `EPIPE` when nobody reads the other one any more.
    /// The corresponding C function is `splice`.
    package func splice(to target: Int32, limit: Int = 1 << 20) throws(HostError) -> Reading {
        while true {
            // SPLICE_F_MOVE and SPLICE_F_NONBLOCK.
            let count = clinux_splice(raw, target, limit, 3)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: throw .last("splice")
            }
        }
    }

    /// Makes a pipe hold more than its 64 KiB; a pipe that may not grow stays as it is.
    package func enlargePipe(to bytes: Int32 = 1 << 20) {
        _ = clinux_fcntl(raw, 1031, bytes)  // F_SETPIPE_SZ
    }
}

/// How many descriptors this process may have open at once.
///
/// Programs that are started from here get the limit that this process was started with: many still call
/// `select`, which fails above 1,024.
package enum DescriptorLimit {
    /// The soft limit before it was raised; nil: it was not.
    private static let original = Mutex<UInt64?>(nil)

    /// The soft limit of programs that are started from here; nil: this process's own.
    static var ofChildren: UInt64? { original.withLock { $0 } }

    /// The limit now.
    ///
    /// The corresponding C function is `getrlimit(RLIMIT_NOFILE)`.
    package static func current() throws(HostError) -> Int {
        Int(clamping: try limits().rlim_cur)
    }

    /// Raises the soft limit to `most`, or to the hard limit where that is lower; never lowers it.
    ///
    /// The corresponding C function is `setrlimit(RLIMIT_NOFILE)`.
    package static func raise(to most: Int) throws(HostError) {
        var limits = try limits()
        let before = UInt64(limits.rlim_cur)
        let wanted = min(rlim_t(most), limits.rlim_max)
        guard wanted > limits.rlim_cur else { return }
        limits.rlim_cur = wanted
        guard unsafe setrlimit(resource, &limits) == 0 else { throw .last("setrlimit") }
        original.withLock { $0 = $0 ?? before }
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

    private static func limits() throws(HostError) -> rlimit {
        var limits = rlimit()
        guard unsafe getrlimit(resource, &limits) == 0 else { throw .last("getrlimit") }
        return limits
    }
}

/// The process's standard output, written at once: what is printed can be read the moment it is known.
package enum StandardOutput {
    /// Writes `bytes` as they are.
    package static func send(_ bytes: [UInt8]) throws(HostError) {
        try Descriptor.writeAll(bytes[...], to: STDOUT_FILENO)
    }

    /// Whether a person reads it.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// The process's standard error; what can't be written there can't be reported anywhere.
package enum StandardError {
    /// Writes `text` and a line end.
    package static func print(_ text: String) { write(text + "\n") }

    /// Writes `text` as it is.
    package static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes `bytes` as they are.
    package static func write(_ bytes: [UInt8]) { try? Descriptor.writeAll(bytes[...], to: STDERR_FILENO) }

    /// Whether a person reads it.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// The terminal that a program was started from, wherever its output goes.
package enum ControllingTerminal {
    /// Writes to it as it is.
    ///
    /// - Throws: that there is none.
    package static func write(_ bytes: [UInt8]) throws(HostError) {
        try Descriptor.open("/dev/tty", O_WRONLY | O_NOCTTY).writeAll(bytes[...])
    }
}

/// A terminal without a screen: what is written to one side is read at the other.
package final class PseudoTerminal: Sendable {
    /// Our side, non-blocking: what the processes print is read here, what is typed is written.
    package let master: Descriptor

    /// Opens one of this size, and the side that the processes get.
    ///
    /// As long as that is open, also here, ``master`` does not end.
    package static func open(
        rows: Int, columns: Int
    ) throws(HostError) -> (terminal: PseudoTerminal, slave: Descriptor) {
        let master = try Descriptor.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
        var unlocked: Int32 = 0
        guard unsafe clinux_ioctl(master.raw, clinux_tiocsptlck(), &unlocked) == 0 else {
            throw .last("ioctl(TIOCSPTLCK)")
        }
        // Not by its path: that could be another file system's by now.
        let flags = UInt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        let slave = try Descriptor(
            clinux_ioctl_number(master.raw, clinux_tiocgptpeer(), flags), call: "ioctl(TIOCGPTPEER)")
        let terminal = PseudoTerminal(master)
        try terminal.resize(rows: rows, columns: columns)
        return (terminal, slave)
    }

    private init(_ master: Descriptor) {
        self.master = master
    }

    /// Gives it another size; its foreground processes get SIGWINCH when it differs.
    package func resize(rows: Int, columns: Int) throws(HostError) {
        var size = winsize(
            ws_row: UInt16(clamping: rows), ws_col: UInt16(clamping: columns), ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe clinux_ioctl(master.raw, clinux_tiocswinsz(), &size) == 0 else {
            throw .last("ioctl(TIOCSWINSZ)")
        }
    }

    /// The process group that reads from it now; nil when nobody has it as controlling terminal.
    package var foregroundGroup: Int32? {
        var group: Int32 = 0
        guard unsafe clinux_ioctl(master.raw, clinux_tiocgpgrp(), &group) == 0, group > 0 else { return nil }
        return group
    }

    /// The character that ends the input when it is typed at the beginning of a line.
    ///
    /// Ctrl-D unless a process chose otherwise.
    package var endOfFile: UInt8 {
        var settings = termios()
        guard unsafe tcgetattr(master.raw, &settings) == 0 else { return 4 }
        return unsafe withUnsafeBytes(of: &settings.c_cc) { unsafe $0[Int(VEOF)] }
    }
}
