import CLinux
import Glibc

/// Random bytes from the kernel.
package enum RandomBytes {
    /// `count` bytes, at most 256, that nobody can guess.
    ///
    /// The corresponding C function is `getrandom`, which cannot fail for so few once the machine is up.
    package static func make(_ count: Int) -> [UInt8] {
        precondition(count <= 256, "getrandom may return less than asked above 256 bytes")
        var bytes = [UInt8](repeating: 0, count: count)
        while unsafe getrandom(&bytes, count, 0) != count {}
        return bytes
    }
}
