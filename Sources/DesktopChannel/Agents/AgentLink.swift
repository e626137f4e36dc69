package import Delivery
import Grouping
package import Host
import Synchronization
import Tracking

/// What a daemon and the agent of a user send each other: one object of JSON a line.
///
/// It only grows: what one side does not know it leaves alone.
package struct AgentFrame: Hashable, Sendable, Codable {
    /// What it is.
    package enum Kind: String, Hashable, Sendable, Codable {
        // The daemon's.
        /// The agent shows what this channel sends from now on.
        case serve
        /// It no longer does.
        case leave
        case show, close, badge, retry
        /// The reports up to this number have arrived.
        case received
        // The agent's.
        /// The first: who it is.
        case hello
        case answer, report
    }

    /// What it is.
    package var kind: Kind
    /// The channel that it is about.
    package var channel: String?
    /// Counts what is to be shown, and what is reported; of an answer, that of the question.
    package var number: Int?
    /// What is to be shown.
    package var notice: Notice?
    /// What shows it, or is to be replaced.
    package var remote: RemoteID?
    /// How many messages are unread.
    package var unread: Int?
    /// What happened on the desktop.
    package var report: AgentReport?
    /// Why it could not be shown.
    package var fault: AgentFault?
    /// Of a hello: this life of the agent, so that none of its reports counts twice.
    package var instance: String?

    /// A frame about a channel.
    package init(_ kind: Kind, channel: String? = nil) {
        (self.kind, self.channel) = (kind, channel)
    }

    /// The longest line that is read.
    package static let limit = 1 << 20

    /// The line, with its end.
    package var line: [UInt8] { ((try? JSON.encode(self)) ?? []) + [0x0A] }

    /// Reads a line; nil: it is of a kind that is not known here.
    package init?(line: ArraySlice<UInt8>) {
        guard let frame = try? JSON.decode(AgentFrame.self, from: line) else { return nil }
        self = frame
    }
}

/// A signal of a desktop, as it travels.
package struct AgentReport: Hashable, Sendable, Codable {
    private enum Kind: String, Codable {
        case available, unavailable, absent, closed, answered, action, reply
    }

    private var kind: Kind
    private var text: String?
    private var remote: RemoteID?
    private var reason: CloseReason?
    private var revision: Int?
    private var item: ItemKey?
    private var fault: AgentFault?

    /// The longest text that a person types.
    private static let longestText = 64 << 10

    /// A signal on its way.
    package init(_ signal: SurfaceSignal) {
        switch signal {
        case .available(let generation): (kind, text) = (.available, generation)
        case .unavailable(let why): (kind, text) = (.unavailable, why)
        case .absent(let why): (kind, text) = (.absent, why)
        case .closed(let remote, let reason, let revision):
            kind = .closed
            (self.remote, self.reason, self.revision) = (remote, reason, revision)
        case .answered(let item, let revision, let result):
            kind = .answered
            (self.item, self.revision) = (item, revision)
            switch result {
            case .success(let remote): self.remote = remote
            case .failure(let error): fault = AgentFault(error)
            }
        case .action(let remote, let key): (kind, self.remote, text) = (.action, remote, key)
        case .reply(let remote, let typed):
            (kind, self.remote, text) = (.reply, remote, String(typed.prefix(Self.longestText)))
        }
    }

    /// Whether it reports who is there, so that a later one replaces it.
    package var isPresence: Bool { [.available, .unavailable, .absent].contains(kind) }

    /// Whether a person did something: pressed a button or typed.
    var isAct: Bool { [.action, .reply].contains(kind) }

    /// The signal; nil: a part of it is missing.
    package var signal: SurfaceSignal? {
        switch kind {
        case .available: text.map(SurfaceSignal.available)
        case .unavailable: text.map(SurfaceSignal.unavailable)
        case .absent: text.map(SurfaceSignal.absent)
        case .closed:
            remote.flatMap { remote in reason.map { .closed(remote, $0, revision: revision) } }
        case .answered:
            item.flatMap { item in
                revision.flatMap { revision in
                    if let remote { return .answered(item, revision: revision, .success(remote)) }
                    return fault.map { .answered(item, revision: revision, .failure($0.error)) }
                }
            }
        case .action: remote.flatMap { remote in text.map { .action(remote, key: $0) } }
        case .reply: remote.flatMap { remote in text.map { .reply(remote, text: $0) } }
        }
    }
}

