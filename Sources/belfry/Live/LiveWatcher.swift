import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Timeline
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
    /// Frames that follow each other faster are only bytes.
    private let frame: Duration

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
        frame = traits.frame
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
        if let age, age < frame { return frame - age }
        screen.draw()
        lastDrawn = clock.now
        return readsReply ? min(Self.replyWait, screen.longestWait) : screen.longestWait
    }
}

/// The reply that the run writes which is watched alone.
struct FollowedReply {
    private let client: DaemonClient
    private let run: WireRun
    /// Nil: it is not being written, or nobody knows yet.
    private var output: ReplyOutput?
    /// Whether its output is a reply; nil: nobody has asked.
    private var isReply: Bool?

    init(of run: WireRun, _ client: DaemonClient) {
        (self.run, self.client) = (run, client)
    }

    /// Whether there may be more to read.
    var isOpen: Bool { output?.hasEnded == false }

    /// The run is in this phase: reads its output from here on where that is a reply.
    mutating func begin(with phase: String?) {
        guard output == nil, phase == ReplyPhase.writing, let name = run.name.flatMap({ RunName($0) }) else {
            return
        }
        // A job of another kind may have a phase of that name.
        let isReply = isReply ?? (run.kind == "reply" || isPrompt)
        self.isReply = isReply
        if isReply { output = ReplyOutput(of: name, client) }
    }

    private var isPrompt: Bool {
        let job: WireJob? = try? client.ask(Endpoints.job(run.job))
        return job?.kind == "prompt"
    }

    /// What came since the last call, and with `toEnd` the rest of the reply of a run that has ended; nil: nothing.
    ///
    /// One that can't be read is no reason not to follow its run.
    mutating func read(toEnd: Bool = false) -> String? {
        guard let output else { return nil }
        var text = ""
        do throws(APIError) {
            while true {
                try output.receive(timeout: toEnd ? .milliseconds(500) : .zero)
                let more = output.drain()
                text += more
                if output.hasEnded || more.isEmpty && !toEnd { break }
            }
        } catch {
            self.output = nil
        }
        return text.isEmpty ? nil : text
    }
}

/// The pauses between the tries to reach a daemon again: one that is restarted is back within seconds.
struct Reconnection {
    /// Printed once where it takes long, and then there is no end of tries; nil: it gives up after half a minute.
    private let note: String?
    private let longestPause: Duration
    private var failures = 0
    private var waited = Duration.zero

    /// After so many failures in a row the note is printed.
    private static let failuresUntilNote = 10
    private static let limit = Duration.seconds(30)

    /// Gives up after half a minute of failures, or never where there is a `note` to print.
    init(longestPause: Duration = .seconds(2), note: String? = nil) {
        (self.longestPause, self.note) = (longestPause, note)
    }

    /// The daemon answered.
    mutating func succeeded() { (failures, waited) = (0, .zero) }

    /// Waits before the next try, longer after each failure.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/connectionLost`` after the last try.
    mutating func wait() throws(APIError) {
        failures += 1
        if let note {
            if failures == Self.failuresUntilNote { StandardError.print(note) }
        } else if waited >= Self.limit {
            throw APIError(
                .connectionLost, "the daemon closed the connection and did not come back",
                hint: "Start one with: belfryd")
        }
        let pause = min(.milliseconds(100) * failures, longestPause)
        waited += pause
        usleep(UInt32(pause.milliseconds * 1000))
    }
}
