import CLinux
import Glibc

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
