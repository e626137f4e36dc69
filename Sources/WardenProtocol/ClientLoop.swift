import Glibc
import Host
import Performing
import Synchronization

/// What the client's thread does: the wardens' sockets, the jobs' notify sockets, the callers' requests.
final class ClientLoop {
    private static let wakeUpToken: UInt64 = 0

    let directory: String
    private let mailbox: ClientMailbox
    let queue: EventQueue
    let poll: EventPoll

    /// The wardens, by the number of their sockets in the poll; at most one is not retired.
    var wardens: [UInt64: WardenLink] = [:]
    private var notifySockets: [UInt64: (key: RunKey, socket: Descriptor, reader: NotifyReader)] = [:]
    private var notifyBuffer: [UInt8] = []
    private var lastToken: UInt64 = 0
    /// Wardens this process launched; collected when they end, so that none stays a zombie.
    private var children: [Int32] = []
    private var isPaused = false
    /// What this round brought, for the queue at its end, so that its reader is woken once.
    private var arrived: [PerformerEvent] = []

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
                if ready.token == Self.wakeUpToken {
                    guard serve(mailbox.drain()) else { return }
                } else if wardens[ready.token] != nil {
                    exchange(ready)
                } else {
                    readNotifications(ready.token)
                }
            }
            collectChildren()
            try adjustInterest()
        }
    }

    /// Hands what arrived to the reader of the queue.
    private func deliver() {
        queue.add(arrived)
        arrived = []
    }

    /// Does what callers asked for; false when the client is closed.
    private func serve(_ requests: [ClientMailbox.Request]) -> Bool {
        for (index, request) in requests.enumerated() {
            switch request {
            case .connect(let launch, let caller):
                caller.yield(Result { () throws(WardenError) in try connect(launch) })
            case .send(let command): send(command)
            case .close:
                for case .connect(_, let caller) in requests[index...] {
                    caller.yield(.failure(.hungUp))
                }
                dropAll()
                deliver()
                queue.finish()
                mailbox.close(.hungUp)
                return false
            }
        }
        return true
    }

    /// Sends a command to the warden it is for: the one that reported the attempt, else the one in charge.
    private func send(_ command: WardenCommand) {
        if case .query(nil) = command {
            for token in wardens.keys {
                wardens[token]?.isCaughtUp = false
                wardens[token]?.connection.outgoing.append(command.frame)
            }
            return
        }
        let owner = command.key.flatMap { key in wardens.first { $0.value.keys.contains(key) }?.key }
        guard let token = owner ?? wardens.first(where: { !$0.value.isRetired })?.key else { return }
        if case .start(let order) = command, let version = wardens[token]?.version,
            version < order.neededVersion
        {
            let text = "the warden that runs is older than this order; it ends once its runs have ended"
            return arrived.append(.refused(order.key, .exhausted, text: text))
        }
        // It would be skipped there, and a reader of another kind of frame may come first.
        if let version = wardens[token]?.version, version < command.neededVersion { return }
        if case .acknowledge(let key) = command { wardens[token]?.keys.remove(key) }
        wardens[token]?.connection.outgoing.append(command.frame)
    }

    func add(_ connection: ClientConnection, _ hello: WardenHello, isRetired: Bool) throws(WardenError) {
        lastToken += 1
        do throws(HostError) {
            try poll.add(connection.socket.raw, lastToken)
        } catch {
            throw .host(error)
        }
        wardens[lastToken] = WardenLink(
            connection: connection, version: hello.version, isRetired: isRetired)
        noteAbilities()
    }

    func dropAll() {
        for token in wardens.keys { drop(token) }
        for token in notifySockets.keys { closeNotifySocket(token) }
        isPaused = false
    }

    private func drop(_ token: UInt64) {
        guard let link = wardens.removeValue(forKey: token) else { return }
        poll.remove(link.connection.socket.raw)
        noteAbilities()
    }

    /// The warden has this attempt.
    private func note(_ key: RunKey, of token: UInt64) {
        guard wardens[token]?.keys.insert(key).inserted == true, wardens[token]?.isRetired == true else {
            return
        }
        noteAbilities()
    }

    private func noteAbilities() {
        let abilities = WardenAbilities(wardens.values)
        mailbox.abilities.withLock { $0 = abilities }
    }

    private func exchange(_ ready: EventPoll.Ready) {
        guard ready.isReadable else { return }
        do throws(WardenError) {
            let isOpen = try wardens[ready.token]?.connection.receive() ?? true
            readFrames(ready.token)
            if !isOpen { hangUp(ready.token) }
        } catch {
            hangUp(ready.token)
        }
    }

    private func hangUp(_ token: UInt64) {
        guard let link = wardens[token] else { return }
        if link.isRetired, link.keys.isEmpty {
            // It had nothing left to do.
            drop(token)
            return noteCaughtUp()
        }
        dropAll()
        arrived.append(.disconnected)
    }

    func readFrames(_ token: UInt64) {
        do throws(WardenError) {
            while let message = try wardens[token]?.connection.nextMessage() { handle(message, from: token) }
        } catch {
            // A warden that sends nonsense is treated as dead; its runs are asked about again.
            hangUp(token)
        }
    }

    private func handle(_ message: WardenMessage, from token: UInt64) {
        switch message {
        case .hello: break  // Only the first one counts.
        case .started(let key, let pid, let startTime, let at):
            note(key, of: token)
            arrived.append(
                .started(key, process: StartedProcess(pid: pid, startTime: startTime), at: at))
        case .refused(let key, let refusal, let text): arrived.append(.refused(key, refusal, text: text))
        case .output(let key, let offset, let bytes):
            arrived.append(.output(key, offset: offset, bytes: bytes))
        case .report(let key, let line, let number):
            arrived.append(.report(key, line: line, number: number))
        case .notify(let key, let datagram, let number):
            arrived.append(.notify(key, datagrams: [datagram], number: number))
        case .notifySocket(let key): openNotifySocket(key, from: token)
        case .ended(let record):
            note(record.key, of: token)
            for (token, entry) in notifySockets where entry.key == record.key {
                while readNotifications(token) {}
                closeNotifySocket(token)
            }
            arrived.append(.ended(record))
        case .unknown(let key): arrived.append(.unknown(key))
        case .caughtUp:
            wardens[token]?.isCaughtUp = true
            noteAbilities()
            noteCaughtUp()
        case .inputTaken(let key, let end, let isClosed):
            arrived.append(.inputTaken(key, end: end, isClosed: isClosed))
        case .retired:
            // It was asked to end: the next connection finds, or starts, another one.
            dropAll()
            arrived.append(.disconnected)
        case .attached, .outlived: break  // Sent to terminals only.
        }
    }

    /// Reports that everything was reported, once the last warden has.
    private func noteCaughtUp() {
        if wardens.values.allSatisfy(\.isCaughtUp) { arrived.append(.caughtUp) }
    }

    private func openNotifySocket(_ key: RunKey, from token: UInt64) {
        guard let socket = wardens[token]?.connection.takeDescriptor() else { return }
        lastToken += 1
        notifySockets[lastToken] = (key, socket, NotifyReader(run: key.run))
        if !isPaused { try? poll.add(socket.raw, lastToken) }
    }

    private func closeNotifySocket(_ token: UInt64) {
        guard let entry = notifySockets.removeValue(forKey: token) else { return }
        poll.remove(entry.socket.raw)
    }

    /// Passes on what a job reported; true when there may be more.
    @discardableResult private func readNotifications(_ token: UInt64) -> Bool {
        guard let (key, socket, _) = notifySockets[token] else { return false }
        if notifyBuffer.isEmpty { notifyBuffer = NotifyReader.makeBuffer() }
        guard let read = try? notifySockets[token]?.reader.read(from: socket, into: &notifyBuffer) else {
            closeNotifySocket(token)
            return false
        }
        if !read.datagrams.isEmpty { arrived.append(.notify(key, datagrams: read.datagrams)) }
        return read.mayHaveMore
    }

    /// Sends what fits, and asks to be woken for what is possible next.
    private func adjustInterest() throws(HostError) {
        for token in wardens.keys {
            do throws(HostError) {
                if let socket = wardens[token]?.connection.socket {
                    try wardens[token]?.connection.outgoing.flush(to: socket)
                }
            } catch {
                hangUp(token)
            }
        }
        deliver()
        let mayReceive = queue.mayReceive
        if mayReceive == isPaused {
            isPaused = !mayReceive
            try setReading(mayReceive)
        }
        guard !isPaused else { return }
        for (token, link) in wardens where link.connection.outgoing.isWaiting != link.waitsForRoom {
            wardens[token]?.waitsForRoom.toggle()
            try poll.change(
                link.connection.socket.raw, token, link.waitsForRoom ? .reading : .readingAndWriting)
        }
    }

    /// Leaves the sockets alone, or takes them up again.
    ///
    /// They leave the poll altogether: an end of the connection is reported whatever one waits for.
    private func setReading(_ reads: Bool) throws(HostError) {
        let sockets =
            notifySockets.map { ($0.key, $0.value.socket) }
            + wardens.map { ($0.key, $0.value.connection.socket) }
        for (token, socket) in sockets {
            if reads { try poll.add(socket.raw, token) } else { poll.remove(socket.raw) }
        }
        for token in wardens.keys { wardens[token]?.waitsForRoom = false }
    }

    func launch(_ launch: WardenLaunch) throws(WardenError) {
        children.append(try launch.start(directory: directory))
    }

    private func collectChildren() {
        children.removeAll { waitpid($0, nil, WNOHANG) != 0 }
    }
}

