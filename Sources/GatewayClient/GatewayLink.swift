package import OpenClaw
package import Timeline
package import Tracking

/// The connection to one gateway, made again whenever it ends, until the gateway refuses it for good.
///
/// Calls are answered in any order; one that has no answer when the connection ends fails, and is repeated by its caller
/// where that is safe.
package actor GatewayLink {
    /// Whether it is connected.
    package enum State: Hashable, Sendable {
        /// It was not connected yet, and nothing is known to be wrong.
        case connecting
        /// It is connected.
        case online(Online)
        /// It is not connected, and this is why.
        case away(GatewayTrouble, since: Moment)
    }

    /// What is known of a gateway that is connected.
    package struct Online: Hashable, Sendable {
        package var hello: GatewayHello
        package var since: Moment
        /// How long the last ping took; nil: none was answered yet.
        package var latency: Duration?
    }

    /// What happens to a run that somebody follows.
    package enum RunSignal: Hashable, Sendable {
        /// The gateway reported something of it.
        case chat(ChatEvent)
        /// The connection ended: what happens until the next one is not reported.
        case disconnected
        /// The gateway is connected again.
        case connected
        /// Something that the gateway sent was lost on the way.
        case gap
    }

    /// Why a call has no result.
    package enum CallFailure: Error, Hashable, Sendable {
        /// There is no connection, or it ended before the answer came.
        case away
        /// There was no answer in time.
        case timedOut
        /// What was read in pages was another list at each page.
        case unsettled
        /// The frame would be larger than the gateway reads.
        case tooLarge
        /// The gateway refused it.
        case fault(GatewayFault)
    }

    /// What happens on a connection, for whoever follows more than one run.
    package enum Signal: Hashable, Sendable {
        /// The gateway is connected.
        case connected
        /// It no longer is.
        case disconnected
        /// Events were lost on the way.
        case gap
        /// Its scheduler reported something of a job.
        case job(String, action: String)
        /// A run that nobody here follows has ended, in the session of that key.
        case foreignReply(session: String)
    }

    private let setup: GatewaySetup
    let clock: any WallClock
    private let report: @Sendable (State) -> Void
    private(set) package var state: State = .connecting
    private var connection = LinkConnection()
    /// Counts the connections.
    private var generation = 0
    private var calls = LinkCalls()
    private var listeners = LinkListeners()
    private var arrivals: [Int: CheckedContinuation<Void, Never>] = [:]
    private var sleeper: CheckedContinuation<Void, Never>?
    private var backoff = GatewayBackoff()
    /// How far the gateway's clock is ahead of ours, as it last said; zero while it has not.
    package private(set) var clockAhead = Duration.zero

    private static let connectID = "connect"
    /// How long a call waits for its answer.
    package static let patience = Duration.seconds(30)

    /// A link that is not connected before it runs; `report` hears of each state.
    package init(_ setup: GatewaySetup, report: @escaping @Sendable (State) -> Void) {
        self.setup = setup
        self.report = report
        clock = setup.clock
    }

    // MARK: Its life

    /// Connects, again and again, until it is cancelled; what happens on the connection goes to `note`.
    package func run(noting note: @escaping @Sendable (Signal) -> Void = { _ in }) async {
        listeners.note = note
        while !Task.isCancelled {
            let trouble = await connectOnce()
            guard !Task.isCancelled else { break }
            lose(trouble)
            await pause(for: backoff.wait(after: trouble, chance: Double.random(in: 0...1)))
        }
        lose(nil)
    }

    /// Tries again at once where it waits; used where something was changed.
    package func retry() {
        guard case .closed = connection.phase else { return }
        backoff.reset()
        wake()
    }

    private func connectOnce() async -> GatewayTrouble {
        connection = LinkConnection()
        switch await connect() {
        case .success(let wire): return await GatewayWire(wire, of: self).serve()
        case .failure(let trouble): return trouble
        }
    }

    /// A new connection, made by a task of its own: what a task needed while it connected it keeps for as long as it lives.
    private func connect() async -> Result<GatewaySocket.Wire, GatewayTrouble> {
        let socket = setup.socket
        return await withTaskGroup(of: Result<GatewaySocket.Wire, GatewayTrouble>.self) { group in
            group.addTask {
                do throws(GatewayTrouble) {
                    return .success(try await socket.open())
                } catch {
                    return .failure(error)
                }
            }
            for await result in group { return result }
            return .failure(GatewayTrouble(.closed(code: nil, "before the handshake")))
        }
    }

    /// Waits that long, or until somebody wakes it; nil: for that alone.
    private func pause(for wait: Duration?) async {
        let timer = wait.map { wait in
            Task { [clock] in
                try? await clock.sleep(until: clock.now + wait)
                if !Task.isCancelled { wake() }
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { continuation.resume() } else { sleeper = continuation }
            }
        } onCancel: {
            Task { await self.wake() }
        }
        timer?.cancel()
    }

    private func wake() {
        sleeper?.resume()
        sleeper = nil
    }

    /// The connection has ended; nil: it is not made again.
    private func lose(_ trouble: GatewayTrouble?) {
        let wasOpen = hello != nil
        (connection.phase, connection.wire) = (.closed, nil)
        calls.failAll(.away)
        if let trouble {
            backoff.ended(trouble, at: clock.sinceBoot)
            if wasOpen { listeners.report(.disconnected, .disconnected) }
            // How long it has been away counts from the first trouble.
            let since = if case .away(_, let since) = state { since } else { clock.now }
            become(.away(trouble, since: since))
        } else {
            listeners.finish()
        }
        if trouble?.needsPerson ?? true { releaseArrivals() }
    }

    private func become(_ state: State) {
        guard state != self.state else { return }
        self.state = state
        report(state)
    }

    // MARK: What the wire reports

    /// The connection is open.
    func opened(_ wire: GatewayWire) async {
        generation += 1
        let now = clock.sinceBoot
        connection = LinkConnection(wire, openedAt: now)
        let number = generation
        await setup.watch.add(at: now + .seconds(6)) { [weak self] in await self?.look(at: number) }
    }

    /// What the end of the connection means.
    func ended(code: Int?, _ reason: String) -> GatewayTrouble {
        if let verdict = connection.verdict { return verdict }
        let trouble = GatewayTrouble(
            closeCode: code, reason: hidden.clean(reason), announced: connection.announcedRestart)
        if case .opening = connection.phase, code == nil, connection.announcedRestart == nil {
            return GatewayTrouble(.closed(code: nil, "before the handshake"))
        }
        return trouble
    }

    /// What it means that reading failed.
    func failed(_ trouble: GatewayTrouble) -> GatewayTrouble { connection.verdict ?? trouble }

    /// The answer to a ping.
    func receivePong(_ bytes: [UInt8]) {
        connection.pulse.heard(at: clock.sinceBoot)
        guard let latency = connection.pulse.answered(bytes, at: clock.sinceBoot),
            case .online(var online) = state
        else { return }
        online.latency = latency
        become(.online(online))
    }

    func send(_ frame: GatewayWire.Outgoing) { connection.wire?.send(frame) }

    /// Sends pings, and gives up a connection that is silent; returns when to look again, since boot, nil: never.
    private func look(at number: Int) -> Duration? {
        guard number == generation, connection.verdict == nil else { return nil }
        let now = clock.sinceBoot
        switch connection.phase {
        case .closed: return nil
        case .opening(let since, let isChallenged):
            let due = since + (isChallenged ? .seconds(12) : .seconds(6))
            guard due <= now else { return due }
            giveUp(because: GatewayTrouble(.silent(due - since)))
        case .open(let hello):
            if let silence = connection.pulse.silence(at: now, tick: hello.tick) {
                giveUp(because: GatewayTrouble(.silent(silence)))
            } else {
                if let ping = connection.pulse.ping(at: now) { send(.ping(ping)) }
                return connection.pulse.nextCheck(tick: hello.tick)
            }
        }
        return nil
    }

    private func giveUp(because trouble: GatewayTrouble) {
        connection.verdict = trouble
        connection.wire?.close(because: trouble)
    }

    /// Takes a frame; returns why the connection is given up, if it is.
    func receive(_ frame: GatewayFrame) -> GatewayTrouble? {
        connection.pulse.heard(at: clock.sinceBoot)
        switch (frame, connection.phase) {
        case (.response(Self.connectID, let result), .opening(_, isChallenged: true)): return answered(result)
        case (.event("connect.challenge", let payload, _), .opening(let since, isChallenged: false)):
            guard let challenge = GatewayChallenge(payload) else {
                return GatewayTrouble(.noGateway("its challenge can't be read"))
            }
            connection.phase = .opening(since: since, isChallenged: true)
            noteTime(milliseconds: challenge.time)
            return greet(challenge)
        case (.response(let id, let result), _):
            if case .success(let answer) = result, answer["status"]?.text == "accepted",
                let end = calls.end(of: id)
            {
                calls.setTimer(timer(of: id, end), of: id)
            } else {
                calls.settle(id, result.mapError { CallFailure.fault($0.hiding(hidden)) })
            }
        case (.event(let name, let payload, let seq), .open(let hello)):
            receive(name, payload, seq, hello)
        case (.event, _), (.other, _): break
        }
        return nil
    }

    private func receive(_ name: String, _ payload: JSON, _ seq: Int?, _ hello: GatewayHello) {
        // Version 3 counts for all clients together, and sends none of them everything.
        if connection.sequence.note(seq), hello.version >= 4 { listeners.report(.gap, .gap) }
        switch name {
        case "chat":
            guard
                let event = ChatEvent(
                    payload, hiding: payload["state"]?.text == "error" ? hidden : HiddenTexts())
            else { return }
            listeners.report(event)
        case "cron":
            if let job = payload["jobId"]?.text, let action = payload["action"]?.text {
                listeners.note(.job(job, action: action))
            }
        case "tick":
            if let time = payload["ts"]?.double, time > 0, time < 9e15 { noteTime(milliseconds: Int64(time)) }
        case "shutdown":
            connection.announcedRestart = payload["restartExpectedMs"]?.double.map {
                .milliseconds(Int64(min(max($0, 0), 600_000)))
            }
        default: break
        }
    }

    /// The gateway's clock shows this, where it shows anything.
    private func noteTime(milliseconds time: Int64) {
        if time > 0 { clockAhead = Moment(microseconds: time * 1000) - clock.now }
    }

    // MARK: The handshake

    private func greet(_ challenge: GatewayChallenge) -> GatewayTrouble? {
        let known: (identity: DeviceIdentity, token: String?)
        do {
            known = try setup.device.read()
        } catch {
            return GatewayTrouble(.refused(code: "device", "\(error)"), .never)
        }
        // Whoever asks for more than the device has must show what allows it.
        let shared = setup.token()
        connection.usesDeviceToken =
            known.token != nil && (setup.scopes == GatewayIdentity.scopes || shared == nil)
        let token = (connection.usesDeviceToken ? known.token : shared) ?? ""
        var statement = DeviceStatement(device: known.identity.id, token: token, challenge: challenge)
        statement.scopes = setup.scopes
        guard let proof = known.identity.proof(of: statement) else {
            return GatewayTrouble(.refused(code: "device", "its key can't sign"), .never)
        }
        send(.text(GatewayCall.connect(proof, version: setup.version).frame(id: Self.connectID)))
        return nil
    }

    private func answered(_ result: Result<JSON, GatewayFault>) -> GatewayTrouble? {
        switch result {
        case .failure(let fault):
            let trouble = GatewayTrouble(refusal: fault.hiding(hidden))
            // What a wider wish is refused for says nothing of the token.
            guard connection.usesDeviceToken, setup.scopes == GatewayIdentity.scopes else { return trouble }
            switch trouble.kind {
            case .tokenRefused, .deviceTokenRefused, .tokenMissing:
                // The gateway forgot this device: the shared token is tried once in its place.
                try? setup.device.keep(token: nil)
                return setup.token() == nil ? trouble : GatewayTrouble(trouble.kind, .after(.zero))
            default: return trouble
            }
        case .success(let payload):
            guard let hello = GatewayHello(payload) else {
                return GatewayTrouble(.noGateway("its greeting can't be read"))
            }
            // Without the token it would only have to be approved by the shared one again.
            if let token = hello.deviceToken { try? setup.device.keep(token: token) }
            connection.phase = .open(hello)
            backoff.opened(at: clock.sinceBoot)
            become(.online(Online(hello: hello, since: clock.now)))
            releaseArrivals()
            if let ping = connection.pulse.ping(at: clock.sinceBoot) { send(.ping(ping)) }
            listeners.report(.connected, .connected)
            return nil
        }
    }

    /// The tokens: a gateway may quote one in what it says.
    package var hidden: HiddenTexts {
        HiddenTexts([setup.token(), (try? setup.device.read())?.token].compactMap(\.self))
    }
}

