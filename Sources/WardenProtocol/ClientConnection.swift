import Glibc
package import Host
import Performing
import Synchronization
import Timeline

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
