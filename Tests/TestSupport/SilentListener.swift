import Glibc
package import Host

/// A socket in the file system that listens, and that nobody accepts connections from unless a test does.
package enum SilentListener {
    /// Listens at `path`, for up to `backlog` connections that wait; calls on it block.
    package static func listen(at path: String, backlog: Int32 = 16) throws -> Descriptor {
        let listener = try Descriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0), call: "socket")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, Glibc.listen(listener.raw, backlog) == 0 else {
            throw HostError.last("listen", path)
        }
        return listener
    }
}
