import CLinux
import Glibc
import Host
import Timeline

/// The descriptors that the one thread waits for, and what each belongs to.
final class Watches<Source> {
    private let poll: EventPoll
    private var sources: [UInt64: Source] = [:]
    private var tokens: [Int32: UInt64] = [:]
    private var lastToken: UInt64 = 0

    init() throws(HostError) {
        poll = try EventPoll()
    }

    func add(
        _ descriptor: Int32, _ source: Source, _ interest: EventPoll.Interest = .reading
    ) throws(HostError) {
        lastToken += 1
        try poll.add(descriptor, lastToken, interest)
        sources[lastToken] = source
        tokens[descriptor] = lastToken
    }

    /// Waits for it no more.
    ///
    /// One that is closed next, and is open nowhere else, leaves the poll by that.
    func remove(_ descriptor: Int32, closesNext: Bool = true) {
        guard let token = tokens.removeValue(forKey: descriptor) else { return }
        sources[token] = nil
        if !closesNext { poll.remove(descriptor) }
    }

    func contains(_ descriptor: Int32) -> Bool { tokens[descriptor] != nil }

    /// What is watched already belongs to somebody else from here on.
    func reassign(_ descriptor: Int32, to source: Source) {
        if let token = tokens[descriptor] { sources[token] = source }
    }

    func setInterest(_ descriptor: Int32, _ interest: EventPoll.Interest) {
        guard let token = tokens[descriptor] else { return }
        try? poll.change(descriptor, token, interest)
    }

    /// Waits until something is ready.
    func wait() throws(HostError) -> [EventPoll.Ready] { try poll.wait() }

    /// What is ready; nil when another event of this round removed it.
    func source(of ready: EventPoll.Ready) -> Source? { sources[ready.token] }
}

/// The one timer of the loop, set to the earliest instant anybody has to keep.
final class LoopTimer {
    let descriptor: Descriptor
    private var armedFor: Duration?

    init() throws(HostError) {
        descriptor = try Descriptor(
            timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK)), call: "timerfd_create")
    }

    /// Sets it to an instant since boot; nil: to none.
    func arm(for next: Duration?) {
        guard next != armedFor else { return }
        armedFor = next
        var setting = itimerspec()
        if let next {
            // A microsecond later than asked, because the rest below it was cut; zero would disarm.
            let microseconds = Int(max(0, next.microseconds)) + 1
            setting.it_value = timespec(
                tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1000)
        }
        unsafe timerfd_settime(descriptor.raw, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    /// It expired: takes that note of the kernel.
    func clear() {
        var count: UInt64 = 0
        unsafe read(descriptor.raw, &count, MemoryLayout<UInt64>.size)
        armedFor = nil
    }
}
