import Glibc

/// An empty file beside the ledger, removed when the disk is full, so that the changes that end old work still fit.
struct Reserve {
    /// Room for some hundred such commits: the log is moved and restarted within it.
    static let bytes = 2 << 20

    private let path: String
    /// Whether it takes up its room.
    private(set) var isThere = false

    /// The reserve of the ledger at `path`; makes it.
    init(of path: String) {
        self.path = path + "-reserve"
        make()
    }

    /// Makes the file, when the disk has room for twice as much.
    ///
    /// Twice, so that the next commit does not remove it again.
    mutating func make() {
        guard !isThere else { return }
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return }
        if Int(status.st_blocks) * 512 >= Self.bytes {
            isThere = true
            return
        }
        var disk = statvfs()
        let hasRoom =
            unsafe fstatvfs(file, &disk) == 0
            && UInt64(disk.f_bavail) * UInt64(disk.f_frsize) >= UInt64(2 * Self.bytes)
        if hasRoom, posix_fallocate(file, 0, off_t(Self.bytes)) == 0 {
            isThere = true
        } else {
            unsafe unlink(path)
        }
    }

    /// Removes the file; false when there was none.
    mutating func free() -> Bool {
        guard isThere else { return false }
        isThere = false
        return unsafe unlink(path) == 0
    }
}