extension ClientLoop {
    /// Connects to the warden in charge, and to those that only finish their runs.
    func connect(_ launch: WardenLaunch?) throws(WardenError) -> WardenHello {
        dropAll()
        var (connection, hello) = try join(launch)
        try add(connection, hello, isRetired: false)
        for folder in retiredFolders() {
            guard let (older, theirs) = try? greet(folder) else { continue }
            try add(older, theirs, isRetired: true)
            hello.runs += theirs.runs
        }
        // Frames that came together with the hellos are waiting already.
        for token in wardens.keys.sorted() { readFrames(token) }
        return hello
    }

    /// The warden in charge: the one that answers, unless it is another build than the one to launch; then
    /// it finishes its runs, and a new one takes over.
    private func join(_ launch: WardenLaunch?) throws(WardenError) -> (ClientConnection, WardenHello) {
        do throws(WardenError) {
            let (connection, hello) = try greet(directory)
            guard let launch, hello.mayRetire, let build = Machine.build(of: launch.executable),
                hello.build != build
            else { return (connection, hello) }
            var old = connection
            // One that cannot is still in charge.
            guard try old.retire() else { return try greet(directory) }
        } catch {
            guard case .noWarden = error, launch != nil else { throw error }
        }
        if let launch { try self.launch(launch) }
        return try greet(directory)
    }

    private func greet(_ folder: String) throws(WardenError) -> (ClientConnection, WardenHello) {
        var connection = try ClientConnection(directory: folder)
        // Before the copy: what came together with the hello stays in it.
        let hello = try connection.shakeHands()
        return (connection, hello)
    }

    private func retiredFolders() -> [String] {
        let folder = directory + "/old"
        return ((try? Folder.names(in: folder)) ?? []).sorted().map { folder + "/" + $0 }
    }
}