// MARK: - For those who use it

extension GatewayLink {
    /// The gateway's greeting, once it is connected, waiting at most so long; nil: it is not, or a person must do something
    /// first.
    package func online(within limit: Duration) async -> GatewayHello? {
        if let hello { return hello }
        if case .away(let trouble, _) = state, trouble.needsPerson { return nil }
        let ticket = calls.makeNumber()
        let timer = Task { [clock] in
            try? await clock.sleep(until: clock.now + limit)
            arrivals.removeValue(forKey: ticket)?.resume()
        }
        await withCheckedContinuation { arrivals[ticket] = $0 }
        timer.cancel()
        return hello
    }

    /// The gateway's greeting; nil: it is not connected.
    var hello: GatewayHello? { if case .open(let hello) = connection.phase { hello } else { nil } }

    private func releaseArrivals() {
        for waiter in arrivals.values { waiter.resume() }
        arrivals = [:]
    }

    /// Reports what happens to the run from now on, to one at a time.
    package func follow(_ run: String) -> AsyncStream<RunSignal> {
        listeners.follow(run)
    }

    /// Nothing more is reported of the run.
    package func unfollow(_ run: String) { listeners.unfollow(run) }

    /// Calls a method, and once more after each pause that a starting gateway asks for.
    ///
    /// `agent` is answered when its run is accepted, and a second time when that has ended: where `end` says how long that
    /// may take, the second answer is the result.
    package func call(
        _ call: GatewayCall, within limit: Duration = GatewayLink.patience, endingWithin end: Duration? = nil
    ) async throws(CallFailure) -> JSON {
        let deadline = clock.sinceBoot + limit
        while true {
            switch await callOnce(call, within: limit, end) {
            case .success(let payload): return payload
            case .failure(.fault(let fault)):
                guard let wait = fault.pause, clock.sinceBoot + wait < deadline else { throw .fault(fault) }
                try? await clock.sleep(until: clock.now + wait)
            case .failure(let failure): throw failure
            }
        }
    }

    private func callOnce(
        _ call: GatewayCall, within limit: Duration, _ end: Duration?
    ) async -> Result<JSON, CallFailure> {
        guard let hello, let wire = connection.wire else { return .failure(.away) }
        let id = "b\(calls.makeNumber())"
        let bytes = call.frame(id: id)
        guard bytes.count <= hello.maxPayload else { return .failure(.tooLarge) }
        return await withCheckedContinuation { continuation in
            calls.begin(id, continuation, timer: timer(of: id, limit), endingWithin: end)
            wire.send(.text(bytes))
        }
    }

    /// Fails the call of that id after so long.
    private func timer(of id: String, _ limit: Duration) -> Task<Void, Never> {
        Task { [clock] in
            try? await clock.sleep(until: clock.now + limit)
            if !Task.isCancelled { calls.settle(id, .failure(.timedOut)) }
        }
    }
}
