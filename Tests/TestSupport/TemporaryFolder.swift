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
