import CLinux
import Glibc

/// Waits for many descriptors at once.
///
/// Belongs to one thread.
///
/// Readiness is level-triggered: what is not read is reported again.
@safe package final class EventPoll {
    /// One descriptor that is ready.
    package struct Ready: Hashable {
        /// The number it was added under.
        package var token: UInt64
        /// Bytes, a connection, an end or an error can be read.
        package var isReadable: Bool
        /// Bytes can be written.
        package var isWritable: Bool
    }

    /// What to wait for.
    package enum Interest: Hashable {
        /// Something to read, or the other side's end.
        case reading
        /// As ``reading``, and room to write.
        case readingAndWriting
        /// Room to write, or nobody left who could read it.
        case writing
        /// Nothing but an error or the other side's end.
        case ending
    }

    private let descriptor: Descriptor
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: 64)

    /// Opens it with nothing to wait for.
    package init() throws(HostError) {
        descriptor = try Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC)), call: "epoll_create1")
    }

    /// Waits for `other` too, and reports it as `token`.
    ///
    /// It must be removed before it is closed.
    package func add(_ other: Int32, _ token: UInt64, _ interest: Interest = .reading) throws(HostError) {
        try control(EPOLL_CTL_ADD, other, token, interest)
    }

    /// Waits for something else of `other`.
    package func change(_ other: Int32, _ token: UInt64, _ interest: Interest) throws(HostError) {
        try control(EPOLL_CTL_MOD, other, token, interest)
    }

    /// Forgets `other`; it does no harm when it was not there.
    package func remove(_ other: Int32) {
        try? control(EPOLL_CTL_DEL, other, 0, .reading)
    }

    /// Blocks until something is ready, a signal interrupts (empty answer) or the time has passed.
    ///
    /// `milliseconds` is how long at most, nil for ever.
    package func wait(milliseconds: Int32? = nil) throws(HostError) -> [Ready] {
        let count = unsafe epoll_wait(descriptor.raw, &events, Int32(events.count), milliseconds ?? -1)
        guard count >= 0 else {
            if errno == EINTR { return [] }
            throw .last("epoll_wait")
        }
        let writable = EPOLLOUT.rawValue
        return unsafe events[..<Int(count)].map { event in
            unsafe Ready(
                token: event.data.u64, isReadable: event.events & ~writable != 0,
                isWritable: event.events & writable != 0)
        }
    }

    private func control(
        _ operation: Int32, _ other: Int32, _ token: UInt64, _ interest: Interest
    ) throws(HostError) {
        var event = unsafe epoll_event()
        unsafe event.data.u64 = token
        unsafe event.events =
            switch interest {
            case .reading: EPOLLIN.rawValue
            case .readingAndWriting: EPOLLIN.rawValue | EPOLLOUT.rawValue
            case .writing: EPOLLOUT.rawValue
            case .ending: 0
            }
        guard unsafe epoll_ctl(descriptor.raw, operation, other, &event) == 0 else {
            throw .last("epoll_ctl")
        }
    }
}

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
