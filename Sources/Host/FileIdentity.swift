import CLinux
import Glibc

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

    /// Removes `path` when it still names this file, and says whether it did.
    @discardableResult
    package func remove(_ path: String) -> Bool {
        guard (try? FileIdentity(at: path)) == self else { return false }
        return unsafe unlink(path) == 0
    }
}
