import CDBus
import Glibc
import Synchronization

/// The one thread that may call libdbus for one connection, and the executor of that connection's actor.
///
/// It sleeps in poll(2) on an eventfd (something came into the inbox) and on the descriptors libdbus watches.
/// Poll and not epoll, because libdbus has two watches on one descriptor. Jobs must never block: they share
/// the thread with every byte of the connection.
final class DBusThread: SerialExecutor {
    private enum Errand {
        case job(UnownedJob)
        case call(PendingCall)
    }

    private struct Inbox {
        var errands: [Errand] = []
        var isSleeping = false
        var isStopping = false
    }

    private let inbox = Mutex(Inbox())
    private let wakeup: Int32
    private let thread = Atomic<UInt>(0)

    /// What is polled beside the inbox.
    private nonisolated(unsafe) var link: BusLink?  // SAFE: touched on this thread only; `attach` checks it.

    /// Starts the thread; it runs until ``stop()``.
    init() throws(DBusError) {
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeup >= 0 else { throw .outOfMemory }
        try start()
    }

    deinit {
        close(wakeup)
    }

    /// Starts the thread with all signals blocked: they belong to the program's own threads.
    private func start() throws(DBusError) {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var id = pthread_t()
        let retained = unsafe Unmanaged.passRetained(self)
        let failure = unsafe pthread_create(
            &id, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let thread = unsafe Unmanaged<DBusThread>.fromOpaque(context).takeRetainedValue()
                thread.run()
                return nil
            }, retained.toOpaque())
        guard failure == 0 else {
            unsafe retained.release()
            throw .outOfMemory
        }
        pthread_detach(id)
    }

    /// Polls `link` from now on, or nothing.
    ///
    /// On the thread only.
    func attach(_ link: BusLink?) {
        precondition(isIsolatingCurrentContext() == true)
        unsafe self.link = link
    }

    /// Lets the thread end once its inbox is empty.
    ///
    /// Only when no job can follow.
    func stop() {
        let mustWake = inbox.withLock { inbox in
            inbox.isStopping = true
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { wake() }
    }

    // MARK: Inbox

    /// Makes `call` on the attached link, in its turn among the jobs.
    ///
    /// A call does not travel as a job of the actor: a continuation always resumes on the global executor, so
    /// a caller that waited inside the actor would change threads twice more on its way back.
    func post(_ call: PendingCall) {
        add(.call(call))
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    private func add(_ errand: Errand) {
        let mustWake = inbox.withLock { inbox in
            inbox.errands.append(errand)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { wake() }
    }

    func isIsolatingCurrentContext() -> Bool? {
        thread.load(ordering: .acquiring) == UInt(pthread_self())
    }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "libdbus is used off its thread")
    }

    private func wake() {
        eventfd_write(wakeup, 1)
    }

    // MARK: Loop

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        var descriptors: [pollfd] = []
        while runErrands() {
            let hasMore = unsafe link?.hasMore ?? false
            let mayRest = inbox.withLock { inbox in
                inbox.isSleeping = inbox.errands.isEmpty && !inbox.isStopping
                return inbox.isSleeping && !hasMore
            }
            poll(&descriptors, milliseconds: mayRest ? unsafe link?.millisecondsToDeadline() ?? -1 : 0)
            unsafe link?.advance()
        }
        unsafe link?.close()
        unsafe link = nil
    }

    /// Runs what is in the inbox; false when the thread should end.
    private func runErrands() -> Bool {
        let (errands, isStopping) = inbox.withLock { inbox in
            defer { inbox.errands = [] }
            return (inbox.errands, inbox.isStopping)
        }
        for errand in errands {
            switch errand {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .call(let call):
                if let link = unsafe link {
                    link.make(call)
                } else {
                    call.waiter.answer(.failure(.disconnected))
                }
            }
        }
        return !(isStopping && errands.isEmpty)
    }

    /// Waits until there is something to do; `descriptors` is kept from turn to turn for its memory only.
    private func poll(_ descriptors: inout [pollfd], milliseconds: Int32) {
        let watches = unsafe link?.enabledWatches() ?? []
        descriptors.removeAll(keepingCapacity: true)
        descriptors.append(pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0))
        for watch in watches {
            descriptors.append(pollfd(fd: watch.descriptor, events: watch.events, revents: 0))
        }
        let ready = unsafe Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        inbox.withLock { $0.isSleeping = false }
        guard ready > 0 else { return }
        if descriptors[0].revents != 0 {
            var count: eventfd_t = 0
            unsafe eventfd_read(wakeup, &count)
        }
        for (watch, descriptor) in zip(watches, descriptors.dropFirst()) where descriptor.revents != 0 {
            unsafe link?.handle(watch, events: descriptor.revents)
        }
    }
}

/// The descriptors and timers that libdbus wants watched.
///
/// Each registration has a number of its own: libdbus may free a watch and get the same address for the
/// next, between the poll and the handling.
@safe final class WatchTable {
    /// One descriptor to poll.
    struct Watch {
        var id: Int
        var descriptor: Int32
        var events: Int16
    }