/// How an attempt to show something failed, as it travels.
package struct AgentFault: Hashable, Sendable, Codable {
    private enum Kind: String, Codable { case retry, giveUp, unreachable }

    private var kind: Kind
    private var reason: DeliveryReason
    private var afterMs: Int64?
    private var detail: String

    /// A failure on its way.
    package init(_ error: DeliveryError) {
        (reason, detail) = (error.reason, error.detail)
        switch error {
        case .retry(_, let after, _, _):
            kind = .retry
            afterMs = after.map { $0.components.seconds * 1000 }
        case .giveUp: kind = .giveUp
        case .unreachable: kind = .unreachable
        }
    }

    /// The failure.
    package var error: DeliveryError {
        switch kind {
        case .retry:
            .retry(reason, after: afterMs.map { .milliseconds(min(max(0, $0), 3_600_000)) }, detail: detail)
        case .giveUp: .giveUp(reason, detail: detail)
        case .unreachable: .unreachable(reason, detail: detail)
        }
    }
}

/// A connection between a daemon and an agent, served by a thread of its own: lines of frames, both ways.
package final class AgentLink: Sendable {
    private struct State {
        var outgoing: [UInt8] = []
        var isOver = false
    }

    /// Who is not read for so long has no reader.
    private static let mostOutgoing = 8 << 20

    private let socket: Descriptor
    private let wake: WakeUp
    private let state = Mutex(State())

    /// A link over a connected socket that does not block; nothing is read before ``start(named:_:ended:)``.
    package init(_ socket: Descriptor) throws(HostError) {
        self.socket = socket
        wake = try WakeUp()
    }

    /// Reads frames until one of both ends; `receive` returns whether the other side may go on, and `ended` comes once.
    package func start(
        named name: String, _ receive: @escaping @Sendable (AgentFrame) -> Bool,
        ended: @escaping @Sendable () -> Void
    ) throws(HostError) {
        try BackgroundThread.start(named: name) { [self] in
            try? serve(receive)
            state.withLock { $0.isOver = true }
            ended()
        }
    }

    /// Sends a frame after those before it; one that ended drops it.
    package func send(_ frame: AgentFrame) {
        let line = frame.line
        state.withLock { state in
            if state.outgoing.count + line.count > Self.mostOutgoing { state.isOver = true }
            if !state.isOver { state.outgoing += line }
        }
        wake.ring()
    }

    /// Ends it.
    package func close() {
        state.withLock { $0.isOver = true }
        wake.ring()
    }

    private func serve(_ receive: (AgentFrame) -> Bool) throws(HostError) {
        let poll = try EventPoll()
        try poll.add(socket.raw, 1)
        try poll.add(wake.raw, 2)
        var (buffer, lines) = ([UInt8](repeating: 0, count: 64 << 10), [UInt8]())
        while !state.withLock(\.isOver) {
            try write(poll)
            for ready in try poll.wait() where ready.token == 2 || ready.isReadable {
                if ready.token == 2 {
                    wake.clear()
                } else {
                    switch try socket.read(into: &buffer) {
                    case .end: return
                    case .wouldBlock: break
                    case .bytes(let count):
                        lines += buffer[..<count]
                        guard take(&lines, receive) else { return }
                    }
                }
            }
        }
    }

    /// Writes what fits, and waits for room for the rest.
    private func write(_ poll: EventPoll) throws(HostError) {
        let waiting = state.withLock { state in
            defer { state.outgoing = [] }
            return state.outgoing
        }
        var rest = waiting[...]
        while !rest.isEmpty {
            let count = try LocalSocket.send(rest, over: socket)
            if count == 0 { break }
            rest = rest.dropFirst(count)
        }
        if !rest.isEmpty { state.withLock { $0.outgoing = Array(rest) + $0.outgoing } }
        try poll.change(socket.raw, 1, rest.isEmpty ? .reading : .readingAndWriting)
    }

    /// Hands on the lines that are whole; false: the other side must not go on.
    private func take(_ lines: inout [UInt8], _ receive: (AgentFrame) -> Bool) -> Bool {
        while let end = lines.firstIndex(of: 0x0A) {
            // Nothing is received any more once this side has closed it: what is sent then is sent again.
            if state.withLock(\.isOver) { return false }
            // A frame of a later version is left alone.
            if let frame = AgentFrame(line: lines[..<end]), !receive(frame) { return false }
            lines.removeFirst(end + 1)
        }
        return lines.count <= AgentFrame.limit
    }
}
