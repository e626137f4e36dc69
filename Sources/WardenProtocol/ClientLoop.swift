import Glibc
import Host

/// What the client's thread does: the socket, the jobs' notify sockets, the callers' requests.
final class ClientLoop {
    private static let wakeUpToken: UInt64 = 0
    private static let socketToken: UInt64 = 1

    private let directory: String
    private let mailbox: ClientMailbox
    private let queue: EventQueue
    private let poll: EventPoll

    private var connection: ClientConnection?
    private var notifySockets: [UInt64: (key: RunKey, socket: Descriptor)] = [:]
    private var lastToken: UInt64 = 1
    /// Wardens this process launched; collected when they end, so that none stays a zombie.
    private var children: [Int32] = []
    private var isPaused = false
    private var waitsForRoom = false

    static func start(directory: String, mailbox: ClientMailbox, queue: EventQueue) throws(HostError) {
        try BackgroundThread.start(named: "warden-client") {
            do throws(HostError) {
                let loop = try ClientLoop(directory, mailbox, queue)
                try loop.run()
            } catch {
                // Only epoll itself can fail here; without it the client is closed.
                queue.finish()
                mailbox.close(.host(error))
            }
        }
    }

    private init(_ directory: String, _ mailbox: ClientMailbox, _ queue: EventQueue) throws(HostError) {
        self.directory = directory
        self.mailbox = mailbox
        self.queue = queue
        poll = try EventPoll()
        try poll.add(mailbox.wakeUp.raw, Self.wakeUpToken)
    }

    private func run() throws(HostError) {
        while true {
            for ready in try poll.wait() {
                switch ready.token {
                case Self.wakeUpToken: guard serve(mailbox.take()) else { return }
                case Self.socketToken: exchange(ready)
                default: readNotifications(ready.token)
                }
            }
            collectChildren()
            try adjustInterest()
        }
    }

    /// Does what callers asked for; false when the client is closed.
    private func serve(_ requests: [ClientMailbox.Request]) -> Bool {
        for (index, request) in requests.enumerated() {
            switch request {
            case .connect(let launch, let caller):
                caller.resume(returning: Result { () throws(WardenError) in try connect(launch) })
            case .send(let frame):
                connection?.outgoing.append(frame)
            case .close:
                for case .connect(_, let caller) in requests[index...] {
                    caller.resume(returning: .failure(.hungUp))
                }
                dropConnection()
                queue.finish()
                mailbox.close(.hungUp)
                return false
            }
        }
        return true
    }

    private func connect(_ launch: WardenLaunch?) throws(WardenError) -> WardenHello {
        dropConnection()
        var made: ClientConnection
        do throws(WardenError) {
            made = try ClientConnection(directory: directory)
        } catch .noWarden(let text) {
            guard let launch else { throw .noWarden(text: text) }
            children.append(try launch.start(directory: directory))
            made = try ClientConnection(directory: directory)
        }
        let hello = try made.shakeHands()
        do throws(HostError) {
            try poll.add(made.socket.raw, Self.socketToken)
        } catch {
            throw .host(error)
        }
        connection = made
        // Frames that came together with the hello are waiting already.
        takeFrames()
        return hello
    }

    private func dropConnection() {
        if let connection, !isPaused { poll.remove(connection.socket.raw) }
        connection = nil
        waitsForRoom = false
        for token in notifySockets.keys { closeNotifySocket(token) }
        isPaused = false
    }

    private func exchange(_ ready: EventPoll.Ready) {
        guard ready.isReadable, connection != nil else { return }
        do throws(WardenError) {
            let isOpen = try connection?.receive() ?? false
            takeFrames()
            if !isOpen { hangUp() }
        } catch {
            hangUp()
        }
    }

    private func hangUp() {
        guard connection != nil else { return }
        dropConnection()
        queue.add(.disconnected)
    }

    private func takeFrames() {
        do throws(WardenError) {
            while let message = try connection?.nextMessage() { handle(message) }
        } catch {
            // A warden that sends nonsense is as good as gone; its runs are asked about again.
            hangUp()
        }
    }

    private func handle(_ message: WardenMessage) {
        switch message {
        case .hello: break  // Only the first one counts.
        case .started(let key, let pid, let startTime, let at):
            queue.add(.started(key, pid: pid, startTime: startTime, at: at))
        case .refused(let key, let refusal, let text): queue.add(.refused(key, refusal, text: text))
        case .output(let key, let offset, let bytes): queue.add(.output(key, offset: offset, bytes: bytes))
        case .report(let key, let line): queue.add(.report(key, line: line))
        case .notify(let key, let datagram): queue.add(.notify(key, datagrams: [datagram]))
        case .notifySocket(let key): openNotifySocket(key)
        case .ended(let record):
            for (token, entry) in notifySockets where entry.key == record.key {
                while readNotifications(token) {}
                closeNotifySocket(token)
            }
            queue.add(.ended(record))
        case .unknown(let key): queue.add(.unknown(key))
        case .caughtUp: queue.add(.caughtUp)
        }
    }

    private func openNotifySocket(_ key: RunKey) {
        guard let socket = connection?.takeDescriptor() else { return }
        lastToken += 1
        notifySockets[lastToken] = (key, socket)
        if !isPaused { try? poll.add(socket.raw, lastToken) }
    }

    private func closeNotifySocket(_ token: UInt64) {
        guard let entry = notifySockets.removeValue(forKey: token) else { return }
        poll.remove(entry.socket.raw)
    }

    /// Passes on what a job reported; true when there may be more.
    @discardableResult private func readNotifications(_ token: UInt64) -> Bool {
        guard let (key, socket) = notifySockets[token] else { return false }
        guard let read = try? NotifyDatagrams.read(from: socket) else {
            closeNotifySocket(token)
            return false
        }
        if !read.datagrams.isEmpty { queue.add(.notify(key, datagrams: read.datagrams)) }
        return read.mayHaveMore
    }

    /// Sends what fits, and asks to be woken for what is possible next.
    private func adjustInterest() throws(HostError) {
        do throws(HostError) {
            if let socket = connection?.socket { try connection?.outgoing.flush(to: socket) }
        } catch {
            hangUp()
        }
        let mayReceive = queue.mayReceive
        if mayReceive == isPaused {
            isPaused = !mayReceive
            try setReading(mayReceive)
        }
        if let connection, !isPaused, connection.outgoing.isWaiting != waitsForRoom {
            waitsForRoom.toggle()
            let interest: EventPoll.Interest = waitsForRoom ? .readingAndWriting : .reading
            try poll.change(connection.socket.raw, Self.socketToken, interest)
        }
    }

    /// Leaves the sockets alone, or takes them up again.
    ///
    /// They leave the poll altogether: an end of the connection is reported whatever one waits for.
    private func setReading(_ reads: Bool) throws(HostError) {
        var sockets = notifySockets.map { ($0.key, $0.value.socket) }
        if let connection { sockets.append((Self.socketToken, connection.socket)) }
        for (token, socket) in sockets {
            if reads { try poll.add(socket.raw, token) } else { poll.remove(socket.raw) }
        }
        waitsForRoom = false
    }

    private func collectChildren() {
        children.removeAll { waitpid($0, nil, WNOHANG) != 0 }
    }
}
