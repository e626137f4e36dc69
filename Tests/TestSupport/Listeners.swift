import Foundation
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

/// A port of 127.0.0.1 on which nobody listens, as long as this lives.
///
/// A port that was let go may be another test's the next moment; this one is held by a socket that takes no connections.
package final class RefusingPort: Sendable {
    /// The port.
    package let port: Int
    private let socket: Descriptor

    /// A port for a server of the test that can't be asked to take any.
    ///
    /// The system gives it neither to a client's connection nor to who asks for any port.
    package static func makeFree() throws(HostError) -> Int {
        while true {
            let port = Int.random(in: 20_000..<32_768)
            do throws(HostError) {
                return try RefusingPort(at: port).port
            } catch  where error.code == EADDRINUSE {
                continue
            }
        }
    }

    /// Takes a free port.
    package convenience init() throws(HostError) { try self.init(at: 0) }

    private init(at wanted: Int) throws(HostError) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socket = try Descriptor(Glibc.socket(AF_INET, kind, 0), call: "socket")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(wanted).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = socket.raw
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(raw, $0, length) == 0 && getsockname(raw, $0, &length) == 0
            }
        }
        guard isBound else { throw HostError.last("bind", "127.0.0.1") }
        port = Int(in_port_t(bigEndian: address.sin_port))
    }

    /// The address of `path` on it.
    package func url(_ path: String = "", scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }
}

/// A certificate that is signed by its own key, made with the system's `openssl`, and its key.
package final class SelfSignedCertificate: Sendable {
    /// The path of the certificate's PEM file.
    package let certificate: String
    /// The path of the key's PEM file.
    package let key: String
    private let folder: URL

    /// Makes one for the DNS name `name`.
    package init(for name: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appendingPathComponent("certificate.pem").path
        key = folder.appendingPathComponent("key.pem").path
        let text = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
            -subj '/CN=\(name)' -addext 'subjectAltName=DNS:\(name)' -keyout '\(key)' -out '\(certificate)'
            """
        guard try Shell.run(text) == 0 else { throw NotStarted(program: "openssl") }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }
}
