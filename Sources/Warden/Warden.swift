import CLinux
import Glibc
package import Host
import Performing
import Timeline
import WardenProtocol

/// The warden: one thread that waits for commands, exits and output, and never for anything else.
///
/// Asleep it costs nothing: there is no timer unless a run has a deadline. This is the loop; each object below has one
/// part of the work.
package final class Warden {
    let watches: Watches
    private let sources: LoopSources
    var phase: WardenPhase

    /// The attempts that are alive.
    let runs = RunTable()
    /// How attempts ended that nobody has acknowledged.
    let outcomes: Outcomes
    /// The daemon, and whoever is attached from a terminal.
    let connections: Connections
    /// What runs print, report and read.
    let streams: RunStreams
    let launcher: RunLauncher
    let reaper: RunReaper
    let inheritance: Inheritance
    let folder: WardenFolder

    /// Takes the directory, reads what an earlier warden left in it, and listens.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` when another warden has the directory.
    package init(_ options: WardenOptions) throws(HostError) {
        umask(0o077)
        folder = try WardenFolder(options.directory, state: options.state)
        guard clinux_set_child_subreaper() == 0 else { throw .last("prctl") }
        let bootID = try Machine.bootID()
        outcomes = Outcomes(store: try folder.makeStore(), hasState: options.state != nil)
        let groups = options.usesControlGroups ? ControlGroups(below: .own()) : ControlGroups()
        launcher = try RunLauncher(
            RunStarter(
                directory: options.directory, state: options.state, environment: Machine.environment,
                keeping: folder.retired.working),
            bootID: bootID, runs: runs, outcomes: outcomes, groups: groups)
        watches = try Watches()
        sources = try LoopSources(watchedBy: watches)
        let buffer = ReadBuffer()
        connections = try Connections(
            listeningAt: folder.socket, identity: Self.identity(bootID: bootID), watches: watches,
            buffer: buffer)
        streams = RunStreams(runs: runs, watches: watches, connections: connections, buffer: buffer)
        reaper = RunReaper(
            runs: runs, outcomes: outcomes, groups: groups, watches: watches, connections: connections,
            streams: streams)
        inheritance = Inheritance(
            bootID: bootID, runs: runs, outcomes: outcomes, groups: groups, watches: watches, reaper: reaper)
        phase = WardenPhase(endsWhenIdle: options.endsWhenIdle)
        inheritance.takeOver(from: folder.retired)
    }

    private static func identity(bootID: String) -> WardenHello {
        let pid = getpid()
        return WardenHello(
            pid: pid, startTime: ProcessTable.entry(pid)?.startTime ?? 0, bootID: bootID, runs: 0,
            build: Machine.environment[WardenLaunch.buildVariable] ?? Machine.build(of: "/proc/self/exe"))
    }

    /// Works until nothing is left to do; see ``WardenOptions``.
    package func run() throws(HostError) {
        while true {
            let now = Duration.sinceBoot
            advance(to: now)
            flushConnections()
            if isDone(now) { break }
            sources.timer.arm(for: nextDeadline)
            for ready in try watches.wait() { serve(ready) }
            watchFresh()
            if phase.isCut { break }
        }
        outcomes.save()
        launcher.groups.close()
        folder.leave()
    }

    private func serve(_ ready: EventPoll.Ready) {
        guard let source = watches.source(of: ready) else { return }
        switch source {
        case .signals: serveSignals()
        case .timer: sources.timer.clear()
        case .listener: connections.accept(makingRoom: drop)
        case .tie: cut()
        case .link(let id): if ready.isReadable { serveConnection(id) }
        case .output(let key, let stream):
            if ready.isWritable { streams.inputs.serve(key, ready) }
            if ready.isReadable { readOutput(key, stream) }
        case .sink(let key, let stream): streams.outputs.flushSink(of: key, stream)
        case .input(let key): streams.inputs.serve(key, ready)
        case .progress(let key): streams.outputs.readProgress(key)
        case .notify(let key): streams.outputs.serveNotifySocket(of: key)
        case .orphan(let key): reaper.orphanEnded(key)
        case .lastWords(let id): streams.late.flushLastWords(id)
        case .leftover(let id): streams.late.read(id)
        case .leftoverSink(let id): streams.late.flush(id)
        }
    }

    private func readOutput(_ key: RunKey, _ stream: JobStream) {
        guard let run = runs[key] else { return }
        streams.outputs.read(stream, of: run)
        if run.exit != nil { reaper.settle(run, .sinceBoot) }
        streams.outputs.waitForSink(of: run, stream)
    }

    private func serveSignals() {
        for signal in sources.readSignals() {
            switch signal {
            case SIGCHLD: reaper.collectChildren()
            case SIGTERM, SIGINT:
                phase.isEnding = true
                if !runs.isEmpty { retire() }
            default: break  // A terminal that hangs up is no reason to end.
            }
        }
    }

    /// Watches the pipes of the runs that this round started, unless they have ended meanwhile.
    private func watchFresh() {
        guard runs.hasFresh else { return }
        reaper.collectChildren()
        for run in runs.removeFresh() { streams.watchPipes(of: run) }
    }

    /// The process to end with has ended: nobody wants the runs, and nobody will ask how they ended.
    private func cut() {
        for run in runs.values { run.tree.kill() }
        reaper.collectChildren()
        phase.isCut = true
    }

    // MARK: Deadlines

    private func isDone(_ now: Duration) -> Bool {
        guard runs.isEmpty, !streams.late.isPassedOn else { return false }
        if phase.isEnding { return true }
        if folder.isRetired { return hasFinished(now) }
        return phase.idleDeadline.map { $0 <= now } ?? false
    }

    /// Whether a retired warden has nothing left to do: its outcomes are acknowledged, or wait for the
    /// warden in charge, which takes their records over.
    private func hasFinished(_ now: Duration) -> Bool {
        outcomes.isEmpty || connections.awaySince.map { now - $0 >= .seconds(2) } ?? false
    }

    /// Does everything whose time has come.
    private func advance(to now: Duration) {
        for run in runs.values where run.deadline.map({ $0 <= now }) ?? false { reaper.advance(run, to: now) }
        launcher.predecessors.advance(to: now)
        if let deadline = saveDeadline, deadline <= now { outcomes.save() }
        phase.note(
            isIdle: runs.isEmpty && connections.daemon == nil && !connections.hasAttachments
                && !streams.late.isPassedOn, at: now)
    }

    /// When outcomes that nobody fetched are saved, since boot; nil when there are none.
    private var saveDeadline: Duration? { outcomes.saveDeadline(awaySince: connections.awaySince) }

    /// The earliest deadline of all, since boot.
    private var nextDeadline: Duration? {
        var deadlines = runs.values.map(\.deadline)
        deadlines += [saveDeadline, launcher.predecessors.deadline, phase.idleDeadline]
        if folder.isRetired, runs.isEmpty { deadlines.append(connections.awaySince.map { $0 + .seconds(2) }) }
        return deadlines.compactMap { $0 }.min()
    }
}

