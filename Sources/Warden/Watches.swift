import CLinux
import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// What a watched descriptor belongs to.
enum WatchSource {
    case signals, timer, listener, tie
    case link(UInt64)
    case output(RunKey, JobStream), progress(RunKey), notify(RunKey), input(RunKey), orphan(RunKey)
    /// The copies of a run's output for an attached reader that is slower than the run.
    case sink(RunKey, JobStream)
    /// The same, of a run that ended.
    case lastWords(UInt64)
    /// The output of a run that ended, still held open by a process it left behind.
    case leftover(UInt64)
    /// The copies of that output for an attached reader that is slower than the process.
    case leftoverSink(UInt64)
}

/// The descriptors that the one thread waits for, and what each belongs to.
final class Watches {
    private let poll: EventPoll
    private var sources: [UInt64: WatchSource] = [:]
    private var tokens: [Int32: UInt64] = [:]
    private var lastToken: UInt64 = 0

    init() throws(HostError) {
        poll = try EventPoll()
    }

    func add(
        _ descriptor: Int32, _ source: WatchSource, _ interest: EventPoll.Interest = .reading
    ) throws(HostError) {
        lastToken += 1
        try poll.add(descriptor, lastToken, interest)
        sources[lastToken] = source
        tokens[descriptor] = lastToken
    }

    /// Stops waiting for it.
    ///
    /// One that is closed next, and is open nowhere else, leaves the poll by that.
    func remove(_ descriptor: Int32, closesNext: Bool = true) {
        guard let token = tokens.removeValue(forKey: descriptor) else { return }
        sources[token] = nil
        if !closesNext { poll.remove(descriptor) }
    }

    func contains(_ descriptor: Int32) -> Bool { tokens[descriptor] != nil }

    /// Gives a watched descriptor another owner.
    func reassign(_ descriptor: Int32, to source: WatchSource) {
        if let token = tokens[descriptor] { sources[token] = source }
    }

    func setInterest(_ descriptor: Int32, _ interest: EventPoll.Interest) {
        guard let token = tokens[descriptor] else { return }
        try? poll.change(descriptor, token, interest)
    }

    /// Waits until something is ready.
    func wait() throws(HostError) -> [EventPoll.Ready] { try poll.wait() }

    /// The owner of what is ready; nil when another event of this round removed it.
    func source(of ready: EventPoll.Ready) -> WatchSource? { sources[ready.token] }
}

/// What every read of the loop fills; one for all, since only one thread reads.
final class ReadBuffer {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
}

/// What wakes the loop beside runs and connections: the timer, signals, and the end of the process it is tied to.
struct LoopSources {
    let timer: LoopTimer
    private let signals: Descriptor
    private let tie: ProcessHandle?

    /// Takes the signals from here on; throws also when the process to end with has ended already.
    init(watchedBy watches: Watches) throws(HostError) {
        timer = try LoopTimer()
        signals = try Self.takeSignals()
        tie = try Self.findTie()
        try watches.add(signals.raw, .signals)
        try watches.add(timer.descriptor.raw, .timer)
        if let tie { try watches.add(tie.raw, .tie) }
    }

    /// The signals that came since the last call.
    func readSignals() -> [Int32] {
        var arrived: [Int32] = []
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(signals.raw, &info, size) == size { arrived.append(Int32(info.ssi_signo)) }
        return arrived
    }

    /// From here on signals are read like any other descriptor; children get them back at their defaults.
    private static func takeSignals() throws(HostError) -> Descriptor {
        var taken = sigset_t()
        unsafe sigemptyset(&taken)
        for signal in [SIGCHLD, SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&taken, signal) }
        unsafe sigprocmask(SIG_BLOCK, &taken, nil)
        Signals.ignoreBrokenPipes()
        let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
        return try Descriptor(unsafe signalfd(-1, &taken, flags), call: "signalfd")
    }

    /// The process to end with, by ``WardenLaunch/tieVariable``.
    private static func findTie() throws(HostError) -> ProcessHandle? {
        guard let text = Machine.environment[WardenLaunch.tieVariable], let pid = Int32(text) else {
            return nil
        }
        return try ProcessHandle(pid: pid, startTime: ProcessTable.entry(pid)?.startTime ?? 0)
    }
}

/// The one timer of the loop, set to the earliest deadline.
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

    /// Acknowledges to the kernel that it expired.
    func clear() {
        var count: UInt64 = 0
        unsafe read(descriptor.raw, &count, MemoryLayout<UInt64>.size)
        armedFor = nil
    }
}
