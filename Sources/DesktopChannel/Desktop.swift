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
    /// Servers that appear and vanish, what was closed, what was pressed; the same state is never reported twice.
    package nonisolated let signals: AsyncStream<SurfaceSignal>

    /// How long a server that answers other things may owe an answer.
    private static let answerLimit = Duration.seconds(60)
    /// How long a notice rests that its server has not answered.
    private static let putOff = Duration.seconds(3600)

    private let desktopForm: DesktopForm
    private let bus: SessionBus
    private let pauses: Pauses
    private let terminal: Terminal?
    private let logger: Logger

    private var reports: StateReports
    private var visit: BusVisit?
    private var server = ServerSeat()
    /// What the button that was pressed last may bring to the front with.
    private var activation: (number: UInt32, token: String)?
    /// Who shows runs at work as jobs.
    var views = JobViews()
    /// What docks show on our icon.
    var launcher = LauncherEntry()
    /// The connection to the bus; nil: there is none.
    var connection: DBusConnection? { visit?.connection }
    /// The desktop file's name.
    var entryName: String { desktopForm.desktopEntry }
    /// How long an answer may take.
    var answerDeadline: Duration { desktopForm.deadline }

    /// A desktop reached over `bus`; nothing happens before ``run()``.
    package init(
        name: String, form: DesktopForm = DesktopForm(), bus: SessionBus, terminal: Terminal? = nil,
        clock: any WallClock, logger: Logger
    ) {
        self.name = name
        self.terminal = terminal
        desktopForm = form
        self.bus = bus
        pauses = Pauses(clock: clock)
        var logger = logger
        logger[metadataKey: "channel"] = "\(name)"
        self.logger = logger
        let (signals, continuation) = AsyncStream.makeStream(of: SurfaceSignal.self)
        self.signals = signals
        reports = StateReports(to: continuation, logger: logger)
    }

    // MARK: Showing

    /// Shows `notice`; see `LevelChannel`.
    ///
    /// Starts the server when the bus can.
    package func show(
        _ notice: Notice, replacing remote: RemoteID?
    ) async throws(DeliveryError) -> RemoteID {
        guard let connection = visit?.connection else { throw .unreachable(.noBus) }
        let profile = try await serverForNotice(on: connection)
        let replaced = profile.number(of: remote)
        let job = views.path(of: remote)
        if replaced ?? job.map({ _ in 0 }) != nil, let remote,
            server.shows(newerThan: notice.revision, under: remote)
        {
            return remote
        }
        if notice.isLive, replaced == nil,
            let shown = await showAsJob(
                notice, replacing: remote, generation: profile.generation, on: connection)
        {
            await note(notice, shownAs: shown, replacing: remote)
            return shown
        }
        if let job { await endJob(job, on: connection) }
        let notification = desktopForm.render(notice, for: profile.abilities)
        let answer = await call(
            "Notify", notification.arguments(replacing: replaced ?? 0), of: profile, on: connection,
            for: (notice, remote))
        switch profile.shown(by: answer, replacing: remote, as: desktopForm) {
        case .success(let shown):
            await note(notice, shownAs: shown, replacing: remote)
            return shown
        case .failure(let failure):
            if case .unreachable(.noServer, _) = failure { await lookAgain(on: connection) }
            throw failure
        }
    }

    private func note(_ notice: Notice, shownAs remote: RemoteID, replacing old: RemoteID?) async {
        server.note(notice.revision, shownAs: remote)
        launcher.note(notice, shownAs: remote, replacing: old)
        await sendLauncherEntry()
    }

    /// Closes what was shown in the server's present life; see `LevelChannel`.
    package func close(_ remote: RemoteID) async {
        launcher.forget(remote)
        await sendLauncherEntry()
        guard let connection = visit?.connection, let profile = server.profile else { return }
        if let job = views.path(of: remote) {
            server.forget(remote)
            return await endJob(job, on: connection)
        }
        guard let number = profile.number(of: remote) else { return }
        server.forget(remote)
        let answer = await call(
            "CloseNotification", [.uint32(number)], of: profile, on: connection, for: nil)
        // The specification lets a server answer an unknown id with an error: it is closed, as wanted.
        if case .failure(let error) = answer {
            logger.debug("notification not closed", metadata: ["reason": "\(error)"])
        }
    }

    package nonisolated var hasTerminal: Bool { terminal?.isThere() ?? false }

    package func openTerminal(_ arguments: [String]) async {
        let token = activation?.token
        activation = nil
        guard let fault = await terminal?.open(arguments, token) else { return }
        logger.warning("no terminal was opened", metadata: ["reason": "\(fault)"])
    }

    /// Calls a server, and has it waited for when it does not answer by the deadline.
    private func call(
        _ member: String, _ arguments: [DBusValue], of server: ServerProfile, on connection: DBusConnection,
        for showing: (notice: Notice, replacing: RemoteID?)?
    ) async -> Result<[DBusValue], DBusError> {
        let call = LateAnswer.Call(number: visit?.countCall() ?? 0, server: server, showing: showing)
        let lateAnswers = visit?.lateAnswers
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
        if let profile = server.profile { return profile }
        guard server.overdue == nil else { throw .unreachable(.timeout) }
        guard server.canStart || server.candidate != nil else { throw .unreachable(.noServer) }
        do throws(DBusError) {
            if server.candidate == nil {
                try await connection.start(ServerProfile.service, deadline: desktopForm.deadline)
            }
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: desktopForm.deadline), on: connection)
        } catch {
            leaveAsleep(because: "the notification server does not start: \(error)")
            throw .unreachable(.noServer, detail: "\(error)")
        }
        guard let profile = server.profile else { throw .unreachable(.noServer) }
        return profile
    }

    // MARK: Serving

    /// Keeps the connection, and reports, until the task is cancelled.
    package func run() async throws {
        var pause = Backoff()
        while !Task.isCancelled {
            let noBus = await serve()
            let problem = visit?.problem
            server.forget()
            // Jobs end with the connection that made them, and signals are subscribed to again.
            views.adopt(nil)
            visit = nil
            if Task.isCancelled { return }
            let end = noBus.map { "no session bus: \($0.text)" } ?? "the session bus closed the connection"
            reports.report(problem.map { .unavailable($0) } ?? reports.away(end))
            if noBus == nil, problem == nil { pause = Backoff() }
            try await pauses.rest(for: pause.next())
        }
    }

    /// Ends the pause before the next look for a bus or the next start of a server, if one is being made.
    package func retryNow() { pauses.end() }

    /// One connection from its beginning to its end.
    ///
    /// - Returns: why there was none; nil: there was one.
    private func serve() async -> NoBus? {
        let connection: DBusConnection
        do throws(NoBus) {
            connection = try await connect()
        } catch {
            return error
        }
        let (overdues, overdue) = AsyncStream.makeStream(of: LateAnswer.Call.self)
        let (lateAnswers, lateAnswer) = AsyncStream.makeStream(of: LateAnswer.self)
        let (starts, start) = AsyncStream.makeStream(of: Duration.self)
        visit = BusVisit(connection, overdues: overdue, lateAnswers: lateAnswer, starts: start)
        async let probes: Void = probe(overdues, on: connection)
        async let answers: Void = receive(lateAnswers)
        async let wakings: Void = allowStarts(after: starts)
        await follow(connection)
        overdue.finish()
        start.finish()
        server.canStart = false
        pauses.end()
        await connection.close()
        lateAnswer.finish()
        await probes
        await answers
        await wakings
        return nil
    }

    /// Subscribes, finds the server that is there, and follows the signals to the end of the connection.
    private func follow(_ connection: DBusConnection) async {
        let deadline = desktopForm.deadline
        do throws(DBusError) {
            try await connection.subscribe(
                to: .ownerChanged(of: ServerProfile.service), deadline: deadline)
            try await connection.subscribe(
                to: DBusMatch(sender: ServerProfile.service, interface: ServerProfile.service),
                deadline: deadline)
            visit?.busID = try await connection.busID(deadline: deadline)
            try await connection.subscribe(to: .ownerChanged(of: JobViews.service), deadline: deadline)
            try await adoptJobs(connection.owner(of: JobViews.service, deadline: deadline), on: connection)
            launcher.forgetSent()
            try await adopt(
                connection.owner(of: ServerProfile.service, deadline: deadline), on: connection)
            for await signal in connection.signals { try await receive(signal, on: connection) }
        } catch .disconnected {
            // The same end as that of the signals.
        } catch {
            visit?.note(problem: "the notification server does not answer: \(error)")
        }
    }

    /// Turns to whoever shows jobs now.
    private func adoptJobs(_ owner: String?, on connection: DBusConnection) async throws(DBusError) {
        guard owner == nil || owner != views.owner else { return }
        views.adopt(owner)
        guard owner != nil else { return }
        for interface in ["org.kde.JobViewV3", "org.kde.JobViewV2"] {
            try await connection.subscribe(
                to: DBusMatch(sender: JobViews.service, interface: interface), deadline: desktopForm.deadline)
        }
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
        let sender = server.sender
        if let (path, button) = views.request(signal), let generation = sender?.generation {
            let remote = JobViews.remote(path, generation: generation)
            return reports.send(.action(remote, key: button.rawValue))
        }
        switch ServerSignal(signal, from: sender?.owner) {
        case .ownerChanged(let owner): try await adopt(owner, on: connection)
        case .jobsOwnerChanged(let owner): try await adoptJobs(owner, on: connection)
        case .closed(let number, let reason):
            guard let remote = sender?.remote(number) else { return }
            launcher.forget(remote)
            reports.send(.closed(remote, reason, revision: server.forget(remote)))
        case .action(let number, let key):
            guard let remote = sender?.remote(number) else { return }
            if activation?.number != number { activation = nil }
            reports.send(.action(remote, key: key))
        case .activation(let number, let token): activation = (number, token)
        case .reply(let number, let text):
            guard let remote = sender?.remote(number) else { return }
            reports.send(.reply(remote, text: text))
        case nil: break
        }
    }

    /// Turns to the server that has the name now; the ids of the one before are void.
    private func adopt(_ owner: String?, on connection: DBusConnection) async throws(DBusError) {
        guard owner == nil || owner != server.profile?.owner else { return }
        server.forget()
        launcher.forgetAll()
        server.candidate = owner
        guard let owner else {
            server.canStart = try await connection.canStart(
                ServerProfile.service, deadline: desktopForm.deadline)
            reports.report(
                server.canStart ? asleep : reports.away("no notification server on the session bus"))
            return
        }
        let profile = try await ServerProfile(
            owner: owner, bus: visit?.busID ?? "", on: connection, deadline: desktopForm.deadline)
        guard server.candidate == owner else { return }  // it vanished while it was asked
        visit?.startPause = Backoff()
        resume(profile)
    }

    /// No server runs, and the bus can start one.
    private var asleep: SurfaceSignal {
        .available(generation: ServerProfile.generation(owner: "", bus: visit?.busID ?? ""))
    }

    /// The bus could not start a server: none is started for a while, and one that comes by itself is heard.
    private func leaveAsleep(because reason: String) {
        server.candidate = nil
        reports.report(.unavailable(reason))
        visit?.delayStart()
    }

    private func allowStarts(after durations: AsyncStream<Duration>) async {
        for await duration in durations {
            do { try await pauses.rest(for: duration) } catch { return }
            if server.isAsleep { reports.report(asleep) }
        }
    }

    /// The server is slow or hangs: reports so, and has its answer waited for.
    ///
    /// The connection is kept, because GNOME takes everything away that a closed connection has shown; and
    /// nothing more is sent, because all of it would appear when the server goes on.
    private func waitForAnswer(to call: LateAnswer.Call) {
        guard visit?.wasAnswered(call) != true, server.profile?.owner == call.server.owner else { return }
        server.owes(call)
        visit?.overdues.yield(call)
        reports.report(.unavailable("the notification server does not answer"))
    }

    /// Takes what a server answered after all for the answer it is, and takes the server up again.
    private func receive(_ lateAnswers: AsyncStream<LateAnswer>) async {
        for await late in lateAnswers {
            // Of a life that has ended: its ids are void, and the bus reports its end.
            guard server.sender?.owner == late.call.server.owner else { continue }
            if case .failure(.unreachable)? = late.shown(as: desktopForm) { continue }
            if let notice = late.call.showing?.notice, let shown = late.shown(as: desktopForm) {
                if case .success(let remote) = shown { server.note(notice.revision, shownLateAs: remote) }
                reports.send(.answered(notice.item, revision: notice.revision, shown))
            }
            if server.overdue?.number == late.call.number {
                resume(late.call.server)
            } else {
                visit?.noteAnswer(to: late.call)
            }
        }
    }

    /// Asks a server that owes an answer something small.
    ///
    /// One that answers this and not the other within ``answerLimit`` has lost it: what it should have shown is
    /// put off, and others get their turn.
    private func probe(_ overdues: AsyncStream<LateAnswer.Call>, on connection: DBusConnection) async {
        for await call in overdues {
            do {
                let question = call.server.method("GetCapabilities")
                _ = try await connection.call(question, deadline: .seconds(86_400))
                guard server.overdue?.number == call.number else { continue }
                try await pauses.rest(for: Self.answerLimit)
            } catch is DBusError {
                continue  // the bus reports the end of a server
            } catch {
                return
            }
            guard server.overdue?.number == call.number, connection === visit?.connection else { continue }
            if let notice = call.showing?.notice {
                let failure = DeliveryError.retry(
                    .timeout, after: Self.putOff, detail: "the notification server does not answer")
                reports.send(.answered(notice.item, revision: notice.revision, .failure(failure)))
            }
            resume(call.server)
        }
    }

    /// Sends to this server from now on.
    private func resume(_ profile: ServerProfile) {
        server.adopt(profile)
        reports.report(.available(generation: profile.generation), by: profile)
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
        if connection === visit?.connection { visit?.problem = reason }
        await connection.close()
    }
}
