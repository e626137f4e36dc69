package import Delivery
import Grouping
import Host
package import Logging
import Synchronization
package import Timeline

/// The agent of a user: shows on the desktop of its session what a daemon of another user sends it.
///
/// What happens on the desktop while the daemon is away is kept, and reported when it is back.
package actor DesktopAgent {
    /// A channel of the daemon on this desktop.
    private struct Seat {
        var desktop: any LevelChannel
        var task: Task<Void, Never>
        /// Its last report of who is there.
        var presence: AgentReport?
        /// What shows each item, whether the daemon got to know it or not.
        var shown: [ItemKey: RemoteID] = [:]
    }

    /// How many reports are kept; the oldest are dropped.
    private static let mostReports = 512

    private let instance: String
    private let clock: any WallClock
    private let logger: Logger
    private let make: @Sendable (_ channel: String) -> any LevelChannel
    private var seats: [String: Seat] = [:]
    private var link: AgentLink?
    /// The channels that the daemon asked for over this connection: it hears of no other.
    private var served: Set<String> = []
    /// What the daemon has not confirmed yet, in order.
    private var reports: [AgentFrame] = []
    private var last = 0

    /// An agent whose desktops `make` makes; `instance` names this life of it.
    package init(
        instance: String, clock: any WallClock, logger: Logger,
        make: @escaping @Sendable (_ channel: String) -> any LevelChannel
    ) {
        (self.instance, self.clock, self.logger, self.make) = (instance, clock, logger, make)
    }

    /// Serves the daemon that listens at `path`, and comes back to it when it does, until cancelled.
    package func run(at path: String) async throws {
        defer { for seat in seats.values { seat.task.cancel() } }
        var (pause, isTold) = (Duration.milliseconds(250), false)
        while !Task.isCancelled {
            do throws(HostError) {
                let socket = try LocalSocket.connect(path)
                (pause, isTold) = (.milliseconds(250), false)
                try await serve(socket)
                logger.notice("the daemon closed the connection")
            } catch {
                if !isTold { logger.notice("no daemon is reached", metadata: ["reason": "\(error)"]) }
                isTold = true
            }
            try await clock.sleep(until: clock.now + pause)
            pause = min(pause * 2, .seconds(10))
        }
    }

    private func serve(_ socket: Descriptor) async throws(HostError) {
        let link = try AgentLink(socket)
        let (frames, frame) = AsyncStream.makeStream(of: AgentFrame.self)
        try link.start(named: "daemon") {
            frame.yield($0)
            return true
        } ended: {
            frame.finish()
        }
        (self.link, served) = (link, [])
        var hello = AgentFrame(.hello)
        hello.instance = instance
        link.send(hello)
        logger.info("connected")
        for await frame in frames { await receive(frame) }
        link.close()
        self.link = nil
    }

    private func receive(_ frame: AgentFrame) async {
        guard let channel = frame.channel else { return }
        switch frame.kind {
        case .serve: serve(channel)
        case .leave:
            served.remove(channel)
            seats.removeValue(forKey: channel)?.task.cancel()
        case .received:
            guard let number = frame.number else { return }
            reports.removeAll { $0.channel == channel && $0.number ?? 0 <= number }
        case .show: await show(frame, on: channel)
        case .close:
            guard let remote = frame.remote, let seat = seats[channel] else { return }
            for (item, known) in seat.shown where known == remote { seats[channel]?.shown[item] = nil }
            await seat.desktop.close(remote)
        case .badge: await seats[channel]?.desktop.showBadge(frame.unread ?? 0)
        case .retry: await seats[channel]?.desktop.retryNow()
        case .hello, .answer, .report: break
        }
    }

    /// Shows what the channel sends from now on, and reports to it again what it may have missed.
    private func serve(_ channel: String) {
        if seats[channel] == nil {
            let desktop = make(channel)
            let task = Task { [weak self] in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await desktop.run() }
                    for await signal in desktop.signals { await self?.note(signal, of: channel) }
                    group.cancelAll()
                }
            }
            seats[channel] = Seat(desktop: desktop, task: task)
        }
        served.insert(channel)
        if let presence = seats[channel]?.presence { send(presence, of: channel) }
        for report in reports where report.channel == channel { link?.send(report) }
    }

    private func note(_ signal: SurfaceSignal, of channel: String) {
        if case .closed(let remote, _, _) = signal, let seat = seats[channel] {
            for (item, known) in seat.shown where known == remote { seats[channel]?.shown[item] = nil }
        }
        let report = AgentReport(signal)
        if report.isPresence {
            seats[channel]?.presence = report
            return send(report, of: channel)
        }
        last += 1
        var frame = AgentFrame(.report, channel: channel)
        (frame.number, frame.report) = (last, report)
        reports.append(frame)
        if reports.count > Self.mostReports { reports.removeFirst() }
        // Else it follows who is there.
        if served.contains(channel) { link?.send(frame) }
    }

    /// Reports who is there, which is not kept: the next daemon gets it again.
    private func send(_ presence: AgentReport, of channel: String) {
        var frame = AgentFrame(.report, channel: channel)
        frame.report = presence
        if served.contains(channel) { link?.send(frame) }
    }

    private func show(_ frame: AgentFrame, on channel: String) async {
        guard let notice = frame.notice, let seat = seats[channel] else { return }
        var answer = AgentFrame(.answer, channel: channel)
        answer.number = frame.number
        do throws(DeliveryError) {
            // A daemon that ended before it heard the answer shows it again, in the same place.
            let remote = try await seat.desktop.show(
                notice, replacing: frame.remote ?? seat.shown[notice.item])
            seats[channel]?.shown[notice.item] = remote
            answer.remote = remote
        } catch {
            answer.fault = AgentFault(error)
        }
        link?.send(answer)
    }
}

