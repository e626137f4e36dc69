import CCurl
import Glibc

/// An address of the internet protocol, version 4 or 6, as a number.
package enum IPAddress: Hashable, Sendable {
    /// Version 4, the first byte highest.
    case v4(UInt32)
    /// Version 6, the first eight bytes and the last eight, each with its first byte highest.
    case v6(high: UInt64, low: UInt64)

    /// Reads an address as people write it: `192.0.2.1`, `2001:db8::1`; `nil` for anything else.
    ///
    /// The corresponding C function is `inet_pton`.
    package init?(_ text: String) {
        var four = in_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
            return
        }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        self.init(six)
    }

    /// The address in a socket address of version 6.
    init(_ address: in6_addr) {
        let (high, low) = unsafe withUnsafeBytes(of: address) { bytes in
            unsafe (
                bytes.loadUnaligned(as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        self = .v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }

    /// The address as bytes in network order: 4 or 16.
    package var bytes: [UInt8] {
        func bytes<Word: FixedWidthInteger>(_ word: Word) -> [UInt8] {
            stride(from: Word.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
        switch self {
        case .v4(let word): return bytes(word)
        case .v6(let high, let low): return bytes(high) + bytes(low)
        }
    }

    /// How many bits an address of this version has: 32 or 128.
    package var bitWidth: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address as people write it.
    ///
    /// The corresponding C function is `inet_ntop`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch self {
        case .v4(let number):
            var address = in_addr(s_addr: number.bigEndian)
            _ = unsafe inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        case .v6(let high, let low):
            var halves = (high.bigEndian, low.bigEndian)
            _ = unsafe inet_ntop(AF_INET6, &halves, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

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

/// Decides which addresses a request may talk to.
///
/// It is asked with the very address a socket is about to be connected to, and again with the address of
/// a kept connection before that is used: a name that changes its mind between two lookups gains nothing.
/// It runs on the transfer thread, so it must be quick and must not wait.
package struct AddressGuard: Sendable {
    /// Names the decision.
    ///
    /// Kept connections are shared only between requests whose keys are equal, so
    /// two guards that could ever disagree need two keys.
    package let key: String
    /// Whether a connection to this address is allowed.
    package let allows: @Sendable (SocketAddress) -> Bool

    /// A guard named `key`.
    package init(key: String, allows: @escaping @Sendable (SocketAddress) -> Bool) {
        self.key = key
        self.allows = allows
    }

    /// Lets every address pass.
    package static let open = AddressGuard(key: "") { _ in true }
}