    @safe private struct Registered {
        var pointer: OpaquePointer
    }

    @safe private struct Timer {
        var pointer: OpaquePointer
        var due: ContinuousClock.Instant
    }

    private var lastID = 0
    private var watches: [Int: Registered] = [:]
    private var timers: [Int: Timer] = [:]
    /// What ``enabled()`` returned last; `nil` after libdbus changed a watch.
    private var current: [Watch]?

    /// Hands libdbus our tables.
    ///
    /// The tables must outlive the connection or ``stopWatching(_:)``.
    ///
    /// The corresponding C functions are `dbus_connection_set_watch_functions` and `..._timeout_functions`.
    func startWatching(_ connection: OpaquePointer) throws(DBusError) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let watching = unsafe dbus_connection_set_watch_functions(
            connection,
            { watch, context in
                unsafe WatchTable.from(context)?.add(watch: watch)
                return 1
            },
            { watch, context in unsafe WatchTable.from(context)?.remove(watch: watch) },
            { _, context in unsafe WatchTable.from(context)?.current = nil },
            context, nil)
        let timing = unsafe dbus_connection_set_timeout_functions(
            connection,
            { timeout, context in
                unsafe WatchTable.from(context)?.add(timeout: timeout)
                return 1
            },
            { timeout, context in unsafe WatchTable.from(context)?.remove(timeout: timeout) },
            { timeout, context in
                unsafe WatchTable.from(context)?.remove(timeout: timeout)
                unsafe WatchTable.from(context)?.add(timeout: timeout)
            },
            context, nil)
        guard watching != 0, timing != 0 else { throw .outOfMemory }
    }

    /// Takes the tables away from libdbus again.
    func stopWatching(_ connection: OpaquePointer) {
        unsafe dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        unsafe dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
    }

    /// What to poll now.
    func enabled() -> [Watch] {
        if let current { return current }
        let enabled = watches.compactMap { id, watch in
            unsafe dbus_watch_get_enabled(watch.pointer) != 0 ? Self.watch(id, watch.pointer) : nil
        }
        current = enabled
        return enabled
    }

    private static func watch(_ id: Int, _ pointer: OpaquePointer) -> Watch {
        let flags = unsafe dbus_watch_get_flags(pointer)
        var events: Int32 = 0
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= POLLIN }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= POLLOUT }
        return Watch(id: id, descriptor: unsafe dbus_watch_get_unix_fd(pointer), events: Int16(events))
    }

    /// Passes poll's result to libdbus, if the watch still exists.
    func handle(_ watch: Watch, events: Int16) {
        guard let pointer = unsafe watches[watch.id]?.pointer,
            unsafe dbus_watch_get_enabled(pointer) != 0
        else { return }
        let events = Int32(events)
        var flags: UInt32 = 0
        if events & POLLIN != 0 { flags |= DBUS_WATCH_READABLE.rawValue }
        if events & POLLOUT != 0 { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if events & (POLLERR | POLLNVAL) != 0 { flags |= DBUS_WATCH_ERROR.rawValue }
        if events & POLLHUP != 0 { flags |= DBUS_WATCH_HANGUP.rawValue }
        unsafe dbus_watch_handle(pointer, flags)
    }

    /// When libdbus' next timer is due.
    var nextTimer: ContinuousClock.Instant? {
        timers.isEmpty ? nil : timers.values.map(\.due).min()
    }

    /// Fires the timers that are due at `now`.
    func fireTimers(at now: ContinuousClock.Instant) {
        for (id, timer) in timers where timer.due <= now {
            guard timers[id] != nil else { continue }  // an earlier one removed it
            timers[id]?.due = unsafe now + Self.interval(of: timer.pointer)
            unsafe dbus_timeout_handle(timer.pointer)
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> WatchTable? {
        unsafe context.map { unsafe Unmanaged<WatchTable>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func interval(of timeout: OpaquePointer) -> Duration {
        .milliseconds(unsafe dbus_timeout_get_interval(timeout))
    }

    private func add(watch: OpaquePointer?) {
        guard let watch = unsafe watch else { return }
        lastID += 1
        watches[lastID] = unsafe Registered(pointer: watch)
        current = nil
    }

    private func remove(watch: OpaquePointer?) {
        watches = watches.filter { unsafe $0.value.pointer != watch }
        current = nil
    }

    private func add(timeout: OpaquePointer?) {
        guard let timeout = unsafe timeout, unsafe dbus_timeout_get_enabled(timeout) != 0 else { return }
        lastID += 1
        timers[lastID] = unsafe Timer(
            pointer: timeout, due: ContinuousClock.now + Self.interval(of: timeout))
    }

    private func remove(timeout: OpaquePointer?) {
        timers = timers.filter { unsafe $0.value.pointer != timeout }
    }
}

@available(*, unavailable) extension WatchTable: Sendable {}
