import Glibc

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
