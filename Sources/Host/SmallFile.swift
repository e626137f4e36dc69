import CLinux
import Glibc

/// Whole small files: read with a limit, replaced atomically.
package enum SmallFile {
    /// The bytes of the regular file at `path`, at most `limit` of them.
    ///
    /// Never waits: whoever puts a pipe or a terminal there must not stop a program that serves others.
    /// - Throws: ``HostError/malformed(path:problem:)`` when the file is longer than `limit`, no regular file, or a link
    ///   where it must not be one.
    package static func read(
        _ path: String, limit: Int = 1 << 20, mayBeLink: Bool = true
    ) throws(HostError) -> [UInt8] {
        let file: Descriptor
        do throws(HostError) {
            let flags = O_RDONLY | O_NOCTTY | O_NONBLOCK
            file = try Descriptor.open(path, mayBeLink ? flags : flags | O_NOFOLLOW)
        } catch  where !mayBeLink && error.code == ELOOP {
            throw .malformed(path: path, problem: "is a symbolic link; name the file that is meant")
        }
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw .last("fstat", path) }
        let kind = status.st_mode & 0o170000
        // To read a folder fails with words that everybody knows.
        guard kind == 0o100000 || kind == 0o040000 else {
            throw .malformed(path: path, problem: "is not a regular file")
        }
        return try read(file, path: path, limit: limit)
    }

    /// The bytes of the file, pipe or device at `path`, at most `limit` of them; waits for whoever writes there.
    ///
    /// For what a person names to a command, such as `<(...)` of a shell.
    package static func readWaiting(_ path: String, limit: Int = 1 << 20) throws(HostError) -> [UInt8] {
        try read(Descriptor.open(path, O_RDONLY | O_NOCTTY), path: path, limit: limit)
    }

    /// As ``read(_:limit:)``, decoded as UTF-8 with repairs, without the white space around it.
    package static func text(
        _ path: String, limit: Int = 1 << 16, mayBeLink: Bool = true
    ) throws(HostError) -> String {
        text(of: try read(path, limit: limit, mayBeLink: mayBeLink))
    }

    /// The bytes decoded in that way.
    package static func text(of bytes: [UInt8]) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) || $0 == 0 }
        let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// The bytes of an open file, at most `limit` of them; `path` is for the error.
    package static func read(_ file: Descriptor, path: String, limit: Int) throws(HostError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let reading: Descriptor.Reading
            do {
                reading = try file.read(into: &buffer)
            } catch .system(let call, let code, nil) {
                throw .system(call: call, code: code, path: path)
            }
            switch reading {
            case .bytes(let count):
                bytes.append(contentsOf: buffer[..<count])
                guard bytes.count <= limit else {
                    throw .malformed(path: path, problem: "longer than \(limit) bytes")
                }
                if count == buffer.count, buffer.count < 1 << 16 {
                    buffer = [UInt8](repeating: 0, count: buffer.count * 4)
                }
            case .wouldBlock, .end: return bytes
            }
        }
    }

    /// Puts `bytes` at `path` so that a reader sees the old file or the new one, never a part.
    ///
    /// With `isDurable` the file and its folder are synced first, so that it outlives a power cut.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32 = 0o600, isDurable: Bool = false
    ) throws(HostError) {
        let draft = path + ".new"
        let file = try Descriptor.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
        try file.writeAll(bytes[...])
        if isDurable, fsync(file.raw) != 0 { throw .last("fsync", draft) }
        guard unsafe rename(draft, path) == 0 else { throw .last("rename", path) }
        if isDurable { try syncFolder(of: path) }
    }

    /// Adds `bytes` to the end of the file at `path`, which is made where there is none; nothing where it would grow
    /// beyond `limit` bytes.
    package static func append(_ bytes: [UInt8], to path: String, limit: Int) throws(HostError) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
        let file = try Descriptor.open(path, flags, mode: 0o600)
        guard Int(lseek(file.raw, 0, SEEK_END)) + bytes.count <= limit else { return }
        try file.writeAll(bytes[...])
    }

    /// Removes the file at `path`; nothing happens where there is none.
    package static func remove(_ path: String) { unsafe unlink(path) }

    /// When the file at `path`, or the link that leads to it, was last changed or put there, in microseconds since 1970.
    ///
    /// The corresponding C functions are `stat` and `lstat`.
    package static func changeTime(_ path: String) throws(HostError) -> Int64 {
        var (file, link) = (stat(), stat())
        guard unsafe stat(path, &file) == 0 else { throw .last("stat", path) }
        guard unsafe lstat(path, &link) == 0 else { throw .last("lstat", path) }
        return [file, link].map { Int64($0.st_ctim.tv_sec) * 1_000_000 + Int64($0.st_ctim.tv_nsec) / 1000 }
            .max() ?? .max
    }

    /// Makes a creation, renaming or removal of `path` outlive a power cut.
    package static func syncFolder(of path: String) throws(HostError) {
        let folder = try Descriptor.open(parent(of: path), O_RDONLY | O_DIRECTORY)
        guard fsync(folder.raw) == 0 else { throw .last("fsync", path) }
    }

    /// Whether anybody may put files beside `path`, as in `/tmp`, so that nobody knows who made a file there; true also where
    /// there is no such folder.
    package static func isInPublicFolder(_ path: String) -> Bool {
        var folder = stat()
        return unsafe stat(parent(of: path), &folder) != 0 || folder.st_mode & 0o002 != 0
    }

    /// The folder that holds `path`.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// Which file a path names, whatever the file is called.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// The file at `path`, a link not followed.
    ///
    /// The corresponding C function is `lstat`.
    package init(at path: String) throws(HostError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw .last("lstat", path) }
        self.init(status)
    }

    /// The file that is open.
    ///
    /// The corresponding C function is `fstat`.
    package init(of file: Descriptor) throws(HostError) {
        var status = stat()
        guard unsafe fstat(file.raw, &status) == 0 else { throw .last("fstat") }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }

    /// Removes `path` when it still names this file; returns whether it did.
    @discardableResult
    package func remove(_ path: String) -> Bool {
        guard (try? FileIdentity(at: path)) == self else { return false }
        return unsafe unlink(path) == 0
    }
}

