import DBus
package import Delivery
package import Logging
package import Timeline

/// The session's desktop as a channel: one connection to the session bus, at most one server at a time.
///
/// Nothing here waits for the desktop longer than the form's deadline a call. A call that was not answered by then
/// stays the only one until its answer comes: sending more would only flood a server that is slow. Without a bus the next try comes
/// after 1, 2, 4 ... 60 seconds, and so does the next start of a server that did not come up. A server the
/// bus could start is started for a notice, never by a look.
package actor Desktop: LevelChannel {
    /// The name in the config file.
    package nonisolated let name: String
    /// The form it shows.
    package nonisolated var form: any ChannelForm { desktopForm }
    /// Always the same: whoever serves the session's desktop.
    package nonisolated let identity = "desktop"
    /// Servers coming and going, what was closed, what was pressed; the same state is never said twice.
    package nonisolated let signals: AsyncStream<SurfaceSignal>

    /// How long a server that answers other things may owe an answer.
    private static let patience = Duration.seconds(60)
    /// How long a notice rests that its server has not answered.
    private static let putOff = Duration.seconds(3600)

    private let reports: AsyncStream<SurfaceSignal>.Continuation
    private let desktopForm: DesktopForm
    private let bus: SessionBus
    private let logger: Logger

    private var connection: DBusConnection?
    private var busID = ""
    private var server: ServerProfile?
    private var canStartServer = false
    /// The owner we turned to last, asked or still being asked what it can do.
    private var lookingFor: String?
    private var lastState: SurfaceSignal?
    /// Whether there was a server, or one that the bus can start, since ``run()`` began.
    private var wasThere = false
    /// The call that its server has not answered in time; nothing more is sent there before it has.
    private var overdue: LateAnswer.Call?
    private var overdues: AsyncStream<LateAnswer.Call>.Continuation?
    private var lateAnswers: AsyncStream<LateAnswer>.Continuation?
    private var calls = 0
    /// The calls that were answered in the moment between their deadline and our hearing of it.
    private var answeredJustLate: Set<Int> = []
    /// How long a server that did not start is left alone, one element a time it did not.
    private var starts: AsyncStream<Duration>.Continuation?
    private var startPause = Backoff()
    private let pauses: Pauses
    /// Why we gave up a connection that was well; `nil` while it is, or when it was lost.
    private var problem: String?
    /// The highest revision shown under each id of the server's present life.
    private var revisions: [RemoteID: Int] = [:]

    /// A desktop reached over `bus`; nothing happens before ``run()``.
    package init(
        name: String, form: DesktopForm = DesktopForm(), bus: SessionBus, clock: any WallClock, logger: Logger
    ) {
        self.name = name
        desktopForm = form
        self.bus = bus
        pauses = Pauses(clock: clock)
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
        let notification = desktopForm.render(notice, for: server.abilities)
        let answer = await call(
            "Notify", notification.arguments(replacing: replaced ?? 0), of: server, on: connection,
            for: (notice, remote))
        switch server.shown(by: answer, replacing: remote, as: desktopForm) {
        case .success(let shown):
            if self.server?.generation == server.generation { revisions[shown] = notice.revision }
            return shown
        case .failure(let failure):
            if case .unreachable(.noServer, _) = failure { await lookAgain(on: connection) }
            throw failure
        }
    }

    /// Closes what was shown in the server's present life; see `LevelChannel`.
    package func close(_ remote: RemoteID) async {
        guard let connection, let server, let number = server.number(of: remote) else { return }
        revisions[remote] = nil
        let answer = await call(
            "CloseNotification", [.uint32(number)], of: server, on: connection, for: nil)
        // The specification lets a server answer an unknown id with an error: it is closed, as wanted.
        if case .failure(let error) = answer {
            logger.debug("notification not closed", metadata: ["reason": "\(error)"])
        }
    }

    /// Calls a server, and has it waited for when it does not answer by the deadline.
    private func call(
        _ member: String, _ arguments: [DBusValue], of server: ServerProfile, on connection: DBusConnection,
        for showing: (notice: Notice, replacing: RemoteID?)?
    ) async -> Result<[DBusValue], DBusError> {
        calls += 1
        let (call, lateAnswers) = (
            LateAnswer.Call(number: calls, server: server, showing: showing), self.lateAnswers
        )
        do throws(DBusError) {
            let answer = try await connection.call(
                server.method(member), arguments, deadline: desktopForm.deadline
            ) {
                lateAnswers?.yield(LateAnswer(call: call, answer: $0))
            }
            return .success(answer)
        } catch {
            if error == .timedOut { waitForAnswer(to: call) }
            return .failure(error)
        }
    }

    private func serverForNotice(
        on connection: DBusConnection
    ) async throws(DeliveryError) -> ServerProfile {
        if let server { return server }
        guard overdue == nil else { throw .unreachable(.timeout) }
        guard canStartServer || lookingFor != nil else { throw .unreachable(.noServer) }
        do throws(DBusError) {
            if lookingFor == nil {
                try await connection.start(ServerProfile.service, deadline: desktopForm.deadline)
            }
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: desktopForm.deadline), on: connection)
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
            report(problem.map { .unavailable($0) } ?? away(end))
            if hadBus, problem == nil { pause = Backoff() }
            try await pauses.rest(for: pause.next())
        }
    }

    /// Ends the pause before the next look for a bus or the next start of a server, if one is being made.
    package func look() { pauses.end() }

    /// One connection from its beginning to its end: whether there was one, and why it ended.
    private func serve() async -> (hadBus: Bool, end: String) {
        let connection: DBusConnection
        do throws(NoBus) {
            connection = try await connect()
        } catch {
            return (false, "no session bus: \(error.text)")
        }
        self.connection = connection
        let (overdues, overdue) = AsyncStream.makeStream(of: LateAnswer.Call.self)
        self.overdues = overdue
        async let probes: Void = probe(overdues, on: connection)
        let (lateAnswers, lateAnswer) = AsyncStream.makeStream(of: LateAnswer.self)
        self.lateAnswers = lateAnswer
        async let answers: Void = receive(lateAnswers)
        let (starts, start) = AsyncStream.makeStream(of: Duration.self)
        self.starts = start
        startPause = Backoff()
        async let wakings: Void = allowStarts(after: starts)
        do throws(DBusError) {
            try await connection.listen(
                for: .ownerChanged(of: ServerProfile.service), deadline: desktopForm.deadline)
            try await connection.listen(
                for: DBusMatch(sender: ServerProfile.service, interface: ServerProfile.service),
                deadline: desktopForm.deadline)
            busID = try await connection.busID(deadline: desktopForm.deadline)
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: desktopForm.deadline), on: connection)
            for await signal in connection.signals { try await receive(signal, on: connection) }
        } catch .disconnected {
            // The same end as that of the signals.
        } catch {
            problem = problem ?? "the notification server does not answer: \(error)"
        }
        overdue.finish()
        self.overdue = nil
        answeredJustLate = []
        start.finish()
        canStartServer = false
        look()
        await connection.close()
        lateAnswer.finish()
        await probes
        await answers
        await wakings
        return (true, "the session bus closed the connection")
    }

    private func connect() async throws(NoBus) -> DBusConnection {
        var tried = NoBus()
        for address in bus.addresses {
            do throws(DBusError) {
                return try await DBusConnection.connect(to: address, deadline: desktopForm.deadline)
            } catch {
                tried.refusals.append((address, error))
            }
        }
        throw tried
    }

    private func receive(_ signal: DBusSignal, on connection: DBusConnection) async throws(DBusError) {
        // One that owes an answer still says what a person does with what it shows.
        let server = server ?? overdue?.server
        switch ServerSignal(signal, from: server?.owner) {
        case .ownerChanged(let owner): try await adopt(owner, on: connection)
        case .closed(let number, let reason):
            guard let remote = server?.remote(number) else { return }
            reports.yield(.closed(remote, reason, revision: revisions.removeValue(forKey: remote)))
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
            canStartServer = try await connection.canStart(
                ServerProfile.service, deadline: desktopForm.deadline)
            report(canStartServer ? asleep : away("no notification server on the session bus"))
            return
        }
        let profile = try await ServerProfile(
            owner: owner, bus: busID, on: connection, deadline: desktopForm.deadline)
        guard lookingFor == owner else { return }  // it has gone again while it was asked
        server = profile
        startPause = Backoff()
        report(.available(generation: profile.generation))
    }

    /// No server runs, and the bus can start one.
    private var asleep: SurfaceSignal {
        .available(generation: ServerProfile.generation(owner: "", bus: busID))
    }

    /// No server is there: where none ever was, as on a machine without a desktop, that is no fault.
    private func away(_ reason: String) -> SurfaceSignal {
        wasThere ? .unavailable(reason) : .absent(reason)
    }

    /// The bus could not start a server: none is started for a while, and one that comes by itself is heard.
    private func leaveAsleep(because reason: String) {
        lookingFor = nil
        report(.unavailable(reason))
        starts?.yield(startPause.next())
    }

    private func allowStarts(after durations: AsyncStream<Duration>) async {
        for await duration in durations {
            do { try await pauses.rest(for: duration) } catch { return }
            if server == nil, overdue == nil, lookingFor == nil, canStartServer { report(asleep) }
        }
    }

    private func forgetServer() {
        server = nil
        overdue = nil
        lookingFor = nil
        revisions = [:]
    }

    /// The server is slow or hangs: reports so, and has its answer waited for.
    ///
    /// The connection is kept, because GNOME takes everything away that a closed connection has shown; and
    /// nothing more is sent, because all of it would appear when the server goes on.
    private func waitForAnswer(to call: LateAnswer.Call) {
        guard answeredJustLate.remove(call.number) == nil, server?.owner == call.server.owner else { return }
        server = nil
        overdue = call
        overdues?.yield(call)
        report(.unavailable("the notification server does not answer"))
    }

    /// Takes what a server answered after all for the answer it is, and takes the server up again.
    private func receive(_ lateAnswers: AsyncStream<LateAnswer>) async {
        for await late in lateAnswers {
            let server = late.call.server
            // Of a life that has ended: its ids are void, and the bus reports its end.
            guard (overdue?.server ?? self.server)?.owner == server.owner else { continue }
            if case .failure(.unreachable)? = late.shown(as: desktopForm) { continue }
            if let notice = late.call.showing?.notice, let shown = late.shown(as: desktopForm) {
                if case .success(let remote) = shown {
                    revisions[remote] = max(revisions[remote] ?? 0, notice.revision)
                }
                reports.yield(.answered(notice.item, revision: notice.revision, shown))
            }
            if overdue?.number == late.call.number {
                resume(server)
            } else {
                answeredJustLate.insert(late.call.number)
            }
        }
    }

    /// Asks a server that owes an answer something small.
    ///
    /// One that answers this and not the other within ``patience`` has lost it: what it should have shown is
    /// put off, and others get their turn.
    private func probe(_ overdues: AsyncStream<LateAnswer.Call>, on connection: DBusConnection) async {
        for await call in overdues {
            do {
                let question = call.server.method("GetCapabilities")
                _ = try await connection.call(question, deadline: .seconds(86_400))
                guard overdue?.number == call.number else { continue }
                try await pauses.rest(for: Self.patience)
            } catch is DBusError {
                continue  // the bus reports the end of a server
            } catch {
                return
            }
            guard overdue?.number == call.number, connection === self.connection else { continue }
            if let notice = call.showing?.notice {
                let failure = DeliveryError.retry(
                    .timeout, after: Self.putOff, detail: "the notification server does not answer")
                reports.yield(.answered(notice.item, revision: notice.revision, .failure(failure)))
            }
            resume(call.server)
        }
    }

    private func resume(_ server: ServerProfile) {
        overdue = nil
        self.server = server
        report(.available(generation: server.generation))
    }

    /// The server is not where we thought: asks the bus instead of waiting for its signal.
    private func lookAgain(on connection: DBusConnection) async {
        do throws(DBusError) {
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: desktopForm.deadline), on: connection)
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
            wasThere = true
            logger.notice("desktop available", metadata: ["server": "\(server?.title ?? "starts on demand")"])
        case .unavailable(let reason), .absent(let reason):
            logger.debug("desktop unavailable", metadata: ["reason": "\(reason)"])
        case .closed, .action, .answered: break
        }
    }
}
