import Glibc

/// A file of nothing beside the ledger, given up when the disk is full: what must be told then still fits.
struct Reserve {
    /// Room for some hundred commits of what tells of old work: a log is moved and begun anew within it.
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
    /// Twice, so that it is not given up again by the next commit.
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

    /// Removes the file.
    ///
    /// Returns false when there was none: then nothing was won.
    mutating func giveUp() -> Bool {
        guard isThere else { return false }
        isThere = false
        return unsafe unlink(path) == 0
    }
}
