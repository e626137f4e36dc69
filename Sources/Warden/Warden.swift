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