/// How far the warden is from its end.
struct WardenPhase {
    /// How long a warden that a daemon launched stays without run and daemon.
    static let idleTime = Duration.seconds(10)

    /// Whether it ends once it has been idle for that long.
    private let endsWhenIdle: Bool
    /// TERM came: it ends as soon as no run is left.
    var isEnding = false
    /// The process it is tied to has ended: it ends now.
    var isCut = false
    /// Since when there is neither run nor daemon, since boot.
    private var idleSince: Duration?

    init(endsWhenIdle: Bool = true) { self.endsWhenIdle = endsWhenIdle }

    /// Notes whether there is neither run nor daemon.
    mutating func note(isIdle: Bool, at now: Duration) {
        idleSince = isIdle ? idleSince ?? now : nil
    }

    /// When it ends because it is idle, since boot; nil: it does not.
    var idleDeadline: Duration? { endsWhenIdle ? idleSince.map { $0 + Self.idleTime } : nil }
}

// What a connection asks for: the daemon everything, a terminal only what concerns its own run.

extension Warden {
    func serveConnection(_ id: UInt64) {
        do throws(WardenError) {
            let isOpen = try connections.receive(id)
            while let command = try connections.nextCommand(of: id) { obey(command, from: id) }
            if !isOpen { drop(id) }
        } catch {
            // A peer that sends nonsense is disconnected; nothing it sent before is undone.
            drop(id)
        }
    }

