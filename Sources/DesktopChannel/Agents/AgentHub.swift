import Delivery
import Host
package import Logging
import Synchronization

/// Where agents of users connect, and who of them shows which channels.
///
/// An agent gets what channels of its own user send, and nothing else: the kernel confirms whose it is.
package final class AgentHub: Sendable {
    private final class Seat: Sendable {
        let link: AgentLink
        let userID: UInt32
        let user: String
        /// The life of the agent; empty before its first words.
        let instance = Mutex("")

        init(_ link: AgentLink, userID: UInt32, user: String) {
            (self.link, self.userID, self.user) = (link, userID, user)
        }

        func isOf(_ user: String) -> Bool { user == self.user || user == String(userID) }
    }

    private struct State {
        /// Those who have said hello, the one that has been there longest first.
        var seats: [Seat] = []
        /// How many connections of each user there are.
        var connections: [UInt32: Int] = [:]
        var desktops: [ObjectIdentifier: AgentDesktop] = [:]
        /// Who serves each of those.
        var servers: [ObjectIdentifier: Seat] = [:]

        /// Counts a connection, where there is room for it: those for whom there is nothing keep out nobody else.
        mutating func admit(_ seat: Seat) -> Bool {
            let hasRoom =
                connections.values.reduce(0, +) < mostOfAll
                || desktops.values.contains { seat.isOf($0.user) }
            if hasRoom { connections[seat.userID, default: 0] += 1 }
            return hasRoom
        }
    }

    /// How many connections a user may have, and how many there may be.
    private static let (mostOfUser, mostOfAll) = (4, 64)

    private let path: String
    private let logger: Logger
    private let userName: @Sendable (UInt32) -> String
    private let state = Mutex(State())
    /// What the agents of each user may press.
    private let budget = Mutex(RequestBudget())
    private let (wanted, want) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// The place beside a daemon's control socket.
    package static func path(beside socket: String) -> String {
        SmallFile.parent(of: socket) + "/agents.sock"
    }

    /// A place for agents at `path`; `userName` is what a user is called by its number.
    package init(
        path: String, logger: Logger,
        userName: @escaping @Sendable (UInt32) -> String = { Account.name(of: $0) }
    ) {
        (self.path, self.logger, self.userName) = (path, logger, userName)
    }

    // MARK: Connections

    /// Takes connections until cancelled, from when a channel is first shown by agents.
    ///
    /// Anybody may connect.
    package func run() async throws {
        for await _ in wanted { break }
        try Task.checkCancellation()
        do {
            try await listen()
        } catch let error as HostError {
            logger.error("agents can't connect", metadata: ["reason": "\(error)"])
        }
        // The daemon goes on without agents.
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        for await _ in never {}
        try Task.checkCancellation()
    }

    private func listen() async throws {
        let claim = try SocketClaim(path)
        defer { withExtendedLifetime(claim) {} }
        SmallFile.remove(path)
        let listener = try LocalSocket.listen(path, mode: 0o666)
        let wake = try WakeUp()
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        try BackgroundThread.start(named: "agents") { [self] in
            accept(on: listener, until: wake)
            end.finish()
        }
        await withTaskCancellationHandler {
            for await _ in ends {}
        } onCancel: {
            wake.ring()
        }
        SmallFile.remove(path)
        for seat in state.withLock(\.seats) { seat.link.close() }
        try Task.checkCancellation()
    }

    private func accept(on listener: Descriptor, until wake: WakeUp) {
        do throws(HostError) {
            let poll = try EventPoll()
            try poll.add(listener.raw, 1)
            try poll.add(wake.raw, 2)
            while true {
                if try poll.wait().contains(where: { $0.token == 2 }) { return }
                do throws(HostError) {
                    while let socket = try LocalSocket.accept(listener) { admit(socket) }
                } catch {
                    // It is out of descriptors or memory, perhaps for a moment only; who wants in waits.
                    logger.warning("an agent can't connect yet", metadata: ["reason": "\(error)"])
                    poll.remove(listener.raw)
                    if try poll.wait(milliseconds: 1000).contains(where: { $0.token == 2 }) { return }
                    try poll.add(listener.raw, 1)
                }
            }
        } catch {
            logger.error("agents can't connect", metadata: ["reason": "\(error)"])
        }
    }

    private func admit(_ socket: Descriptor) {
        guard let peer = try? LocalSocket.peer(of: socket), let link = try? AgentLink(socket) else { return }
        let own = state.withLock { $0.connections[peer.userID, default: 0] }
        let seat = own < Self.mostOfUser ? Seat(link, userID: peer.userID, user: userName(peer.userID)) : nil
        guard let seat, state.withLock({ $0.admit(seat) }) else {
            return logger.warning("an agent was refused: too many", metadata: ["user.id": "\(peer.userID)"])
        }
        do throws(HostError) {
            try link.start(named: "agent") { [weak self] in
                self?.receive($0, from: seat) ?? false
            } ended: { [weak self] in
                self?.leave(seat)
            }
        } catch {
            leave(seat)
        }
    }

    private func leave(_ seat: Seat) {
        let orphans = state.withLock { state in
            state.seats.removeAll { $0 === seat }
            state.connections[seat.userID, default: 1] -= 1
            if state.connections[seat.userID] == 0 { state.connections[seat.userID] = nil }
            let orphans = state.servers.filter { $0.value === seat }.compactMap { state.desktops[$0.key] }
            for desktop in orphans { state.servers[ObjectIdentifier(desktop)] = nil }
            return orphans
        }
        for desktop in orphans {
            desktop.left()
            assign(desktop)
        }
    }

    // MARK: What they send

    /// Returns whether it may go on.
    private func receive(_ frame: AgentFrame, from seat: Seat) -> Bool {
        if frame.kind == .hello {
            guard let instance = frame.instance, !instance.isEmpty, instance.utf8.count <= 64,
                seat.instance.withLock({ known in
                    defer { known = instance }
                    return known.isEmpty
                })
            else { return false }
            let waiting = state.withLock { state in
                if !state.seats.contains(where: { $0 === seat }) { state.seats.append(seat) }
                return Array(state.desktops.values)
            }
            logger.info("an agent connected", metadata: ["user": "\(seat.user)"])
            for desktop in waiting { assign(desktop) }
            return true
        }
        let desktop = state.withLock { state in
            state.servers.first { $0.value === seat && state.desktops[$0.key]?.name == frame.channel }
                .flatMap { state.desktops[$0.key] }
        }
        if let desktop {
            if frame.report?.isAct == true { waitForRoom(for: seat) }
            desktop.receive(frame, from: seat.instance.withLock(\.self))
        }
        // Also of a channel that is no longer served: it would be repeated for ever.
        if frame.kind == .report, let number = frame.number {
            var received = AgentFrame(.received, channel: frame.channel)
            received.number = number
            seat.link.send(received)
        }
        return true
    }

    /// Reads no further in what an agent sends that presses more buttons than any person does: each one is a row.
    private func waitForRoom(for seat: Seat) {
        let wait = budget.withLock { $0.delay(of: String(seat.userID), at: .sinceBoot) }
        guard wait > .zero else { return }
        logger.warning(
            "an agent presses too many buttons and has to wait", metadata: ["user": "\(seat.user)"])
        BackgroundThread.pause(for: wait)
    }

    // MARK: Channels

    /// The channel is shown by an agent of its user from now on, as soon as there is one.
    func attach(_ desktop: AgentDesktop) {
        state.withLock { $0.desktops[ObjectIdentifier(desktop)] = desktop }
        want.yield()
        assign(desktop)
    }

    /// The channel has ended.
    func detach(_ desktop: AgentDesktop) {
        // Within the lock, as in `assign`: nothing of another channel of the name comes between.
        state.withLock { state in
            state.desktops[ObjectIdentifier(desktop)] = nil
            let seat = state.servers.removeValue(forKey: ObjectIdentifier(desktop))
            seat?.link.send(AgentFrame(.leave, channel: desktop.name))
        }
    }

    /// Sends a frame to who shows the channel; false: nobody does.
    func send(_ frame: AgentFrame, of desktop: AgentDesktop) -> Bool {
        guard let seat = state.withLock({ $0.servers[ObjectIdentifier(desktop)] }) else { return false }
        seat.link.send(frame)
        return true
    }

    /// Ends the connection of who shows the channel: it does not answer.
    func drop(_ desktop: AgentDesktop) {
        state.withLock { $0.servers[ObjectIdentifier(desktop)] }?.link.close()
    }

    private func assign(_ desktop: AgentDesktop) {
        // Within the lock: the first that an agent hears of a channel is that it serves it.
        state.withLock { state in
            let key = ObjectIdentifier(desktop)
            guard state.desktops[key] != nil, state.servers[key] == nil,
                let seat = state.seats.first(where: { $0.isOf(desktop.user) })
            else { return }
            state.servers[key] = seat
            seat.link.send(AgentFrame(.serve, channel: desktop.name))
        }
    }
}
