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

    /// A run that ended and was not acknowledged.
    struct Ended {
        var record: ExitRecord
        var reports = KeptReports()
        var isSaved = false
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
    var store: RecordStore
    var starter: RunStarter
    var groups: ControlGroups
    var ownSize = OwnSize()
    /// Nil where the kernel does not list them.
    let children = ChildList()
    var runs: [RunKey: Run] = [:]
    var keys: [Int32: RunKey] = [:]
    /// Runs of this round whose pipes nobody waits for yet: those that are short have ended when it has.
    var fresh: [Run] = []
    var ended: [RunKey: Ended] = [:]
    var leftovers: [UInt64: LeftoverPipe] = [:]
    /// What earlier attempts left running and is being ended, by the run's id.
    var endings: [String: Leftovers] = [:]
    /// What those who were attached to runs that ended have not read yet.
    var lastWords: [UInt64: OutputSink] = [:]
    /// Streams that wait for their order, by token.
    var attachments: [String: Attachment] = [:]
    var links: [UInt64: DaemonLink] = [:]
    /// The link that said hello last.
    var daemon: UInt64?
    /// Since when there is no daemon, since boot.
    var awaySince: Duration?
    /// Since when there is neither run nor daemon, since boot.
    var idleSince: Duration?
    /// Not before then, since boot, is the state folder tried again after it refused an outcome.
    var saveNotBefore = Duration.zero
    /// TERM came: end as soon as no run is left.
    var isEnding = false
    var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Of the shared folder; of its own one when it is retired.
    var lock: StateLock
    /// Whether it starts nothing any more, because another warden is in charge.
    var isRetired = false
    private let poll: EventPoll
    private let signals: Descriptor
    private let timer: Descriptor
    let listener: Descriptor
    private var sources: [UInt64: Source] = [:]
    private var tokens: [Int32: UInt64] = [:]
    private var lastToken: UInt64 = 0
    private var armedFor: Duration?
    /// The process with which this one ends.
    private let tie: ProcessHandle?
    private var isCut = false

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
        store = try RecordStore(directory: options.directory, state: options.state)
        groups = options.usesControlGroups ? ControlGroups(below: .own()) : ControlGroups()
        starter = try RunStarter(
            directory: options.directory, state: options.state, environment: Machine.environment,
            keeping: RetiredWardens(directory: options.directory).working)
        poll = try EventPoll()
        signals = try Self.takeSignals()
        timer = try Descriptor(
            timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK)), call: "timerfd_create")
        let path = options.directory + "/warden.sock"
        unsafe unlink(path)
        listener = try LocalSocket.listen(path)
        tie = try Self.findTie()
        try watch(signals.raw, .signals)
        try watch(timer.raw, .timer)
        try watch(listener.raw, .listener)
        if let tie { try watch(tie.raw, .tie) }
        awaySince = .sinceBoot
        takeOver()
    }

    /// Works until nothing is left to do; see ``WardenOptions``.
    package func run() throws(HostError) {
        while true {
            let now = Duration.sinceBoot
            keepTimes(now)
            flushLinks()
            if isOver(now) { break }
            arm()
            for ready in try poll.wait() { serve(ready) }
            watchFresh()
            if isCut { break }
        }
        saveOutcomes()
        groups.close()
        leaveFolder()
    }

    func watch(
        _ descriptor: Int32, _ source: Source, _ interest: EventPoll.Interest = .reading
    ) throws(HostError) {
        lastToken += 1
        try poll.add(descriptor, lastToken, interest)
        sources[lastToken] = source
        tokens[descriptor] = lastToken
    }

    /// Waits for it no more.
    ///
    /// One that is closed next, and is open nowhere else, leaves the poll by that.
    func unwatch(_ descriptor: Int32, closesNext: Bool = true) {
        guard let token = tokens.removeValue(forKey: descriptor) else { return }
        sources[token] = nil
        if !closesNext { poll.remove(descriptor) }
    }

    func isWatched(_ descriptor: Int32) -> Bool { tokens[descriptor] != nil }

    /// What is watched already belongs to somebody else from here on.
    func reassign(_ descriptor: Int32, to source: Source) {
        if let token = tokens[descriptor] { sources[token] = source }
    }

    func setInterest(_ descriptor: Int32, _ interest: EventPoll.Interest) {
        guard let token = tokens[descriptor] else { return }
        try? poll.change(descriptor, token, interest)
    }

    private func serve(_ ready: EventPoll.Ready) {
        // What another event of this round removed is gone.
        guard let source = sources[ready.token] else { return }
        switch source {
        case .signals: readSignals()
        case .timer: readTimer()
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

    /// The process to end with, by ``WardenLaunch/tieVariable``; throws when it is gone already.
    private static func findTie() throws(HostError) -> ProcessHandle? {
        guard let text = Machine.environment[WardenLaunch.tieVariable], let pid = Int32(text) else {
            return nil
        }
        return try ProcessHandle(pid: pid, startTime: ProcessTable.entry(pid)?.startTime ?? 0)
    }

    /// The process to end with is gone: nobody wants the runs, and nobody will ask how they ended.
    private func cut() {
        for run in runs.values { run.tree.kill() }
        collectChildren()
        isCut = true
    }

    /// Whether somebody attached still gets output of a run that ended.
    var passesOutputOn: Bool { !lastWords.isEmpty || leftovers.values.contains { $0.sink != nil } }

    private func isOver(_ now: Duration) -> Bool {
        guard runs.isEmpty, !passesOutputOn else { return false }
        if isEnding { return true }
        if isRetired { return hasFinished(now) }
        guard options.endsWhenIdle, let idleSince else { return false }
        return now - idleSince >= .seconds(10)
    }

    private func readSignals() {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(signals.raw, &info, size) == size {
            switch Int32(info.ssi_signo) {
            case SIGCHLD: collectChildren()
            case SIGTERM, SIGINT:
                isEnding = true
                if !runs.isEmpty { retire() }
            default: break  // A terminal that hangs up is no reason to end.
            }
        }
    }

    private func readTimer() {
        var count: UInt64 = 0
        unsafe read(timer.raw, &count, MemoryLayout<UInt64>.size)
        armedFor = nil
    }

    /// Sets the one timer to the earliest time anybody has to keep.
    private func arm() {
        var next = runs.values.compactMap(\.deadline).min()
        func include(_ instant: Duration?) {
            if let instant { next = min(next ?? instant, instant) }
        }
        include(saveDeadline)
        include(endingDeadline)
        if options.endsWhenIdle { include(idleSince.map { $0 + .seconds(10) }) }
        if isRetired, runs.isEmpty { include(awaySince.map { $0 + .seconds(2) }) }
        guard next != armedFor else { return }
        armedFor = next
        var setting = itimerspec()
        if let next {
            // A microsecond later than asked, because the rest below it was cut; zero would disarm.
            let microseconds = Int(max(0, next.microseconds)) + 1
            setting.it_value = timespec(
                tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1000)
        }
        unsafe timerfd_settime(timer.raw, Int32(TFD_TIMER_ABSTIME), &setting, nil)
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
