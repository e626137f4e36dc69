import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking

/// Reads the daemon's live states and shows them until it is stopped.
final class LiveWatcher {
    private let client: DaemonClient
    private let feed: EventFeed
    private let screen: LiveScreen
    private let signals: TerminalSignals
    /// Nil where rows are not redrawn in place.
    private let keys: LiveKeys?
    private var reconnection = Reconnection()
    private let clock = ContinuousClock()
    private var lastDrawn: ContinuousClock.Instant?
    /// Whether a reply is read, which comes without an event of the run for each of its words.
    private var readsReply = false
    /// How long a reply waits to be read.
    private static let replyWait = Duration.milliseconds(200)
    /// Ten frames a second are smooth; more are only bytes.
    private static let frame = Duration.milliseconds(100)

    /// Opens the feed, so that nothing that happens from now on is missed.
    ///
    /// Where it does not take keys, what is typed waits for the shell.
    init(
        _ client: DaemonClient, _ common: CommonOptions, _ progress: TerminalTraits.Progress,
        osc: TerminalTraits.Wish, takesKeys: Bool
    ) throws {
        self.client = client
        let traits = TerminalTraits(
            progress: common.json ? .json : progress, color: common.color, taskbar: osc,
            isTerminal: StandardOutput.isTerminal, environment: Machine.environment)
        screen = LiveScreen(traits)
        signals = TerminalSignals(ownsTerminal: traits.progress == .live)
        var query = EventsQuery()
        query.live = true
        feed = try EventFeed(of: client, query: query)
        keys = traits.progress == .live ? LiveKeys(isReading: takesKeys) : nil
    }

    /// Shows one run until it has ended, and returns it as it ended.
    ///
    /// Ends the process with 130 when the user asked for it; the run goes on.
    func follow(_ run: WireRun) throws -> WireRun {
        defer { close() }
        guard var known = try refreshed(run) else { throw APIError(.noSuchRun) }
        var reply = FollowedReply(of: known, client)
        while !known.state.isEnded {
            screen.show(waiting: known)
            reply.begin(with: known.live?.phase)
            if let text = reply.read() { screen.show(reply: text) }
            readsReply = reply.isOpen
            let arrival = try arrival(while: known)
            switch arrival {
            case .event(let event):
                let about = try self.about(run, event)
                reply.begin(with: about.phase)
                if about.mayHaveEnded, let newer = try refreshed(known) { known = newer }
            case .nothing:
                // How many are before it changes with the ends of others.
                if known.waitsFor != nil, let newer = try refreshed(known) { known = newer }
            case .broken:
                if let newer = try? refreshed(known) { known = newer }
            }
        }
        if screen.isForPeople, let text = reply.read(toEnd: true) { screen.show(reply: text) }
        if let live = known.live { try screen.show(live, of: known) }
        return known
    }

    /// What comes next; whoever leaves by Ctrl-C is shown how to come back.
    private func arrival(while run: WireRun) throws -> EventFeed.Arrival {
        do {
            return try next(left: 128 + SIGINT)
        } catch let exit as ExitCode where exit.rawValue == 128 + SIGINT {
            if let name = run.name, screen.isForPeople {
                StandardError.print(
                    "\(name) is still active. Follow it: belfry watch \(name); end it: belfry run cancel \(name)"
                )
            }
            throw exit
        }
    }

    /// Shows every run; ends the process when the user asked for it.
    ///
    /// `isIdle` says that no run is active.
    func watch(isIdle: Bool) throws {
        defer { close() }
        if isIdle { screen.showIdle() }
        while true {
            guard case .event(let event) = try next(left: 0), event.name == "live" else { continue }
            try show(event)
        }
    }

    /// Whether an event says that a run may have ended, and the phase it is in; shows it when it is a live state of the
    /// run.
    private func about(
        _ run: WireRun, _ event: ServerSentEvent
    ) throws -> (mayHaveEnded: Bool, phase: String?) {
        guard event.name != "live" else {
            let live = try WireCoding.decode(WireLive.self, from: event.data.utf8)
            guard live.taskId == run.id else { return (false, nil) }
            // The end is shown once the run itself is known to have ended, with what it ended by.
            if !live.state.isEnded { try screen.show(live) }
            return (live.state.isEnded, live.phase)
        }
        return (try WireCoding.decode(WireEvent.self, from: event.data.utf8).run == run.id, nil)
    }

    private func show(_ event: ServerSentEvent) throws {
        let live = try WireCoding.decode(WireLive.self, from: event.data.utf8)
        guard live.state.isEnded || live.state == .queued, let name = RunName(live.run) else {
            try screen.show(live)
            return
        }
        let run: WireRun? = try? client.ask(Endpoints.run(name))
        try screen.show(live, of: run)
    }

    private func refreshed(_ run: WireRun) throws -> WireRun? {
        guard let name = run.name.flatMap({ RunName($0) }) else { return nil }
        return try client.ask(Endpoints.run(name))
    }

    private func close() {
        screen.close()
        keys?.leave()
    }

    /// Stops until the shell continues us, with the terminal as it was before.
    private func stop() {
        close()
        kill(getpid(), SIGSTOP)
    }

    /// The next arrival; draws before it waits, and exits with `left` when `q` was pressed.
    private func next(left: Int32) throws -> EventFeed.Arrival {
        if signals.takeStop() { stop() }
        if signals.takeContinuation() {
            keys?.enter()
            lastDrawn = nil
        }
        if let signal = signals.next() {
            close()
            throw ExitCode(128 + signal)
        }
        if keys?.isQuitPressed() == true {
            close()
            throw ExitCode(left)
        }
        let arrival = try feed.next(timeout: draw(), or: keys?.descriptor)
        if arrival == .broken { try reconnection.wait() } else { reconnection.succeeded() }
        return arrival
    }

    /// Draws when the last frame is old enough, and returns how long to wait for the next one.
    private func draw() -> Duration {
        let age = lastDrawn.map { clock.now - $0 }
        if let age, age < Self.frame { return Self.frame - age }
        screen.draw()
        lastDrawn = clock.now
        return readsReply ? min(Self.replyWait, screen.longestWait) : screen.longestWait
    }
}
