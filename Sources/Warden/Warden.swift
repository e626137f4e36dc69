import CLinux
import Glibc
package import Host
import Performing
import Timeline
import WardenProtocol

/// The warden: one thread that waits for commands, exits and output, and never for anything else.
///
/// Asleep it costs nothing: there is no timer unless a run has a time to keep.
package final class Warden {
    /// What a descriptor in the poll belongs to.
    enum Source {
        case signals, timer, listener, tie
        case link(UInt64)
        case output(RunKey, OutputStream), progress(RunKey), notify(RunKey), input(RunKey), orphan(RunKey)
        /// Somebody attached who takes copies of the output more slowly than they come.
        case sink(RunKey, OutputStream)
        /// The same, of a run that ended.
        case lastWords(UInt64)
        /// The output of a run that ended, still held open by a process it left behind.
        case leftover(UInt64)
        /// Somebody attached who takes that more slowly than it comes.
        case leftoverSink(UInt64)
    }

    let options: WardenOptions
    let bootID: String
    /// Which program this is; see ``Machine/build(of:)``.
    let build: String?
    /// How many descriptors this process may have open.
    ///
    /// Not raised: jobs inherit it, and some programs
    /// break on a large one.
    let descriptorLimit: Int
    var starter: RunStarter
    var groups: ControlGroups
    var ownSize = OwnSize()
    /// Nil where the kernel does not list them.
    let children = ChildList()
    var runs = RunTable()
    var outcomes: Outcomes
    var late = LateOutputs()
    var endings = PredecessorEndings()
    /// Streams that wait for their order, by token.
    var attachments: [String: Attachment] = [:]
    var links = Links()
    var phase = WardenPhase()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Of the shared folder; of its own one when it is retired.
    var lock: StateLock
    let watches: Watches<Source>
    private let timer: LoopTimer
    private let signals: Descriptor
    let listener: Descriptor
    /// The process with which this one ends.
    private let tie: ProcessHandle?

    /// Takes the directory, reads what an earlier warden left in it, and listens.
    ///
    /// - Throws: ``HostError/held(path:pid:)`` when another warden has the directory.
    package init(_ options: WardenOptions) throws(HostError) {
        self.options = options
        umask(0o077)
        try PrivateFolder.make(options.directory)
        lock = try StateLock(folder: options.directory)
        guard clinux_set_child_subreaper() == 0 else { throw .last("prctl") }
        bootID = try Machine.bootID()
        build =
            Machine.environment[WardenLaunch.buildVariable] ?? Machine.build(of: "/proc/self/exe")
        descriptorLimit = try DescriptorLimit.current()
        outcomes = Outcomes(
            store: try RecordStore(directory: options.directory, state: options.state),
            hasState: options.state != nil)
        groups = options.usesControlGroups ? ControlGroups(below: .own()) : ControlGroups()
        starter = try RunStarter(
            directory: options.directory, state: options.state, environment: Machine.environment,
            keeping: RetiredWardens(directory: options.directory).working)
        watches = try Watches()
        timer = try LoopTimer()
        signals = try Self.takeSignals()
        let path = options.directory + "/warden.sock"
        unsafe unlink(path)
        listener = try LocalSocket.listen(path)
        tie = try Self.findTie()
        try watches.add(signals.raw, .signals)
        try watches.add(timer.descriptor.raw, .timer)
        try watches.add(listener.raw, .listener)
        if let tie { try watches.add(tie.raw, .tie) }
        takeOver()
    }

    /// Works until nothing is left to do; see ``WardenOptions``.
    package func run() throws(HostError) {
        while true {
            let now = Duration.sinceBoot
            keepTimes(now)
            flushLinks()
            if isDone(now) { break }
            timer.arm(for: nextDeadline)
            for ready in try watches.wait() { serve(ready) }
            watchFresh()
            if phase.isCut { break }
        }
        outcomes.save()
        groups.close()
        leaveFolder()
    }

    private func serve(_ ready: EventPoll.Ready) {
        guard let source = watches.source(of: ready) else { return }
        switch source {
        case .signals: readSignals()
        case .timer: timer.clear()
        case .listener: acceptLinks()
        case .tie: cut()
        case .link(let id): if ready.isReadable { serveLink(id) }
        case .output(let key, let stream):
            if ready.isWritable { serveInput(key, ready) }
            if ready.isReadable { readOutput(key, stream) }
        case .sink(let key, let stream): flushSink(of: key, stream)
        case .lastWords(let id): flushLastWords(id)
        case .input(let key): serveInput(key, ready)
        case .progress(let key): readProgress(key)
        case .notify(let key): notified(key)
        case .orphan(let key): orphanEnded(key)
        case .leftover(let id): readLeftover(id)
        case .leftoverSink(let id): flushLeftover(id)
        }
    }

    /// The process to end with, by ``WardenLaunch/tieVariable``; throws when it has ended already.
    private static func findTie() throws(HostError) -> ProcessHandle? {
        guard let text = Machine.environment[WardenLaunch.tieVariable], let pid = Int32(text) else {
            return nil
        }
        return try ProcessHandle(pid: pid, startTime: ProcessTable.entry(pid)?.startTime ?? 0)
    }

    /// The process to end with has ended: nobody wants the runs, and nobody will ask how they ended.
    private func cut() {
        for run in runs.values { run.tree.kill() }
        collectChildren()
        phase.isCut = true
    }

    private func isDone(_ now: Duration) -> Bool {
        guard runs.isEmpty, !late.isPassedOn else { return false }
        if phase.isEnding { return true }
        if phase.isRetired { return hasFinished(now) }
        return options.endsWhenIdle && phase.idleDeadline.map { $0 <= now } ?? false
    }

    /// Does everything whose time has come.
    func keepTimes(_ now: Duration) {
        for run in runs.values where run.deadline.map({ $0 <= now }) ?? false { keepTime(of: run, now) }
        endings.advance(to: now)
        if let deadline = saveDeadline, deadline <= now { outcomes.save() }
        phase.note(
            isIdle: runs.isEmpty && links.daemon == nil && attachments.isEmpty && !late.isPassedOn, at: now)
    }

    private func keepTime(of run: Run, _ now: Duration) {
        if run.exit == nil || run.ladder.isStopping {
            run.tree.obey(run.ladder.advance(to: now))
        }
        settle(run, now)
    }

    private func readSignals() {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(signals.raw, &info, size) == size {
            switch Int32(info.ssi_signo) {
            case SIGCHLD: collectChildren()
            case SIGTERM, SIGINT:
                phase.isEnding = true
                if !runs.isEmpty { retire() }
            default: break  // A terminal that hangs up is no reason to end.
            }
        }
    }

    /// When outcomes that nobody fetched are saved, since boot; nil when there are none.
    private var saveDeadline: Duration? { outcomes.saveDeadline(awaySince: links.awaySince) }

    /// The earliest time anybody has to keep, since boot.
    private var nextDeadline: Duration? {
        var deadlines = runs.values.map(\.deadline) + [saveDeadline, endings.deadline]
        if options.endsWhenIdle { deadlines.append(phase.idleDeadline) }
        if phase.isRetired, runs.isEmpty { deadlines.append(links.awaySince.map { $0 + .seconds(2) }) }
        return deadlines.compactMap { $0 }.min()
    }

    /// From here on signals are read like any other descriptor; children get them back at their defaults.
    private static func takeSignals() throws(HostError) -> Descriptor {
        var taken = sigset_t()
        unsafe sigemptyset(&taken)
        for signal in [SIGCHLD, SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&taken, signal) }
        unsafe sigprocmask(SIG_BLOCK, &taken, nil)
        Signals.ignoreBrokenPipes()
        let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
        return try Descriptor(unsafe signalfd(-1, &taken, flags), call: "signalfd")
    }
}
