import CLinux
import Glibc

/// Folders that only their owner may enter.
package enum PrivateFolder {
    /// Makes `path`, mode 0700, with the folders above it, and makes sure that it is ours alone.
    ///
    /// - Throws: ``HostError/notOurs(path:)`` when it is a link, belongs to another user, or lets
    ///   others write: somebody else may have made it first, in `/tmp` for example.
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
