import Host
package import Performing
import Synchronization

/// The daemon's side of the warden's socket: one thread that sends commands and brings events.
///
/// Nothing here blocks a caller. The thread also reads the jobs' `NOTIFY_SOCKET`s, which the warden
/// hands over while a daemon is connected.
package final class WardenClient: Sendable {
    /// What happens to runs, in order; one reader at a time.
    ///
    /// Ends after ``close()``.
    ///
    /// A reader that is slow slows the jobs' reports down; starts and outcomes are never dropped.
    package let events: AsyncStream<PerformerEvent>
    /// How ``connect()`` starts a warden where none answers; nil: somebody else starts it.
    private let launch: WardenLaunch?
    private let mailbox: ClientMailbox
    private let queue: EventQueue

    /// A client of the warden in `directory` (``Paths/warden``), not connected yet.
    package init(directory: String, launching launch: WardenLaunch? = nil) throws(WardenError) {
        self.launch = launch
        do throws(HostError) {
            let mailbox = try ClientMailbox()
            let queue = EventQueue { mailbox.wakeUp.ring() }
            try ClientLoop.start(directory: directory, mailbox: mailbox, queue: queue)
            self.mailbox = mailbox
            self.queue = queue
            events = AsyncStream { await queue.next() }
        } catch {
            throw .host(error)
        }
    }

    deinit {
        mailbox.post(.close)
    }

    /// Connects, or connects again; starts a warden with `launch` when none answers.
    ///
    /// After it the events begin with everything the warden knows, closed by ``PerformerEvent/caughtUp``.
    /// - Throws: ``WardenError/noWarden(text:)``, ``WardenError/hungUp``. Takes at most 10 s, and ends at once, as if
    ///   hung up on, when the task is canceled.
    package func connect(launching launch: WardenLaunch?) async throws(WardenError) -> WardenHello {
        let (answers, caller) = AsyncStream.makeStream(of: Result<WardenHello, WardenError>.self)
        guard mailbox.post(.connect(launch, caller)) else { throw .hungUp }
        for await answer in answers { return try answer.get() }
        throw .hungUp
    }

    /// Sends a command in the order of the calls; a start that asks for more than the warden can do is
    /// answered with refused by the client itself.
    ///
    /// A command is lost when there is no connection, or when it breaks
    /// before the command has arrived: then ``PerformerEvent/disconnected`` reports it.
    package func send(_ command: WardenCommand) {
        mailbox.post(.send(command))
    }

    /// Hangs up and ends ``events``.
    ///
    /// Runs continue in the warden.
    package func close() {
        mailbox.post(.close)
    }
}

extension WardenClient: Performer {
    package var survivesTheDaemon: Bool { true }

    package func connect() async throws -> Int32? { try await connect(launching: launch).pid }

    package func start(_ order: AttemptOrder) {
        switch order {
        case .process(let order): send(.start(order))
        case .prompt, .url:
            queue.add(.refused(order.key, .badOrder, text: "a warden starts programs, and nothing else"))
        }
    }

    package func cancel(_ key: RunKey, reason: String) { send(.cancel(key, reason: reason)) }

    package func ask(_ key: RunKey) { send(.query(key)) }

    package func pauses(_ key: RunKey) -> Bool { mailbox.abilities.withLock { $0.pauses(key) } }

    package func pause(_ key: RunKey) { send(.pause(key)) }

    package func resume(_ key: RunKey) { send(.resume(key)) }

    package func acknowledge(_ key: RunKey) { send(.acknowledge(key)) }

    package func waitForEvents() async -> Bool { await queue.waitForNews() }

    package func takeEvents() -> [PerformerEvent] { queue.takeAll() }
}

/// Events on their way from the client's thread to the one task that reads them, one by one or all at once.
///
/// Above ``high`` the thread stops reading its sockets until the queue is below ``low``, so that a slow
/// reader slows the jobs' reports down instead of filling the memory.
final class EventQueue: Sendable {
    static let high = 4096
    static let low = 1024

    private struct State {
        var events: [PerformerEvent] = []
        var start = 0
        var reader: CheckedContinuation<Void, Never>?
        /// Whether something was added since ``waitForNews()`` last returned.
        var hasNews = false
        var isFinished = false
        var isStopped = false

        var count: Int { events.count - start }
        var hasEvents: Bool { count > 0 }

        /// At most `most` of those that wait.
        mutating func removeFirst(_ most: Int) -> [PerformerEvent] {
            let taken = Array(events[start...].prefix(most))
            start += taken.count
            if start == events.count {
                events.removeAll(keepingCapacity: events.count < high)
                start = 0
            } else if start >= high {
                events.removeSubrange(..<start)
                start = 0
            }
            return taken
        }
    }

    private let state = Mutex(State())
    private let resume: @Sendable () -> Void

    /// Calls `resume` when the reader has caught up after ``mayReceive`` was false.
    init(resume: @escaping @Sendable () -> Void) {
        self.resume = resume
    }

    /// Whether the thread may read more.
    ///
    /// After a no, `resume` is called once.
    var mayReceive: Bool {
        state.withLock { state in
            state.isStopped = state.count >= Self.high
            return !state.isStopped
        }
    }

    func add(_ event: PerformerEvent) { add([event]) }

    /// The reader is woken once, and finds them all.
    func add(_ events: [PerformerEvent]) {
        guard !events.isEmpty else { return }
        let reader = state.withLock { state in
            if !state.isFinished {
                state.events += events
                state.hasNews = true
            }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Ends the stream once everything in it has been read.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The next event; nil at the end, and when the reading task is canceled.
    func next() async -> PerformerEvent? {
        while !Task.isCancelled {
            if let event = next(1).first { return event }
            if state.withLock({ $0.isFinished }) { return nil }
            await wait(until: \.hasEvents)
        }
        return nil
    }

    /// All events that wait.
    func takeAll() -> [PerformerEvent] { next(.max) }

    /// Returns once events were added that it has not reported before.
    ///
    /// - Returns: false at the end, and when the reading task is canceled.
    func waitForNews() async -> Bool {
        while !Task.isCancelled {
            let (hasNews, isFinished) = state.withLock { state in
                defer { state.hasNews = false }
                return (state.hasNews, state.isFinished)
            }
            if hasNews { return true }
            if isFinished { return false }
            await wait(until: \.hasNews)
        }
        return false
    }

    private func next(_ most: Int) -> [PerformerEvent] {
        let (taken, mustResume) = state.withLock { state in
            let taken = state.removeFirst(most)
            let mustResume = state.isStopped && !taken.isEmpty && state.count < Self.low
            if mustResume { state.isStopped = false }
            return (taken, mustResume)
        }
        if mustResume { resume() }
        return taken
    }

    /// Waits until `isTrue`, or the end, or the reading task is canceled.
    private func wait(until isTrue: (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let isOver = state.withLock { state in
                    // Looked at under the lock: a cancellation after this finds the reader below.
                    if Task.isCancelled || isTrue(state) || state.isFinished { return true }
                    state.reader = reader
                    return false
                }
                if isOver { reader.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
    }
}
