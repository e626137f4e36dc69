import CLinux
import Glibc

/// Unix sockets by path: streams that may carry descriptors, and datagrams.
///
/// Every socket made here is non-blocking and close-on-exec.
package enum LocalSocket {
    /// Who is at the other end, as the kernel saw it when the connection was made.
    package struct Peer: Hashable, Sendable {
        /// Its process.
        package var pid: Int32
        /// Its user.
        package var userID: UInt32
    }

    /// Connects a stream; fails at once when nobody listens at `path`.
    ///
    /// Blocks while more connections wait there than the listener has room for, 5 s at most.
    package static func connect(_ path: String) throws(HostError) -> Descriptor {
        let made = try make(SOCK_STREAM, path, isBlocking: true)
        var timeout = timeval(tv_sec: 5, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard unsafe setsockopt(made.raw, SOL_SOCKET, SO_SNDTIMEO, &timeout, size) == 0 else {
            throw .last("setsockopt", path)
        }
        guard unsafe try withAddress(path, { unsafe Glibc.connect(made.raw, $0, $1) }) == 0 else {
            throw .last("connect", path)
        }
        try made.setNonblocking()
        return made
    }

    /// Listens at `path`, which must not exist, for streams.
    package static func listen(_ path: String, mode: UInt32 = 0o600) throws(HostError) -> Descriptor {
        let made = try bind(SOCK_STREAM, path)
        guard unsafe chmod(path, mode) == 0 else { throw .last("chmod", path) }
        guard Glibc.listen(made.raw, 64) == 0 else { throw .last("listen", path) }
        return made
    }

    /// Receives datagrams at `path`, which must not exist.
    ///
    /// Its mode is what the umask leaves of 0777. With `namingSenders` each datagram comes with its sender, also where another
    /// process reads the socket.
    package static func bindDatagram(
        _ path: String, namingSenders: Bool = false
    ) throws(HostError) -> Descriptor {
        let made = try bind(SOCK_DGRAM, path)
        guard namingSenders else { return made }
        var yes: Int32 = 1
        let code = unsafe setsockopt(
            made.raw, SOL_SOCKET, clinux_so_passcred(), &yes, socklen_t(MemoryLayout<Int32>.size))
        guard code == 0 else { throw .last("setsockopt", path) }
        return made
    }

    /// Sends datagrams to `path`; one that begins with `@` is a name in the abstract name space.
    package static func connectDatagram(_ path: String) throws(HostError) -> Descriptor {
        let made = try make(SOCK_DGRAM, path, isBlocking: true)
        guard unsafe try withAddress(path, { unsafe Glibc.connect(made.raw, $0, $1) }) == 0 else {
            throw .last("connect", path)
        }
        return made
    }

    /// The next connection that waits at `listener`, nil when none does.
    package static func accept(_ listener: Descriptor) throws(HostError) -> Descriptor? {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let raw = clinux_accept4(listener.raw, flags)
        if raw >= 0 { return Descriptor(owning: raw) }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw .last("accept4")
        }
    }

    /// Who connected.
    package static func peer(of socket: Descriptor) throws(HostError) -> Peer {
        var credentials = clinux_ucred()
        var size = socklen_t(MemoryLayout<clinux_ucred>.size)
        let code = unsafe getsockopt(socket.raw, SOL_SOCKET, clinux_so_peercred(), &credentials, &size)
        guard code == 0 else { throw .last("getsockopt") }
        return Peer(pid: credentials.pid, userID: credentials.uid)
    }

    /// Sends what fits now and returns how many bytes did, 0 when the other side must read first.
    ///
    /// `passing` travels with the first byte; it is sent whenever the result is above 0.
    package static func send(
        _ bytes: ArraySlice<UInt8>, over socket: Descriptor, passing: Descriptor? = nil
    ) throws(HostError) -> Int {
        let count =
            if let passing {
                sendMessage(bytes, socket.raw, passing.raw)
            } else {
                unsafe bytes.withUnsafeBytes {
                    unsafe Glibc.send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw .last("send")
    }

    /// Receives once into `buffer`; descriptors that came along are added to `received`.
    package static func receive(
        from socket: Descriptor, into buffer: inout [UInt8], received: inout [Descriptor]
    ) throws(HostError) -> Descriptor.Reading {
        var sender: Peer?
        return try receive(from: socket, into: &buffer, received: &received, sender: &sender)
    }

    /// Receives once, and notes who sent it, where the socket names senders; nil: it does not.
    ///
    /// A process that is not seen from here has the id 0.
    package static func receive(
        from socket: Descriptor, into buffer: inout [UInt8], received: inout [Descriptor], sender: inout Peer?
    ) throws(HostError) -> Descriptor.Reading {
        let room = clinux_cmsg_space(16 * 4) + clinux_cmsg_space(MemoryLayout<clinux_ucred>.size)
        var arrived: [Int32] = []
        var credentials: Peer?
        let count = unsafe buffer.withUnsafeMutableBytes { space in
            unsafe withMessage(space, ancillary: room) { message in
                let count = unsafe recvmsg(socket.raw, &message, Int32(MSG_CMSG_CLOEXEC))
                if count >= 0 { (arrived, credentials) = unsafe ancillary(in: &message) }
                return count
            }
        }
        sender = credentials
        received += arrived.map(Descriptor.init(owning:))
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        switch errno {
        case EAGAIN, EINTR: return .wouldBlock
        default: throw .last("recvmsg")
        }
    }

    private static func make(
        _ kind: __socket_type, _ path: String, isBlocking: Bool = false
    ) throws(HostError) -> Descriptor {
        guard path.utf8.count <= 107 else { throw .socketPathTooLong(path: path) }
        let flags = Int32(SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue))
        return try Descriptor(socket(AF_UNIX, Int32(kind.rawValue) | flags, 0), call: "socket", path: path)
    }

    private static func bind(_ kind: __socket_type, _ path: String) throws(HostError) -> Descriptor {
        let made = try make(kind, path)
        guard unsafe try withAddress(path, { unsafe Glibc.bind(made.raw, $0, $1) }) == 0 else {
            throw .last("bind", path)
        }
        return made
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(HostError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var size = MemoryLayout<sockaddr_un>.size
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") {
            // An abstract name begins with a zero byte and has the length given.
            bytes[0] = 0
            size = MemoryLayout<sa_family_t>.size + bytes.count
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(size))
            }
        }
    }

    private static func sendMessage(_ bytes: ArraySlice<UInt8>, _ socket: Int32, _ passing: Int32) -> Int {
        unsafe bytes.withUnsafeBytes { payload in
            let bytes = unsafe UnsafeMutableRawBufferPointer(mutating: payload)
            return unsafe withMessage(bytes, ancillary: clinux_cmsg_space(4)) { message in
                if let header = unsafe clinux_cmsg_first(&message) {
                    unsafe header.pointee.cmsg_level = SOL_SOCKET
                    unsafe header.pointee.cmsg_type = clinux_scm_rights()
                    unsafe header.pointee.cmsg_len = clinux_cmsg_len(4)
                    unsafe UnsafeMutableRawPointer(clinux_cmsg_data(header)).storeBytes(
                        of: passing, as: Int32.self)
                }
                return unsafe sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// Calls `body` with a message of these bytes, and room for `ancillary` bytes of descriptors and credentials.
    ///
    /// The room is on the stack: a job may report some hundred thousand times a second.
    private static func withMessage(
        _ bytes: UnsafeMutableRawBufferPointer, ancillary size: Int, _ body: (inout msghdr) -> Int
    ) -> Int {
        let alignment = MemoryLayout<cmsghdr>.alignment
        return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: alignment) { ancillary in
            unsafe ancillary.initializeMemory(as: UInt8.self, repeating: 0)
            var vector = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                var message = unsafe msghdr()
                unsafe message.msg_iov = vector
                unsafe message.msg_iovlen = 1
                unsafe message.msg_control = ancillary.baseAddress
                unsafe message.msg_controllen = ancillary.count
                return unsafe body(&message)
            }
        }
    }

    /// The descriptors and the sender that came along.
    private static func ancillary(in message: inout msghdr) -> ([Int32], Peer?) {
        var found: [Int32] = []
        var sender: Peer?
        var next = unsafe clinux_cmsg_first(&message)
        while let header = unsafe next {
            let length = unsafe header.pointee.cmsg_len - clinux_cmsg_len(0)
            let kind = unsafe header.pointee.cmsg_level == SOL_SOCKET ? header.pointee.cmsg_type : -1
            let data = unsafe UnsafeMutableRawPointer(clinux_cmsg_data(header))
            if kind == clinux_scm_rights(), let data = unsafe data {
                for offset in stride(from: 0, to: length - length % 4, by: 4) {
                    unsafe found.append(data.loadUnaligned(fromByteOffset: offset, as: Int32.self))
                }
            } else if kind == clinux_scm_credentials(), length >= MemoryLayout<clinux_ucred>.size,
                let data = unsafe data
            {
                let credentials = unsafe data.loadUnaligned(as: clinux_ucred.self)
                sender = Peer(pid: credentials.pid, userID: credentials.uid)
            }
            unsafe next = unsafe clinux_cmsg_next(&message, header)
        }
        return (found, sender)
    }
}

/// The right to be the only one who listens at a path, held until this object goes.
///
/// A socket's file does not show whether anything listens there, so it must not be replaced without this. The lock
/// file beside it, `PATH.lock`, stays: removing it could remove the lock that another process holds.
package final class SocketClaim: Sendable {
    private let lock: StateLock

    /// Claims `path`; touches nothing there.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` with the process that claims it or answers there already.
    package init(_ path: String) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        do throws(HostError) {
            lock = try StateLock(folder: folder, name: name + ".lock")
        } catch .held(_, let pid) {
            throw .held(path: path, pid: pid)
        }
        // A program of another kind takes no lock.
        if let answering = try? LocalSocket.connect(path) {
            throw .held(path: path, pid: (try? LocalSocket.peer(of: answering))?.pid)
        }
    }
}
