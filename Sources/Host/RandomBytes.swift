import CLinux
import Glibc
import Synchronization

/// Random numbers from the kernel.
package enum RandomBytes {
    /// What one call of the kernel brought and nobody has had yet.
    private static let store = Mutex<[UInt64]>([])
    /// The most that `getrandom` never gives a part of only, in words.
    private static let most = 256 / 8

    /// Eight bytes that nobody can guess.
    ///
    /// Asked for many at a time, which costs the kernel hardly more than a few; none is given out twice. A process that
    /// forks without `exec` must not use it on both sides: ours never do.
    package static func word() -> UInt64 {
        store.withLock { store in
            if store.isEmpty { store = fetch() }
            return store.removeLast()
        }
    }

    /// The corresponding C function is `getrandom`, which cannot fail for so few once the machine is up.
    private static func fetch() -> [UInt64] {
        var words = [UInt64](repeating: 0, count: most)
        while unsafe getrandom(&words, most * 8, 0) != most * 8 {}
        return words
    }
}
