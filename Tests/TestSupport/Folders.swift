import Glibc
package import Host

/// A fresh folder of one test, with a short path (sockets), removed with everything in it at the end.
package final class TemporaryFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    /// Makes the folder below `/tmp`, owner only.
    package init() throws(HostError) {
        path = "/tmp/bf-" + UniqueID.v4().prefix(13)
        try PrivateFolder.make(path)
    }

    deinit {
        Self.remove(path)
    }

    /// The path of `name` in the folder.
    package func file(_ name: String) -> String { path + "/" + name }

    private static func remove(_ path: String) {
        for name in (try? Folder.names(in: path)) ?? [] {
            // A link is removed, never followed.
            if unsafe unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
        }
        unsafe rmdir(path)
    }
}

/// A file system of a few megabytes in memory, for tests that fill it; needs the right to mount.
package final class SmallDisk: Sendable {
    package let folder: TemporaryFolder

    /// Whether this machine lets us mount one.
    package static func mayMount() async -> Bool { (try? SmallDisk(megabytes: 1)) != nil }

    package init(megabytes: Int) throws {
        folder = try TemporaryFolder()
        guard
            try Shell.run("mount -t tmpfs -o size=\(megabytes)m,mode=700 tmpfs \(folder.path) 2>/dev/null")
                == 0
        else { throw NotMounted() }
    }

    deinit {
        _ = try? Shell.run("umount -l \(folder.path) 2>/dev/null")
    }

    /// Takes every byte that is left.
    package func fill() throws {
        _ = try Shell.run("cat /dev/zero > filler 2>/dev/null", in: folder.path)
    }

    /// Gives the bytes back.
    package func free() throws {
        _ = try Shell.run("rm filler", in: folder.path)
    }

    private struct NotMounted: Error {}
}