/// What is at a path, as far as this process can see; links are followed.
package enum PathContent: Hashable, Sendable {
    case nothing
    case folder
    /// A file that somebody may execute.
    case program
    /// Any other file.
    case file
    /// It can't be seen; another user may see it.
    case hidden

    /// What is at `path`.
    ///
    /// The corresponding C function is `stat`.
    package init(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            self = errno == ENOENT || errno == ENOTDIR ? .nothing : .hidden
            return
        }
        switch status.st_mode & 0o170000 {
        case 0o040000: self = .folder
        case 0o100000 where status.st_mode & 0o111 != 0: self = .program
        default: self = .file
        }
    }
}

/// A symbolic link that this process's user could put there: where it leads is not to be trusted.
package enum ReplaceableLink {
    /// The first such link on the way to `path`, which is absolute; nil: there is none.
    ///
    /// A link that only another user could replace, such as `/home` of some systems, is followed.
    /// The corresponding C functions are `lstat`, `readlink` and `access`.
    package static func first(in path: String) -> String? {
        var way = ""
        var rest = path.split(separator: "/").map(String.init)
        var left = 40
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name == ".." { way = way.isEmpty ? "" : SmallFile.parent(of: way) }
            if way == "/" { way = "" }
            if name == ".." || name == "." { continue }
            let place = "\(way)/\(name)"
            var status = stat()
            guard unsafe lstat(place, &status) == 0 else { return nil }
            guard status.st_mode & 0o170000 == 0o120000 else {
                way = place
                continue
            }
            left -= 1
            guard left > 0, !mayReplace(in: way.isEmpty ? "/" : way), let target = target(of: place) else {
                return place
            }
            if target.hasPrefix("/") { way = "" }
            rest = target.split(separator: "/").map(String.init) + rest
        }
        return nil
    }

    private static func mayReplace(in folder: String) -> Bool {
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else { return true }
        return unsafe status.st_uid == geteuid() || access(folder, W_OK) == 0
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = unsafe readlink(link, &bytes, bytes.count - 1)
        return count < 0 ? nil : String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// What kind of file system a folder is on, by its magic number.
package struct FileSystemKind: Hashable, Sendable {
    /// The number, as `statfs` reports it.
    package let magic: UInt32

    /// A kind by its number.
    package init(magic: UInt32) {
        self.magic = magic
    }

    /// The kind of the file system that holds `path`.
    ///
    /// The corresponding C function is `statfs`.
    package init(of path: String) throws(HostError) {
        var status = statfs()
        guard unsafe statfs(path, &status) == 0 else { throw .last("statfs", path) }
        magic = UInt32(truncatingIfNeeded: status.f_type)
    }

    /// Whether its files may be changed by another machine, and locks can't be trusted: NFS and its like.
    ///
    /// - Source: statfs(2) and linux/magic.h.
    package var isRemote: Bool { Self.remote[magic] != nil }

    /// Network file systems have no common sign.
    private static let remote: [UInt32: String] = [
        0x6969: "nfs", 0x517B: "smb", 0xFE53_4D42: "smb2", 0xFF53_4D42: "cifs", 0x5346_414F: "afs",
        0x6B41_4653: "afs", 0x7375_7245: "coda", 0x564C: "ncp", 0x0102_1997: "9p", 0x00C3_6400: "ceph",
        0x0BD0_0BD0: "lustre", 0x4750_4653: "gpfs",
    ]
}
