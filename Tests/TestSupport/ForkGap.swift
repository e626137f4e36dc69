import Glibc
import Host

/// What a child that is about to exec shares with this process: everything that is open at a path.
///
/// A test can't hold a child between fork and exec; the kernel sees no difference between that child's
/// descriptors and these.
package final class ForkGap {
    private let shared: [Int32]

    /// How many descriptors are shared.
    package var count: Int { shared.count }

    /// Shares what this process has open at `path`.
    package init(sharing path: String) throws {
        let target = Self.file(path)
        // Found before the first is shared, which may take the number that reading the folder had.
        let open = try Folder.names(in: "/proc/self/fd").filter { Self.file("/proc/self/fd/" + $0) == target }
        shared = open.compactMap { Int32($0) }.map { dup($0) }
    }

    private static func file(_ path: String) -> [UInt64] {
        var status = stat()
        // One that is closed meanwhile is none of ours.
        guard unsafe stat(path, &status) == 0 else { return [] }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }

    /// The child execs.
    deinit {
        for descriptor in shared { close(descriptor) }
    }
}
