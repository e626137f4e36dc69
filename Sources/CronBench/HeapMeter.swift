import CLinux
import Glibc

/// Sees whether anything was taken from the heap, also when it was given back at once.
///
/// The thread's cache of the C library is emptied first. What is freed then fills the cache, and the library
/// counts a cached piece as in use; so one allocation of up to about a kilobyte shows as growth.
enum HeapMeter {
    static func growth(_ body: () -> Void) -> Int {
        var held: [UnsafeMutableRawPointer] = unsafe []
        unsafe held.reserveCapacity(64 * 8)
        for size in stride(from: 16, through: 1024, by: 16) {
            for _ in 0..<8 {
                unsafe held.append(UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1))
            }
        }
        let before = mallinfo2().uordblks
        body()
        let after = mallinfo2().uordblks
        unsafe held.forEach { unsafe $0.deallocate() }
        return Int(after) - Int(before)
    }

    /// The bytes that are taken from the heap now.
    static var bytes: Int { Int(mallinfo2().uordblks) + Int(mallinfo2().hblkhd) }
}
