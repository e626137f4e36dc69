import CLinux
import Glibc
import Synchronization

/// Reports that files are written to: the kernel notifies one thread, which sleeps else.
///
/// Whoever reads what another process writes is woken by it, and polls nothing. The thread starts with the first watch.
package final class WriteNotices: Sendable {
    /// What happened to a file.
    package enum Notice: Sendable {
        /// Bytes were added to it.
        case written
        /// Its writer closed it, it was removed, or notices were lost: look what is true now.
        case closed
    }

    /// Reports the notices of one file as long as it lives.
    package final class Watch: Sendable {
        private let onEnd: @Sendable () -> Void

        fileprivate init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    /// Whoever is to be notified.
    private struct Reader {
        /// The file's name in its folder; nil: any.
        var name: String?
        var notify: @Sendable (Notice) -> Void
    }

    private struct State {
        var source: Source?
        /// By the kernel's number of a folder.
        var readers: [Int32: [UInt64: Reader]] = [:]
        var lastID: UInt64 = 0
    }

    /// The kernel's side; the end of the pipe is the end of the thread.
    private struct Source {
        var notices: Descriptor
        var stop: Descriptor
    }

    private static let events =
        UInt32(IN_CREATE) | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)

    private let state = Mutex(State())

    /// Watches nothing yet.
    package init() {}

    /// Calls `notify` after each write to the file at `path`, which need not be there yet.
    ///
    /// On a thread of its own: it must be short and must not wait. Writes that follow each other closely are one notice.
    ///
    /// - Returns: nil: the file's folder is not there, or the kernel has no watch left.
    package func watch(_ path: String, _ notify: @escaping @Sendable (Notice) -> Void) -> Watch? {
        let name = path.split(separator: "/").last.map(String.init)
        return watch(SmallFile.parent(of: path), Reader(name: name, notify: notify))
    }

    /// The same of every file in a folder.
    package func watch(folder: String, _ notify: @escaping @Sendable (Notice) -> Void) -> Watch? {
        watch(folder, Reader(notify: notify))
    }

    private func watch(_ folder: String, _ reader: Reader) -> Watch? {
        let place = state.withLock { state -> (folder: Int32, id: UInt64)? in
            if state.source == nil { state.source = try? start() }
            guard let source = state.source else { return nil }
            // The same number as long as anybody watches the folder.
            let number = unsafe inotify_add_watch(source.notices.raw, folder, Self.events)
            guard number >= 0 else { return nil }
            state.lastID += 1
            state.readers[number, default: [:]][state.lastID] = reader
            return (number, state.lastID)
        }
        guard let place else { return nil }
        return Watch { [weak self] in self?.remove(place.id, of: place.folder) }
    }

    private func remove(_ id: UInt64, of folder: Int32) {
        state.withLock { state in
            guard state.readers[folder]?.removeValue(forKey: id) != nil,
                state.readers[folder]?.isEmpty == true
            else { return }
            state.readers[folder] = nil
            if let source = state.source { inotify_rm_watch(source.notices.raw, folder) }
        }
    }

    private func start() throws(HostError) -> Source {
        let notices = try Descriptor(
            inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)), call: "inotify_init1")
        let pipe = try Descriptor.pipe(nonblockingRead: true)
        try BackgroundThread.start(named: "write-notices") { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            while Self.wait(for: notices, orEnd: pipe.read) {
                while case .bytes(let count)? = try? notices.read(into: &buffer) {
                    self?.report(buffer[..<count])
                }
            }
        }
        return Source(notices: notices, stop: pipe.write)
    }

    /// Waits for notices; false at the end.
    private static func wait(for notices: Descriptor, orEnd end: Descriptor) -> Bool {
        var both = [
            pollfd(fd: notices.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end.raw, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&both, 2, -1) < 0, errno == EINTR {}
        return both[1].revents == 0
    }

    /// What happened in one folder, by the names of its files; to all of them under nil.
    private typealias Changes = [String?: Notice]

    /// Reports what the kernel wrote: of each file once.
    private func report(_ bytes: ArraySlice<UInt8>) {
        var changed: [Int32: Changes] = [:]
        var rest = bytes
        // The folder's number, what happened, a number that pairs renames, and the length of the name that follows.
        while rest.count >= 16 {
            let words = (0..<4).map { word in Self.word(rest.dropFirst(4 * word)) }
            let (folder, events) = (Int32(bitPattern: words[0]), words[1])
            let bytes = rest.dropFirst(16).prefix(Int(words[3])).prefix { $0 != 0 }
            rest = rest.dropFirst(16 + Int(words[3]))
            if events & UInt32(IN_Q_OVERFLOW) != 0 {
                for folder in state.withLock({ Array($0.readers.keys) }) { changed[folder] = [nil: .closed] }
            } else if events & UInt32(IN_IGNORED) != 0 {
                changed[folder] = [nil: .closed]
            } else {
                let name = String(decoding: bytes, as: UTF8.self)
                if events & UInt32(IN_CLOSE_WRITE) != 0 {
                    changed[folder, default: [:]][name] = .closed
                } else if changed[folder]?[name] == nil {
                    changed[folder, default: [:]][name] = .written
                }
            }
        }
        for (folder, changes) in changed {
            for reader in state.withLock({ Array(($0.readers[folder] ?? [:]).values) }) {
                if let notice = Self.notice(for: reader.name, of: changes) { reader.notify(notice) }
            }
        }
    }

    private static func notice(for name: String?, of changes: Changes) -> Notice? {
        if let all = changes[nil] { return all }
        if let name { return changes[name] }
        return changes.values.contains { $0 == .closed } ? .closed : .written
    }

    /// The first four bytes as a number of this machine.
    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

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
    /// What exists already is not reported. Where the kernel had more to report than there was room for,
    /// some are missing.
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
