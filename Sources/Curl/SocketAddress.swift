/// One end of a connection: an address and a port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The host's address.
    package let ip: IPAddress
    /// The port, 0...65535.
    package let port: UInt16

    /// Puts the two together.
    package init(ip: IPAddress, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// `192.0.2.1:443` or `[2001:db8::1]:443`.
    package var description: String {
        switch ip {
        case .v4: "\(ip):\(port)"
        case .v6: "[\(ip)]:\(port)"
        }
    }
}
