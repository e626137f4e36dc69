import Glibc
package import Host
package import Performing
import Synchronization
import Timeline

/// The daemon's side of the warden's socket: one thread that sends commands and brings events.
///
/// Nothing here blocks a caller. The thread also reads the `NOTIFY_SOCKET`s of jobs that report fast, which the warden
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

    package func acknowledgeReports(_ key: RunKey, through number: Int) {
        send(.acknowledgeReports(key, through: number))
    }

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

/// One connection to a warden, for a thread that waits for it itself: bytes in, bytes out, descriptors both ways.
///
/// Begins with ``shakeHands()``, as a daemon does, or with ``attach(_:_:)``, as a terminal does.
package struct ClientConnection {
    /// How long an answer is waited for.
    package static let answerTimeout = Duration.seconds(5)

    /// Readable when something was sent; not blocking.
    package let socket: Descriptor
    /// What waits to be sent; ``SendBuffer/flush(to:)`` sends what has room.
    package var outgoing = SendBuffer()
    private var incoming = FrameBuffer()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var descriptors: [Descriptor] = []

    /// Connects to the warden in `directory`.
    ///
    /// - Throws: ``WardenError/noWarden(text:)``.
    package init(directory: String) throws(WardenError) {
        do throws(HostError) {
            socket = try LocalSocket.connect(directory + "/warden.sock")
        } catch {
            throw .noWarden(text: "\(error)")
        }
    }

    /// Sends hello and waits for the answer, at most 5 s.
    package mutating func shakeHands() throws(WardenError) -> WardenHello {
        outgoing.append(WardenCommand.hello(version: WardenHello.currentVersion).frame)
        guard case .hello(let hello) = try firstAnswer() else { throw .outOfOrder }
        return hello
    }

    /// Offers streams to the start order that will name `token`, and waits for the answer, at most 5 s.
    ///
    /// From then on the warden reports that attempt here, too: started or refused, and ended. Once it has ended
    /// and everything was written to them, the warden closes its ends of the streams.
    /// - Parameters:
    ///   - token: a text nobody else knows, at most 64 bytes.
    ///   - streams: what is offered, by number: 0 becomes the job's standard input; what the job prints is copied
    ///     to 1 and 2, which must not block.
    /// - Throws: ``WardenError/silent`` when it does not come; ``WardenError/hungUp`` also for a warden of a version
    ///   that knows no attaching.
    package mutating func attach(
        _ token: String, _ streams: [(number: Int, descriptor: Descriptor)]
    ) throws(WardenError) {
        for (number, descriptor) in streams {
            outgoing.append(WardenCommand.offer(stream: number).frame, passing: descriptor)
        }
        outgoing.append(WardenCommand.attach(token: token).frame)
        guard case .attached = try firstAnswer() else { throw .outOfOrder }
    }

    private mutating func firstAnswer() throws(WardenError) -> WardenMessage {
        do throws(HostError) {
            while outgoing.isWaiting { try outgoing.flush(to: socket) }
        } catch {
            throw .hungUp
        }
        guard let answer = try wait(until: { _ in true }) else { throw .hungUp }
        return answer
    }

    /// Asks a warden to leave its folder to a newer one, and waits for it, at most 5 s; false when it stays.
    mutating func retire() throws(WardenError) -> Bool {
        do throws(HostError) {
            outgoing.append(WardenCommand.retire.frame)
            try outgoing.flush(to: socket)
        } catch {
            throw .hungUp
        }
        do throws(WardenError) {
            return try wait { $0 == .retired } != nil
        } catch {
            return false
        }
    }

    /// The first message that `isLast` names; those before it are dropped.
    private mutating func wait(
        until isLast: (WardenMessage) -> Bool
    ) throws(WardenError) -> WardenMessage? {
        let deadline = Duration.sinceBoot + Self.answerTimeout
        while true {
            while let message = try nextMessage() { if isLast(message) { return message } }
            let left = deadline - .sinceBoot
            guard left > .zero else { throw .silent }
            var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, Int32(left.milliseconds) + 1)
            guard try receive() else { throw .hungUp }
        }
    }

    /// Receives once; false when the other side disconnected.
    package mutating func receive() throws(WardenError) -> Bool {
        try incoming.receive(from: socket, into: &buffer, received: &descriptors)
    }

    /// The next whole message of a kind we know.
    package mutating func nextMessage() throws(WardenError) -> WardenMessage? {
        while let frame = try incoming.next() {
            if let message = try WardenMessage(kind: frame.kind, frame.fields) { return message }
        }
        return nil
    }

    /// The descriptor that came with the message just read.
    package mutating func takeDescriptor() -> Descriptor? {
        descriptors.isEmpty ? nil : descriptors.removeFirst()
    }
}

/// One warden that the client is connected to: the one in charge, or one that only finishes its runs.
struct WardenLink {
    var connection: ClientConnection
    /// What it speaks.
    let version: Int
    let isRetired: Bool
    /// Whether it reported all that it knew when the connection was made.
    var isCaughtUp = false
    var waitsForRoom = false
    /// The attempts it spoke of and that are not acknowledged.
    var keys: Set<RunKey> = []
}

/// Which attempts can be paused: that depends on the version of the warden that has them.
struct WardenAbilities {
    /// Whether the warden in charge is connected and pauses attempts.
    var doesChargePause = false
    /// Whether a warden of a version that pauses none has not reported yet what it has.
    var isWaiting = false
    /// The attempts of the wardens that pause none and only finish their runs.
    var unpausable: Set<RunKey> = []

    /// What those that are connected can do.
    init(_ wardens: some Sequence<WardenLink> = []) {
        for warden in wardens {
            let isOld = warden.version < WardenCommand.pause(RunKey(run: "", attempt: 0)).neededVersion
            if !warden.isRetired { doesChargePause = !isOld }
            guard warden.isRetired, isOld else { continue }
            if !warden.isCaughtUp { isWaiting = true }
            unpausable.formUnion(warden.keys)
        }
    }

    func pauses(_ key: RunKey) -> Bool { doesChargePause && !isWaiting && !unpausable.contains(key) }
}

/// What callers want of the client's thread, and the bell that wakes it.
final class ClientMailbox: Sendable {
    enum Request: Sendable {
        case connect(WardenLaunch?, AsyncStream<Result<WardenHello, WardenError>>.Continuation)
        case send(WardenCommand)
        case close
    }

    let wakeUp: WakeUp
    /// What the connected wardens can do.
    let abilities = Mutex(WardenAbilities())
    /// Nil once the thread has ended.
    private let requests = Mutex<[Request]?>([])

    init() throws(HostError) {
        wakeUp = try WakeUp()
    }

    /// False when nobody will look at it any more.
    @discardableResult func post(_ request: Request) -> Bool {
        let isFirst = requests.withLock { requests -> Bool? in
            defer { requests?.append(request) }
            return requests?.isEmpty
        }
        // Behind the first the bell was rung, and the thread has not looked since.
        if isFirst == true { wakeUp.ring() }
        return isFirst != nil
    }

    func drain() -> [Request] {
        wakeUp.clear()
        return requests.withLock { requests in
            defer { if requests != nil { requests = [] } }
            return requests ?? []
        }
    }

    /// The thread ends: who still waits for a connection will not get one.
    func close(_ error: WardenError) {
        let rest = requests.withLock { requests in
            defer { requests = nil }
            return requests ?? []
        }
        for case .connect(_, let caller) in rest { caller.yield(.failure(error)) }
    }
}
