import CLinux
import Glibc

/// Reports when something in a folder, or in the folders in it, was made, replaced or removed.
///
/// The kernel reports it to a thread that sleeps else: nothing is polled, and nobody wakes while nothing changes.
package final class FolderWatch: Sendable {
    /// What counts as a change: a file that is complete or in its place, or one that is gone.
    private static let events =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_CREATE)
        | UInt32(IN_DELETE)

    private let stop: Descriptor

    /// Calls `onChange` on a thread of its own each time the folder changed and then was quiet for `quiet`, so that
    /// an upgrade of many files is one change.
    ///
    /// Folders below `depth` levels are not looked into. It ends when the watch is released.
    /// - Throws: ``HostError/system(call:code:path:)`` when there is no such folder, or the kernel has no watch left.
    package init(
        _ folder: String, depth: Int = 2, quiet: Duration = .seconds(2),
        onChange: @escaping @Sendable () -> Void
    ) throws(HostError) {
        let notices = try Descriptor(
            inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)), call: "inotify_init1")
        guard Self.add(folder, depth, to: notices) else { throw .last("inotify_add_watch", folder) }
        let pipe = try Descriptor.pipe(nonblockingRead: true)
        let (seconds, attoseconds) = quiet.components
        let wait = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        try BackgroundThread.start(named: "folder-watch") {
            // The end of the pipe is the end of the watch.
            while Self.hasChanged(notices, orEnded: pipe.read, within: nil) {
                while Self.hasChanged(notices, orEnded: pipe.read, within: wait) {}
                // Folders that came, or were replaced, are watched from now on.
                _ = Self.add(folder, depth, to: notices)
                onChange()
            }
        }
        stop = pipe.write
    }

    /// Whether notices came within `milliseconds` (nil: for ever), which are dropped; false at the end.
    private static func hasChanged(
        _ notices: Descriptor, orEnded end: Descriptor, within milliseconds: Int32?
    ) -> Bool {
        var both = [
            pollfd(fd: notices.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end.raw, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&both, 2, milliseconds ?? -1) < 0, errno == EINTR {}
        guard both[1].revents == 0, both[0].revents != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .bytes? = try? notices.read(into: &buffer) {}
        return true
    }

    /// Watches `folder` and those in it; says whether the first was one.
    private static func add(_ folder: String, _ depth: Int, to notices: Descriptor) -> Bool {
        guard unsafe inotify_add_watch(notices.raw, folder, events | UInt32(IN_ONLYDIR)) >= 0 else {
            return false
        }
        guard depth > 0, let names = try? Folder.names(in: folder) else { return true }
        for name in names { _ = add("\(folder)/\(name)", depth - 1, to: notices) }
        return true
    }
}
