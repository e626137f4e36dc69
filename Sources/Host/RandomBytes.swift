import CLinux
import Glibc
import Synchronization

/// Random bytes from the kernel.
package enum RandomBytes {
    /// What one call of the kernel brought and nobody has had yet.
    private static let store = Mutex<[UInt8]>([])

    /// `count` bytes, at most 256, that nobody can guess.
    ///
    /// Asked for many at a time, which costs the kernel hardly more than a few; no byte is given out twice. A process
    /// that forks without `exec` must not use it on both sides: ours never do.
    package static func make(_ count: Int) -> [UInt8] {
        precondition(count <= most, "getrandom may return less than asked above \(most) bytes")
        return store.withLock { store in
            if store.count < count { store = fetch() }
            defer { store.removeLast(count) }
            return Array(store.suffix(count))
        }
    }

    private static let most = 256

    /// The corresponding C function is `getrandom`, which cannot fail for so few once the machine is up.
    private static func fetch() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        while unsafe getrandom(&bytes, most, 0) != most {}
        return bytes
    }
}