/// The desktop of another user as a channel: the user's own agent shows what it sends.
package final class AgentDesktop: LevelChannel {
    private struct State {
        var waiting: [Int: CheckedContinuation<Result<RemoteID, DeliveryError>, Never>] = [:]
        var last = 0
        /// The last report of each life of an agent.
        var reported: [String: Int] = [:]
    }

    package let name: String
    package var form: any ChannelForm { desktopForm }
    package var identity: String { "desktop of \(user)" }
    package let signals: AsyncStream<SurfaceSignal>
    /// Whose desktop it is, by name or number.
    let user: String

    /// How long an agent may take: its own server has a deadline of a few seconds.
    private static let patience = Duration.seconds(30)
    /// How many reports wait to be read; agents repeat none that was received.
    private static let mostReports = 512
    private static let livesKept = 16

    private let desktopForm: DesktopForm
    private let hub: AgentHub
    private let clock: any WallClock
    private let signal: AsyncStream<SurfaceSignal>.Continuation
    private let state = Mutex(State())

    /// The desktop of the form's user, whose agents connect at `hub`.
    package init(name: String, form: DesktopForm, user: String, hub: AgentHub, clock: any WallClock) {
        (self.name, desktopForm, self.user, self.hub, self.clock) = (name, form, user, hub, clock)
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostReports))
    }

    package func run() async throws {
        signal.yield(.unavailable("nobody shows it: \(missing)"))
        hub.attach(self)
        defer {
            hub.detach(self)
            // Nobody answers any more, and whoever shows something now waits for that before the channel ends.
            fail(.unreachable(.disconnected, detail: "the channel is no longer served"))
        }
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        for await _ in never {}
        try Task.checkCancellation()
    }

    private var missing: String { "belfry agent does not run in the session of \(user)" }

    // MARK: What the agent reports

    func receive(_ frame: AgentFrame, from instance: String) {
        switch frame.kind {
        case .answer:
            guard let number = frame.number,
                let waiting = state.withLock({ $0.waiting.removeValue(forKey: number) })
            else { return }
            if let remote = frame.remote {
                waiting.resume(returning: .success(remote))
            } else {
                waiting.resume(
                    returning: .failure(frame.fault?.error ?? .giveUp(.badAnswer, detail: "of the agent")))
            }
        case .report:
            guard let report = frame.report, let known = report.signal else { return }
            guard let number = frame.number else {
                // Who is there is reported to each daemon again, and counts each time.
                if report.isPresence { signal.yield(known) }
                return
            }
            let isNew = state.withLock { state in
                if number <= state.reported[instance] ?? 0 { return false }
                if state.reported.count >= Self.livesKept, state.reported[instance] == nil {
                    state.reported = [:]
                }
                state.reported[instance] = number
                return true
            }
            if isNew { signal.yield(known) }
        case .serve, .leave, .show, .close, .badge, .retry, .received, .hello: break
        }
    }

    /// The agent is no longer there.
    func left() {
        fail(.unreachable(.disconnected, detail: "the agent of \(user) has left"))
        signal.yield(.unavailable("nobody shows it any more: \(missing)"))
    }

    private func fail(_ error: DeliveryError) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.self)
        }
        for one in waiting { one.resume(returning: .failure(error)) }
    }

    // MARK: Showing

    package func show(
        _ notice: Notice, replacing remote: RemoteID?
    ) async throws(DeliveryError) -> RemoteID {
        var frame = AgentFrame(.show, channel: name)
        (frame.notice, frame.remote) = (notice, remote)
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        frame.number = number
        let asked = frame
        let patience = Task { [clock, hub] in
            do { try await clock.sleep(until: clock.now + Self.patience) } catch { return }
            // It hangs: who takes its place shows what waits.
            hub.drop(self)
            answer(number, .failure(.unreachable(.timeout, detail: "the agent of \(user)")))
        }
        defer { patience.cancel() }
        let result = await withCheckedContinuation { continuation in
            state.withLock { $0.waiting[number] = continuation }
            if !hub.send(asked, of: self) {
                answer(number, .failure(.unreachable(.noServer, detail: missing)))
            }
        }
        return try result.get()
    }

    private func answer(_ number: Int, _ result: Result<RemoteID, DeliveryError>) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: result)
    }

    package func close(_ remote: RemoteID) async {
        var frame = AgentFrame(.close, channel: name)
        frame.remote = remote
        _ = hub.send(frame, of: self)
    }

    package func showBadge(_ unread: Int) async {
        var frame = AgentFrame(.badge, channel: name)
        frame.unread = unread
        _ = hub.send(frame, of: self)
    }

    package func retryNow() async { _ = hub.send(AgentFrame(.retry, channel: name), of: self) }
}
