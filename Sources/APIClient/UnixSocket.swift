package import API
import Glibc
import Timeline

/// A connected stream socket in the file system, closed when it is dropped.
package final class UnixSocket {
    private let descriptor: Int32
    let path: String

    /// How waiting for bytes ended.
    package enum Arrival: Hashable, Sendable {
        /// This many bytes are in the buffer.
        case bytes(Int)
        /// The other side ended its half.
        case ended
        /// Nothing came in time, or a signal came.
        case nothing
    }

    /// Connects to the socket at `path`, which takes at most `timeout`, as does each later write (nil: for ever).
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/noDaemon`` when nobody listens there, or it is not for us; with
    ///   ``ErrorCode/noAnswer`` when somebody listens who does not accept connections.
    package init(path: String, timeout: Duration? = nil) throws(APIError) {
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else {
            throw APIError(
                .noDaemon, "the path of a socket has 1 to \(room - 1) bytes, \"\(path)\" has \(bytes.count)",
                hint: "Choose a shorter one with --socket or BELFRY_SOCKET.")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: bytes)
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.refusal(errno, path) }
        if let timeout {
            var time = timeval()
            time.tv_sec = Int(timeout.milliseconds / 1000)
            time.tv_usec = Int(timeout.milliseconds % 1000 * 1000)
            let size = socklen_t(MemoryLayout<timeval>.size)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        }
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                return unsafe connect(descriptor, pointer, length) == 0 ? 0 : errno
            }
        }
        // The descriptor is closed by `deinit`, which also runs after this.
        guard failure == 0 else { throw Self.refusal(failure, path) }
    }

    deinit {
        close(descriptor)
    }

    /// Writes all of `bytes`; a reader that closed its end is an error, never a signal.
    package func write(_ bytes: [UInt8]) throws(APIError) {
        var start = 0
        while start < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(
                    descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start,
                    Int32(MSG_NOSIGNAL))
            }
            guard written < 0 else {
                start += written
                continue
            }
            guard errno == EINTR else { throw errno == EAGAIN ? Self.silence(path) : lost() }
        }
    }

    /// What is said of a daemon that listens, and then does nothing.
    static func silence(_ path: String, for timeout: Duration? = nil) -> APIError {
        let time = timeout.map { " within \($0.text)" } ?? ""
        return APIError(
            .noAnswer, "the daemon on \(path) did not answer\(time)",
            hint: "It may be stopped or overloaded. See: belfry doctor")
    }

    /// Waits up to `timeout` (nil: for ever) for bytes and puts them at the front of `buffer`.
    ///
    /// Waits no longer than until `other`, where one is given, can be read.
    package func read(
        into buffer: inout [UInt8], timeout: Duration?, or other: Int32? = nil
    ) throws(APIError) -> Arrival {
        let event = Int16(POLLIN)
        // The kernel passes over a negative number.
        var waiting = [
            pollfd(fd: descriptor, events: event, revents: 0),
            pollfd(fd: other ?? -1, events: event, revents: 0),
        ]
        let milliseconds = timeout.map { Int32(clamping: max(0, $0.milliseconds)) } ?? -1
        let ready = unsafe poll(&waiting, 2, milliseconds)
        if ready > 0, waiting[0].revents == 0 { return .nothing }
        guard ready > 0 else {
            guard ready == 0 || errno == EINTR else { throw lost() }
            return .nothing
        }
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        guard errno == EINTR || errno == EAGAIN else { throw lost() }
        return .nothing
    }

    private func lost() -> APIError {
        APIError(.connectionLost, "the connection to \(path) broke (\(Self.text(of: errno)))")
    }

    private static func refusal(_ code: Int32, _ path: String) -> APIError {
        switch code {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            APIError(.noDaemon, "no daemon answers on \(path)", hint: start(path))
        case EAGAIN:
            silence(path)
        case EACCES, EPERM:
            APIError(
                .noDaemon, "the daemon's socket \(path) is not open to you",
                hint: "A system daemon's is open to the group belfry.")
        default:
            APIError(
                .noDaemon, "no daemon answers on \(path) (\(text(of: code)))", hint: start(path))
        }
    }

    /// The hint where no daemon answers; the machine's daemon belongs to the service manager.
    private static func start(_ path: String) -> String {
        path == "/run/belfry/belfry.sock"
            ? "Start it with: systemctl start belfryd, or without systemd: belfryd --system"
            : "Start one with: belfryd"
    }

    private static func text(of code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }
}

/// A descriptor belongs to the one who reads and writes it.
@available(*, unavailable) extension UnixSocket: Sendable {}
