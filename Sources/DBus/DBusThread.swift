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
