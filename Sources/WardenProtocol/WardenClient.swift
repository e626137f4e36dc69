import Host
package import Performing

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
        case .prompt:
            queue.add(.refused(order.key, .badOrder, text: "a warden starts programs, and asks no bots"))
        }
    }

    package func cancel(_ key: RunKey, reason: String) { send(.cancel(key, reason: reason)) }

    package func ask(_ key: RunKey) { send(.query(key)) }

    package func acknowledge(_ key: RunKey) { send(.acknowledge(key)) }

    package func waitForEvents() async -> Bool { await queue.waitForNews() }

    package func takeEvents() -> [PerformerEvent] { queue.takeAll() }
}
