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
