import CLinux
import Glibc

/// The right to be the only daemon of a state folder, held until this object goes.
///
/// Taken before anything in the folder is opened or removed. The lock ends with the process, however it
/// ends; the descriptor is close-on-exec, so that no job keeps it.
package final class StateLock: Sendable {
    private let file: Descriptor

    /// Takes the lock of `folder`, which must exist.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` with the holder, ``HostError/remoteFolder(path:)`` on NFS
    ///   and its like.
    package init(folder: String, name: String = "lock") throws(HostError) {
        guard try !FileSystemKind(of: folder).isRemote else { throw .remoteFolder(path: folder) }
        let path = folder + "/" + name
        var held = try Self.lock(path, of: folder)
        // Its holder may remove the file and the folder when it ends: then what was locked here has no name.
        while try FileIdentity(of: held) != (try? FileIdentity(at: path)) {
            held = try Self.lock(path, of: folder)
        }
        file = held
        guard ftruncate(file.raw, 0) == 0 else { throw .last("ftruncate", path) }
        try file.writeAll(Array("\(getpid())\n".utf8)[...])
    }

    /// A child that is about to exec may still share the descriptor: closing it alone would leave it locked.
    deinit { flock(file.raw, LOCK_UN) }

    private static func lock(_ path: String, of folder: String) throws(HostError) -> Descriptor {
        let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard flock(file.raw, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else { throw .system(call: "flock", code: code, path: path) }
            throw .held(path: folder, pid: holder(path))
        }
        return file
    }

    /// The process that wrote itself into the lock file last, nil when nothing readable is there.
    package static func holder(_ path: String) -> Int32? {
        (try? SmallFile.text(path)).flatMap { Int32($0) }
    }

    /// The process that holds the lock of `folder` now; nil: nobody does.
    ///
    /// Takes nothing, so that a daemon that starts meanwhile is not in its way.
    package static func liveHolder(folder: String, name: String = "lock") throws(HostError) -> Int32? {
        guard let pid = holder(folder + "/" + name) else { return nil }
        var status = stat()
        guard unsafe stat(folder + "/" + name, &status) == 0 else { throw .last("stat", folder) }
        // A line of it ends as `FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF`.
        let locks = try SmallFile.text("/proc/locks", limit: 1 << 22).split(separator: "\n")
        let isHeld = locks.contains { line in
            let fields = line.split(separator: " ")
            return fields.contains("FLOCK") && fields.contains("\(pid)")
                && fields.contains { $0.hasSuffix(":\(status.st_ino)") }
        }
        return isHeld ? pid : nil
    }
}
