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
        try Self.refuseRemote(folder)
        let path = folder + "/" + name
        var held = try Self.lock(path, of: folder)
        // Whoever ends may remove the file and the folder: what was locked then is no file of anybody's.
        while try FileIdentity(of: held) != (try? FileIdentity(at: path)) {
            held = try Self.lock(path, of: folder)
        }
        file = held
        guard ftruncate(file.raw, 0) == 0 else { throw .last("ftruncate", path) }
        try file.writeAll(Array("\(getpid())\n".utf8)[...])
    }

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

    private static func refuseRemote(_ folder: String) throws(HostError) {
        var status = statfs()
        guard unsafe statfs(folder, &status) == 0 else { throw .last("statfs", folder) }
        // NFS, SMB, SMB2, CIFS and AFS have no common sign; the magic numbers are those of statfs(2).
        let remote: [UInt32] = [0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x5346_414F]
        if remote.contains(UInt32(truncatingIfNeeded: status.f_type)) { throw .remoteFolder(path: folder) }
    }
}
