import API
import Host
import WardenProtocol

/// The connection to the warden that starts the command: news of it come in, keys and signals go out.
final class ExecLink {
    private let poll: EventPoll
    private let token: UInt64
    private var connection: ClientConnection
    /// Whether something waits for room to be sent.
    private var waitsForRoom = false

    /// Offers `streams` to the start order that will name `offer`, and waits on `poll` for what the warden sends.
    ///
    /// - Throws: ``APIError`` when there is no warden, or one that accepts no streams.
    init(
        to directory: String, offering streams: [(number: Int, descriptor: Descriptor)], as offer: String,
        on poll: EventPoll, _ token: UInt64
    ) throws {
        (self.poll, self.token) = (poll, token)
        connection = try Self.connect(to: directory)
        do throws(WardenError) {
            try connection.attach(offer, streams)
        } catch {
            throw Self.refusal(error)
        }
        try poll.add(connection.socket.raw, token)
    }

    private static func refusal(_ error: WardenError) -> APIError {
        if error == .silent {
            return APIError(
                .wardenAway, "\(error)",
                hint: "It may be stopped or overloaded. See: belfry doctor")
        }
        return APIError(
            .wardenAway, "the warden accepts no streams (\(error))",
            hint: "It is older than this belfry and will be replaced when its runs have ended.")
    }

    private static func connect(to directory: String) throws(APIError) -> ClientConnection {
        do throws(WardenError) {
            return try ClientConnection(directory: directory)
        } catch {
            throw APIError(
                .wardenAway, "\(error)",
                hint:
                    "belfry exec reaches the warden of its own user; leave --system out, or become its user.")
        }
    }

    /// Hands over each message that has come; false when the warden hung up, and nothing is waited for any more.
    func receive(_ handle: (WardenMessage) -> Void) -> Bool {
        do throws(WardenError) {
            let isOpen = try connection.receive()
            while let message = try connection.nextMessage() { handle(message) }
            if isOpen { return true }
        } catch {}
        poll.remove(connection.socket.raw)
        return false
    }

    /// Queues a command for ``flush()``.
    func append(_ command: WardenCommand) { connection.outgoing.append(command.frame) }

    /// Sends a command at once, if there is room.
    func send(_ command: WardenCommand) {
        append(command)
        try? connection.outgoing.flush(to: connection.socket)
    }

    /// Sends what waits, and waits for room for the rest; false when the warden hung up.
    func flush() -> Bool {
        do throws(HostError) {
            try connection.outgoing.flush(to: connection.socket)
            guard connection.outgoing.isWaiting != waitsForRoom else { return true }
            waitsForRoom.toggle()
            try poll.change(connection.socket.raw, token, waitsForRoom ? .readingAndWriting : .reading)
            return true
        } catch {
            return false
        }
    }
}
