import CLinux
import Glibc

/// What is in a folder.
package enum Folder {
    /// The names in the folder at `path`, in no order, without `.` and `..`.
    package static func names(in path: String) throws(HostError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw .last("opendir", path) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let item = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &item.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

/// A folder with all that is in it.
package enum FolderTree {
    /// Removes it as far as it can be; a link in it is removed, never followed.
    package static func remove(_ path: String) {
        for name in (try? Folder.names(in: path)) ?? [] {
            if unsafe unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
        }
        unsafe rmdir(path)
    }
}

/// Folders that only their owner may enter.
package enum PrivateFolder {
    /// Makes `path`, mode 0700, with the folders above it, and makes sure that it is ours alone.
    ///
    /// - Throws: ``HostError/notOurs(path:)`` when it is a link, belongs to another user, or lets
    ///   others write: another user may have made it first, in `/tmp` for example.
    package static func make(_ path: String, mode: UInt32 = 0o700) throws(HostError) {
        if unsafe mkdir(path, mode) != 0 {
            switch errno {
            case EEXIST: break
            case ENOENT:
                try make(above: SmallFile.parent(of: path))
                guard unsafe mkdir(path, mode) == 0 || errno == EEXIST else { throw .last("mkdir", path) }
            default: throw .last("mkdir", path)
            }
        }
        guard try isOurs(path) else { throw .notOurs(path: path) }
    }

    /// Makes `path` as ``make(_:mode:)`` does, with the folders above it that are inside `base`, but never `base`.
    ///
    /// A folder that was moved away under a process is not replaced by an empty one, into which it would be moved back.
    ///
    /// - Throws: ``HostError/missing(path:)`` when there is no folder at `base`.
    package static func make(_ path: String, within base: String) throws(HostError) {
        if path == base || !path.hasPrefix(base + "/") {
            guard unsafe access(base, F_OK) == 0 else { throw .missing(path: base) }
        } else if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            guard errno == ENOENT else { throw .last("mkdir", path) }
            try make(SmallFile.parent(of: path), within: base)
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("mkdir", path) }
        }
        guard try isOurs(path) else { throw .notOurs(path: path) }
    }

    /// Whether `path` is a folder, not a link, that belongs to this user and only this user may write.
    ///
    /// - Throws: when there is nothing at `path` or it may not be looked at.
    package static func isOurs(_ path: String) throws(HostError) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw .last("lstat", path) }
        return status.st_mode & 0o170000 == 0o040000 && status.st_uid == geteuid()
            && status.st_mode & 0o022 == 0
    }

    /// Whose it is, when it belongs to another user.
    package static func otherOwner(of path: String) -> UInt32? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_uid != geteuid() else { return nil }
        return status.st_uid
    }

    /// Why it is not ours, as a sentence.
    static func fault(of path: String) -> String {
        guard let owner = otherOwner(of: path) else { return "\(path) is a link, or others may write to it" }
        return "\(path) belongs to user \(Account.name(of: owner)), and not to \(Account.name(of: geteuid()))"
    }

    /// Folders above a private one: as the user's umask makes them, not checked.
    private static func make(above path: String) throws(HostError) {
        if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, path != "/", path != "." else { throw .last("mkdir", path) }
        try make(above: SmallFile.parent(of: path))
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("mkdir", path) }
    }
}

/// Reports when something in a folder, or in the folders in it, was made, replaced or removed.
///
/// The kernel reports it to a thread that sleeps else: nothing is polled, and nobody wakes while nothing changes.
package final class FolderWatch: Sendable {
    /// What counts as a change: a file that is complete or in its place, or one that was removed.
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

    /// Watches `folder` and those in it; returns whether it is a folder.
    private static func add(_ folder: String, _ depth: Int, to notices: Descriptor) -> Bool {
        guard unsafe inotify_add_watch(notices.raw, folder, events | UInt32(IN_ONLYDIR)) >= 0 else {
            return false
        }
        guard depth > 0, let names = try? Folder.names(in: folder) else { return true }
        for name in names { _ = add("\(folder)/\(name)", depth - 1, to: notices) }
        return true
    }
}

/// What is in a folder and below it: no `..` and no link leads out.
///
/// Each part of a path is opened from the folder before it, and a link is never followed: somebody who may write there
/// can't lead a reader elsewhere, also not between a look and an opening.
package struct ConfinedFolder: Hashable, Sendable {
    /// One thing in a folder.
    package struct Entry: Hashable, Sendable {
        /// What it is.
        package enum Kind: String, Hashable, Sendable {
            case folder, file, link, other
        }

        package var name: String
        package var kind: Kind
        /// How long a file is, in bytes.
        package var size: Int
    }

    /// Part of a file.
    package struct Part: Hashable, Sendable {
        package var bytes: [UInt8]
        /// How long the whole file is.
        package var size: Int
    }

    /// The absolute path of the folder.
    package let path: String

    /// The folder at an absolute path.
    package init(_ path: String) { self.path = path }

    /// Part of the regular file that these names lead to, from `offset` on and at most `limit` bytes.
    package func read(_ names: [String], from offset: Int, limit: Int) throws(HostError) -> Part {
        let shown = shown(names)
        let file = try open(names)
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw .last("fstat", shown) }
        guard status.st_mode & 0o170000 == 0o100000 else {
            let isFolder = status.st_mode & 0o170000 == 0o040000
            throw .malformed(path: shown, problem: isFolder ? "is a folder" : "is not a regular file")
        }
        guard lseek(file.raw, off_t(offset), SEEK_SET) >= 0 else { throw .last("lseek", shown) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(max(limit, 1), 1 << 16))
        while bytes.count < limit {
            guard case .bytes(let count) = try file.read(into: &buffer) else { break }
            bytes += buffer[..<min(count, limit - bytes.count)]
        }
        return Part(bytes: bytes, size: Int(status.st_size))
    }

    /// What is in the folder that these names lead to, by name.
    package func list(_ names: [String]) throws(HostError) -> [Entry] {
        let folder = try open(names)
        // The very folder that was opened, whatever its path leads to now.
        let inside = try Folder.names(in: "/proc/self/fd/\(folder.raw)")
        return inside.sorted().compactMap { name in
            var status = stat()
            guard unsafe fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
            let kind: Entry.Kind =
                switch status.st_mode & 0o170000 {
                case 0o040000: .folder
                case 0o100000: .file
                case 0o120000: .link
                default: .other
                }
            return Entry(name: name, kind: kind, size: Int(status.st_size))
        }
    }

    private func shown(_ names: [String]) -> String { ([path] + names).joined(separator: "/") }

    private func open(_ names: [String]) throws(HostError) -> Descriptor {
        if let link = ReplaceableLink.first(in: path) {
            throw .malformed(path: link, problem: "is a symbolic link, which could lead anywhere")
        }
        var place = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        for (number, name) in names.enumerated() {
            let shown = shown(Array(names[...number]))
            guard !name.isEmpty, name != ".", name != "..",
                !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 })
            else { throw .malformed(path: shown, problem: "is not the name of a file") }
            let isLast = number == names.count - 1
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (isLast ? 0 : O_DIRECTORY)
            do throws(HostError) {
                place = try Descriptor(
                    unsafe openat(place.raw, name, flags), call: "open", path: shown)
            } catch  where error.code == ELOOP || error.code == ENOTDIR && isLink(name, in: place) {
                throw .malformed(path: shown, problem: "is a symbolic link, which is not followed")
            }
        }
        return place
    }

    private func isLink(_ name: String, in folder: Descriptor) -> Bool {
        var status = stat()
        return unsafe fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && status.st_mode & 0o170000 == 0o120000
    }
}