    /// Sends everything that has room.
    func flushConnections() {
        for run in runs.values where run.reports.hasUnsent { connections.sendReports(of: run) }
        for id in connections.flush() { drop(id) }
    }

    func drop(_ id: UInt64) {
        guard let (link, wasDaemon) = connections.remove(id) else { return }
        streams.outputs.detach(id, link)
        if wasDaemon { streams.outputs.watchNotifySockets() }
    }

    private func obey(_ command: WardenCommand, from id: UInt64) {
        if connections[id]?.isTerminal == true { return obeyTerminal(command, from: id) }
        switch command {
        case .hello: welcome(id)
        case .start(let order): start(order)
        case .cancel(let key, let reason): cancel(key, reason)
        case .query(let key?): sendState(key)
        case .query(nil): sendEverything()
        case .acknowledge(let key): outcomes.acknowledge(key)
        case .acknowledgeReports(let key, let number): runs[key]?.reports.acknowledge(through: number)
        case .input(let key, let offset, let bytes): streams.inputs.give(key, bytes, at: offset)
        case .closeInput(let key): streams.inputs.end(key)
        case .resize(let key, let size): streams.inputs.resize(key, size)
        case .signal(let key, let number): signal(key, number)
        case .pause(let key): pause(key)
        case .resume(let key): resume(key)
        case .retire: retire()
        case .offer, .attach, .endStream: break  // A terminal's, not a daemon's.
        }
    }

