import CLinux
import Glibc

/// Wakes a thread that waits in an ``EventPoll``, from any other thread.
package final class WakeUp: Sendable {
    private let descriptor: Descriptor

    /// Opens it, quiet.
    ///
    /// The corresponding C function is `eventfd`.
    package init() throws(HostError) {
        descriptor = try Descriptor(
            eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), call: "eventfd")
    }

    /// The descriptor to wait for; readable after ``ring()``.
    package var raw: Int32 { descriptor.raw }

    /// Wakes the thread; several rings before it looks count as one.
    package func ring() {
        var one: UInt64 = 1
        unsafe write(descriptor.raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes it quiet again.
    package func clear() {
        var count: UInt64 = 0
        unsafe read(descriptor.raw, &count, MemoryLayout<UInt64>.size)
    }
}
