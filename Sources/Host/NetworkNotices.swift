import CLinux
import Glibc

/// A way out of this machine that appeared or vanished, as the kernel reports it: an address that others can reach it at,
/// or a default route.
package struct NetworkChange: Hashable, Sendable {
    /// Stands for the way: the same text whenever the kernel reports the same one.
    package var way: String
    /// Whether it is there now.
    package var isThere: Bool

    package init(_ way: String, isThere: Bool) {
        self.way = way
        self.isThere = isThere
    }

    /// The changes in what one read of a routing socket brought; what is broken off or unknown is passed over.
    ///
    /// Addresses of the loopback interface and of one link only lead nowhere, and one that is still checked for duplicates
    /// is reported again when it can be used.
    ///
    /// - Source: rtnetlink(7); linux/rtnetlink.h, linux/if_addr.h.
    package static func changes(in bytes: ArraySlice<UInt8>) -> [NetworkChange] {
        var (changes, rest): ([NetworkChange], _) = ([], bytes)
        while rest.count >= header {
            let length = Int(word(rest))
            guard length >= header, length <= rest.count else { break }
            let body = rest.dropFirst(header).prefix(length - header)
            switch word(rest.dropFirst(4)) & 0xFFFF {
            case 20: changes += address(body).map { NetworkChange($0, isThere: true) }
            case 21: changes += address(body).map { NetworkChange($0, isThere: false) }
            case 24: changes += route(body).map { NetworkChange($0, isThere: true) }
            case 25: changes += route(body).map { NetworkChange($0, isThere: false) }
            default: break
            }
            rest = rest.dropFirst(aligned(length))
        }
        return changes
    }

    private static let header = 16

    /// An `ifaddrmsg`: family, prefix length, flags, scope, interface.
    private static func address(_ body: ArraySlice<UInt8>) -> [String] {
        guard body.count >= 8 else { return [] }
        let head = Array(body.prefix(8))
        let (flags, scope, interface) = (head[2], head[3], word(body.dropFirst(4)))
        let isTentative = flags & 0x40 != 0
        // RT_SCOPE_LINK and RT_SCOPE_HOST.
        guard scope < 253, !isTentative else { return [] }
        return ["address \(head[0]) \(interface) \(attribute(2, of: body) ?? attribute(1, of: body) ?? "")"]
    }

    /// An `rtmsg`: family, lengths of destination and source, and more; only a unicast route to everywhere counts.
    private static func route(_ body: ArraySlice<UInt8>) -> [String] {
        guard body.count >= 12 else { return [] }
        let head = Array(body.prefix(8))
        guard head[1] == 0, head[7] == 1 else { return [] }
        let (gateway, interface) = (attribute(5, of: body) ?? "", attribute(4, of: body) ?? "")
        return ["route \(head[0]) \(interface) \(gateway)"]
    }

    /// The value of an attribute in hexadecimal digits; both messages' attributes begin after their own head.
    private static func attribute(_ type: UInt32, of body: ArraySlice<UInt8>) -> String? {
        let isRoute = type > 2
        var rest = body.dropFirst(isRoute ? 12 : 8)
        while rest.count >= 4 {
            let head = word(rest)
            let length = Int(head & 0xFFFF)
            guard length >= 4, length <= rest.count else { return nil }
            if head >> 16 & 0x3FFF == type {
                return rest.dropFirst(4).prefix(length - 4).map { String($0, radix: 16) }.joined(
                    separator: ".")
            }
            rest = rest.dropFirst(aligned(length))
        }
        return nil
    }

    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    /// The first four bytes as a number of this machine.
    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// Reports how this machine's ways out change: the kernel notifies one thread, which sleeps else.
package final class NetworkNotices: Sendable {
    private let stop: Descriptor

    /// Calls `notify` with each change from now on, on a thread of its own: it must be short and must not wait.
    ///
    /// Nobody is told what is there already. Where the kernel had more to report than there was room for, some are missing.
    /// Ends with this value.
    /// - Throws: where this machine has no routing sockets, or a sandbox forbids them.
    package init(_ notify: @escaping @Sendable ([NetworkChange]) -> Void) throws(HostError) {
        let socket = try Self.open()
        let pipe = try Descriptor.pipe(nonblockingRead: true)
        stop = pipe.write
        try BackgroundThread.start(named: "network") {
            var buffer = [UInt8](repeating: 0, count: 32 * 1024)
            while Self.wait(for: socket, orEnd: pipe.read) {
                do throws(HostError) {
                    while case .bytes(let count) = try socket.read(into: &buffer) {
                        let changes = NetworkChange.changes(in: buffer[..<count])
                        if !changes.isEmpty { notify(changes) }
                    }
                } catch {
                    // Too much at once is lost, and the next is read; anything else would fail again at once.
                    guard case .system(_, ENOBUFS, _) = error else { return }
                }
            }
        }
    }

    /// A socket that hears of addresses and routes of both versions of IP.
    private static func open() throws(HostError) -> Descriptor {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // NETLINK_ROUTE is 0.
        let made = try Descriptor(socket(AF_NETLINK, kind, 0), call: "socket")
        // RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE.
        let groups: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
        // A `sockaddr_nl`: the family, two bytes of nothing, the number that the kernel gives, and the groups.
        let address: [UInt32] = [UInt32(AF_NETLINK), 0, groups]
        let bound = unsafe address.withUnsafeBytes { bytes in
            unsafe bind(
                made.raw, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard bound == 0 else { throw .last("bind") }
        return made
    }

    /// Waits for something to read; false at the end.
    private static func wait(for socket: Descriptor, orEnd end: Descriptor) -> Bool {
        var both = [
            pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end.raw, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&both, 2, -1) < 0, errno == EINTR {}
        return both[1].revents == 0
    }
}
