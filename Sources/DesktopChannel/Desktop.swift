import DBus
package import Delivery
package import Logging
package import Timeline

/// The session's desktop as a channel: one connection to the session bus, at most one server at a time.
///
/// Nothing here waits for the desktop longer than the form's deadline a call. Without a bus the next try comes
/// after 1, 2, 4 ... 60 seconds, and so does the next start of a server that did not come up. A server the
/// bus could start is started for a notice, never by a look.
package actor Desktop: LevelChannel {
    /// The name in the config file.
    package nonisolated let name: String
    /// Always `.desktop`.
    package nonisolated let kind = ChannelKind.desktop
    /// Servers coming and going, what was closed, what was pressed; the same state is never said twice.
    package nonisolated let signals: AsyncStream<SurfaceSignal>

    private let reports: AsyncStream<SurfaceSignal>.Continuation
    private let form: DesktopForm
    private let bus: SessionBus
    private let clock: any WallClock
    private let logger: Logger

    private var connection: DBusConnection?
    private var busID = ""
    private var server: ServerProfile?
    private var canStartServer = false
    /// The owner we turned to last, asked or still being asked what it can do.
    private var lookingFor: String?
    private var lastState: SurfaceSignal?
    /// The server that stopped answering in the middle of its life; it is waited for, not asked again.
    private var silent: ServerProfile?
    private var silences: AsyncStream<ServerProfile>.Continuation?
    /// How long a server that did not start is left alone, one element a time it did not.
    private var starts: AsyncStream<Duration>.Continuation?
    private var startPause = Backoff()
    /// Ends the pause that is being made.
    private var pauseEnd: AsyncStream<Void>.Continuation?
    /// Why we gave up a connection that was well; `nil` while it is, or when it was lost.
    private var problem: String?
    /// The highest revision shown under each id of the server's present life.
    private var revisions: [RemoteID: Int] = [:]

    /// A desktop reached over `bus`; nothing happens before ``run()``.
    package init(
        name: String, form: DesktopForm = DesktopForm(), bus: SessionBus, clock: any WallClock, logger: Logger
    ) {
        self.name = name
        self.form = form
        self.bus = bus
        self.clock = clock
        var logger = logger
        logger[metadataKey: "channel"] = "\(name)"
        self.logger = logger
        (signals, reports) = AsyncStream.makeStream()
    }

    // MARK: Showing

    /// Shows `notice`; see `LevelChannel`.
    ///
    /// Starts the server when the bus can.
    package func show(
        _ notice: Notice, replacing remote: RemoteID?
    ) async throws(DeliveryError) -> RemoteID {
        guard let connection else { throw .unreachable(.noBus) }
        let server = try await serverForNotice(on: connection)
        let replaced = server.number(of: remote)
        if replaced != nil, let remote, let shown = revisions[remote], shown > notice.revision {
            return remote
        }
        let call = NotifyCall(
            notice: notice, form: form, replacedID: replaced ?? 0, server: server)
        do throws(DBusError) {
            let answer = try await connection.call(
                server.method("Notify"), call.arguments, deadline: form.deadline)
            guard let number = answer.first?.uint32 else { throw .unexpectedReply("no id from Notify") }
            let shown = server.remote(number)
            if self.server?.generation == server.generation { revisions[shown] = notice.revision }
            return shown
        } catch {
            if case .refused(DeliveryError.tooManyAlike, _) = error, replaced != nil, let remote {
                return remote
            }
            let failure = DeliveryError(error)
            switch failure {
            case .unreachable(.noServer, _): await lookAgain(on: connection)
            case .unreachable(.timeout, _): waitFor(server)
            default: break
            }
            throw failure
        }
    }

    /// Closes what was shown in the server's present life; see `LevelChannel`.
    package func close(_ remote: RemoteID) async {
        guard let connection, let server, let number = server.number(of: remote) else { return }
        revisions[remote] = nil
        do throws(DBusError) {
            _ = try await connection.call(
                server.method("CloseNotification"), [.uint32(number)], deadline: form.deadline)
        } catch {
            if error == .timedOut { waitFor(server) }
            // The specification lets a server answer an unknown id with an error: it is gone, as wanted.
            logger.debug("notification not closed", metadata: ["reason": "\(error)"])
        }
    }

    private func serverForNotice(
        on connection: DBusConnection
    ) async throws(DeliveryError) -> ServerProfile {
        if let server { return server }
        guard silent == nil else { throw .unreachable(.timeout) }
        guard canStartServer || lookingFor != nil else { throw .unreachable(.noServer) }
        do throws(DBusError) {
            if lookingFor == nil {
                try await connection.start(ServerProfile.service, deadline: form.deadline)
            }
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: form.deadline), on: connection)
        } catch {
            leaveAsleep(because: "the notification server does not start: \(error)")
            throw .unreachable(.noServer, detail: "\(error)")
        }
        guard let server else { throw .unreachable(.noServer) }
        return server
    }

    // MARK: Serving

    /// Keeps the connection, and reports, until the task is cancelled.
    package func run() async throws {
        var pause = Backoff()
        while !Task.isCancelled {
            problem = nil
            let (hadBus, end) = await serve()
            forgetServer()
            connection = nil
            if Task.isCancelled { return }
            report(.unavailable(problem ?? end))
            if hadBus, problem == nil { pause = Backoff() }
            try await rest(for: pause.next())
        }
    }

    /// Ends the pause before the next look for a bus or the next start of a server, if one is being made.
    package func look() {
        pauseEnd?.finish()
    }

    private func rest(for duration: Duration) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        pauseEnd = end
        let until = clock.now + duration
        try await withThrowingTaskGroup { group in
            group.addTask { [clock] in try await clock.sleep(until: until) }
            group.addTask { for await _ in ends {} }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    /// One connection from its beginning to its end: whether there was one, and why it is over.
    private func serve() async -> (hadBus: Bool, end: String) {
        let connection: DBusConnection
        do throws(NoBus) {
            connection = try await connect()
        } catch {
            return (false, "no session bus: \(error.text)")
        }
        self.connection = connection
        let (silences, silence) = AsyncStream.makeStream(of: ServerProfile.self)
        self.silences = silence
        async let answers: Void = awaitAnswers(of: silences, on: connection)
        let (starts, start) = AsyncStream.makeStream(of: Duration.self)
        self.starts = start
        startPause = Backoff()
        async let wakings: Void = allowStarts(after: starts)
        do throws(DBusError) {
            try await connection.listen(
                for: .ownerChanged(of: ServerProfile.service), deadline: form.deadline)
            try await connection.listen(
                for: DBusMatch(sender: ServerProfile.service, interface: ServerProfile.service),
                deadline: form.deadline)
            busID = try await connection.busID(deadline: form.deadline)
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: form.deadline), on: connection)
            for await signal in connection.signals { try await receive(signal, on: connection) }
        } catch .disconnected {
            // The same end as that of the signals.
        } catch {
            problem = problem ?? "the notification server does not answer: \(error)"
        }
        silence.finish()
        start.finish()
        canStartServer = false
        look()
        await connection.close()
        await answers
        await wakings
        return (true, "the session bus is gone")
    }

    private func connect() async throws(NoBus) -> DBusConnection {
        var tried = NoBus()
        for address in bus.addresses {
            do throws(DBusError) {
                return try await DBusConnection.connect(to: address, deadline: form.deadline)
            } catch {
                tried.refusals.append((address, error))
            }
        }
        throw tried
    }

    private func receive(_ signal: DBusSignal, on connection: DBusConnection) async throws(DBusError) {
        switch ServerSignal(signal, from: server?.owner) {
        case .ownerChanged(let owner): try await adopt(owner, on: connection)
        case .closed(let number, let reason):
            guard let remote = server?.remote(number) else { return }
            revisions[remote] = nil
            reports.yield(.closed(remote, reason))
        case .action(let number, let key):
            guard let remote = server?.remote(number) else { return }
            reports.yield(.action(remote, key: key))
        case nil: break
        }
    }

    /// Turns to the server that has the name now; the ids of the one before are void.
    private func adopt(_ owner: String?, on connection: DBusConnection) async throws(DBusError) {
        guard owner == nil || owner != server?.owner else { return }
        forgetServer()
        lookingFor = owner
        guard let owner else {
            canStartServer = try await connection.canStart(ServerProfile.service, deadline: form.deadline)
            report(canStartServer ? asleep : .unavailable("no notification server on the session bus"))
            return
        }
        let profile = try await ServerProfile(
            owner: owner, bus: busID, on: connection, deadline: form.deadline)
        guard lookingFor == owner else { return }  // it has gone again while it was asked
        server = profile
        startPause = Backoff()
        report(.available(generation: profile.generation))
    }

    /// No server runs, and the bus can start one.
    private var asleep: SurfaceSignal {
        .available(generation: ServerProfile.generation(owner: "", bus: busID))
    }

    /// The bus could not start a server: none is started for a while, and one that comes by itself is heard.
    private func leaveAsleep(because reason: String) {
        lookingFor = nil
        report(.unavailable(reason))
        starts?.yield(startPause.next())
    }

    private func allowStarts(after pauses: AsyncStream<Duration>) async {
        for await pause in pauses {
            do { try await rest(for: pause) } catch { return }
            if server == nil, silent == nil, lookingFor == nil, canStartServer { report(asleep) }
        }
    }

    private func forgetServer() {
        server = nil
        silent = nil
        lookingFor = nil
        revisions = [:]
    }

    /// The server hangs: says so, and has it waited for.
    ///
    /// The connection is kept, because GNOME takes everything away that a closed connection has shown; and
    /// nothing more is sent, because all of it would appear when the server goes on.
    private func waitFor(_ server: ServerProfile) {
        guard self.server?.owner == server.owner else { return }
        self.server = nil
        silent = server
        silences?.yield(server)
        report(.unavailable("the notification server does not answer"))
    }

    /// Asks each silent server one small thing, and takes it up again when it answers.
    private func awaitAnswers(of silences: AsyncStream<ServerProfile>, on connection: DBusConnection) async {
        for await server in silences {
            do throws(DBusError) {
                _ = try await connection.call(server.method("GetCapabilities"), deadline: .seconds(86_400))
            } catch {
                continue  // gone: the bus tells
            }
            guard silent?.owner == server.owner else { continue }
            silent = nil
            self.server = server
            report(.available(generation: server.generation))
        }
    }

    /// The server is not where we thought: asks the bus instead of waiting to be told.
    private func lookAgain(on connection: DBusConnection) async {
        do throws(DBusError) {
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: form.deadline), on: connection)
        } catch {
            await giveUp(connection, because: "the notification server does not answer: \(error)")
        }
    }

    /// Ends the connection, so that ``run()`` tries again after a pause.
    private func giveUp(_ connection: DBusConnection, because reason: String) async {
        if connection === self.connection { problem = reason }
        await connection.close()
    }

    /// Says a state once; that it is away is logged by who has something to show.
    private func report(_ state: SurfaceSignal) {
        guard state != lastState else { return }
        lastState = state
        reports.yield(state)
        switch state {
        case .available:
            logger.notice("desktop available", metadata: ["server": "\(server?.title ?? "starts on demand")"])
        case .unavailable(let reason):
            logger.debug("desktop unavailable", metadata: ["reason": "\(reason)"])
        case .closed, .action: break
        }
    }
}
