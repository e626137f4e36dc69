package import Delivery
import Synchronization
package import Timeline

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
        defer { hub.detach(self) }
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        for await _ in never {}
        try Task.checkCancellation()
    }

    private var missing: String { "belfry agent does not run in the session of \(user)" }

    // MARK: What the agent says

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
                // Who is there is said again to each daemon, and counts as often as it is said.
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