    /// A terminal may have its own run signaled and fed, and nothing else.
    private func obeyTerminal(_ command: WardenCommand, from id: UInt64) {
        let own = connections[id]?.key
        switch command {
        case .attach(let token): if !connections.attach(id, token) { drop(id) }
        case .endStream(let stream): endStream(stream, of: id)
        case .signal(let key, let number) where key == own:
            // A run that a person ends, in whatever way it takes it, has not failed.
            if [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(Int32(number)) { runs[key]?.wasAskedToEnd = true }
            signal(key, number)
        case .input(let key, let offset, let bytes) where key == own:
            streams.inputs.give(key, bytes, at: offset)
        case .closeInput(let key) where key == own: streams.inputs.end(key)
        case .resize(let key, let size) where key == own: streams.inputs.resize(key, size)
        default: break
        }
    }

    /// The terminal's reader of this stream closed it: the job's pipe breaks, as it would without a warden.
    private func endStream(_ number: Int, of id: UInt64) {
        guard let key = connections[id]?.key, let run = runs[key], let stream = JobStream(number) else {
            return
        }
        // A terminal that nobody looks at has hung up.
        if streams.outputs.breakStream(stream, of: run) { signal(key, Int(SIGHUP)) }
    }

    // MARK: The daemon's questions

    /// A daemon is there: it gets everything that is known, and the jobs' notify sockets.
    private func welcome(_ id: UInt64) {
        if let old = connections.daemon, old != id { drop(old) }
        connections.welcome(id)
        if !folder.isRetired { inheritance.adopt(from: folder.retired) }
        connections.sendHello(runs: runs.count)
        for run in runs.values { run.reports.forgetConnection() }
        outcomes.forgetConnection()
        sendEverything()
    }

    private func sendEverything() {
        for run in runs.values.sorted(by: { $0.startedAt < $1.startedAt }) {
            connections.send(run.startedMessage)
            connections.sendReports(of: run)
        }
        for entry in outcomes.inOrder { outcomes.send(entry.record.key, to: connections) }
        connections.send(.caughtUp)
    }

    private func sendState(_ key: RunKey) {
        if let run = runs[key] {
            connections.send(run.startedMessage)
        } else if !outcomes.send(key, to: connections) {
            connections.send(.unknown(key))
        }
    }

    // MARK: Starting and ending

    private func start(_ order: ProcessOrder) {
        let key = order.key
        // Repeated: the answer is the state of the attempt, and nothing is started.
        guard runs[key] == nil, outcomes[key] == nil else { return sendState(key) }
        do throws(StartRefused) {
            let attachment = try connections.takeAttachment(order)
            do throws(StartRefused) {
                try begin(order, attachment)
            } catch {
                if let attachment { connections[attachment.link]?.send(error.message(about: key).frame) }
                throw error
            }
        } catch {
            connections.send(error.message(about: key))
        }
    }

    private func begin(_ order: ProcessOrder, _ attachment: OfferedStreams?) throws(StartRefused) {
        guard !folder.isRetired else {
            throw StartRefused(.exhausted, "this warden only finishes its runs; a newer one is in charge")
        }
        try launcher.checkRoom(besides: connections.heldDescriptors + streams.late.heldDescriptors)
        let run = try launcher.start(order, attachment)
        connections.send(run.startedMessage)
        if attachment == nil, run.pipes?.input == nil, run.pipes?.terminal == nil {
            runs.addFresh(run)
        } else {
            streams.watchPipes(of: run)
        }
        if let attachment { connections.join(attachment, to: run) }
    }

    private func cancel(_ key: RunKey, _ reason: String) {
        guard let run = runs[key], run.exit == nil else { return sendState(key) }
        run.tree.obey(run.ladder.cancel(reason, at: .sinceBoot))
    }

    /// Stops the run's tree, and its time; what somebody else continued meanwhile is stopped again.
    private func pause(_ key: RunKey) {
        guard let run = runs[key], run.exit == nil else { return }
        let (now, wasPaused) = (Duration.sinceBoot, run.ladder.pausedAt != nil)
        guard run.ladder.pause(at: now) else { return }
        // First the journal: a warden that takes over has the daemon's next pause stop what is left to stop.
        if !wasPaused { note(AttemptFile.pausingFrame(at: now), of: run) }
        run.tree.pause()
    }

    /// Continues the run's tree, and its time.
    private func resume(_ key: RunKey) {
        let now = Duration.sinceBoot
        guard let run = runs[key], run.ladder.resume(at: now) else { return }
        // The journal last: a warden that takes over resumes what it finds paused.
        run.tree.resume()
        note(AttemptFile.resumingFrame(at: now), of: run)
    }

    /// Adds what happened to the run's record; one that can't be written is only of use to a warden that takes over.
    private func note(_ frame: [UInt8], of run: Run) {
        if let file = run.record {
            try? file.writeAll(frame[...])
        } else {
            try? outcomes.store.append(frame, to: run.key)
        }
    }

    /// Sends a signal to the first process's group, and to the group that has the terminal.
    private func signal(_ key: RunKey, _ number: Int) {
        // Once it has ended its id may belong to somebody else.
        guard let run = runs[key], run.exit == nil else { return sendState(key) }
        kill(-run.pid, Int32(number))
        if let group = run.pipes?.terminal?.foregroundGroup, group != run.pid {
            kill(-group, Int32(number))
        }
    }

    /// Leaves the folder to another warden, and only finishes what runs here.
    ///
    /// A folder that could not be left is still in charge: the next warden will try again.
    func retire() {
        if folder.retire(outcomes) { connections.send(.retired) }
    }
}
