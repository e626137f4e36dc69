import API
import APIClient
import Glibc
import Host
import Ledger
import Performing
import Timeline
import Tracking
import WardenProtocol

/// A command without a daemon: a warden of its own starts it, and the run waits in the spool for the next daemon.
final class WardenRunner: ExecRunner {
    let name: String
    let wardenDirectory: String
    private let request: ExecRequest
    private let key: RunKey
    private let pid: Int32
    private var runner: ClientConnection
    private var notifySocket: Descriptor?
    private var notifyReader: NotifyReader
    private var notifyBuffer = NotifyReader.makeBuffer()
    private let spool: Spool
    private var tracker: LiveTracker
    private var scanner = OutputScanner()
    private var sequences = StatusSequences()
    private var reader = ProgressLine()

    /// Starts a warden in a folder of its own, and writes down that the run is about to begin.
    init(_ request: ExecRequest) throws {
        self.request = request
        name = request.name ?? JobName.of(program: request.command.first ?? "")
        let id = UniqueID.v7(at: .now)
        key = RunKey(run: id, attempt: 1)
        notifyReader = NotifyReader(run: id)
        let paths = Paths(.user)
        wardenDirectory = paths.runtime + "/x-" + id.suffix(12)
        let bot = request.bot ?? "belfry"
        tracker = LiveTracker(
            task: LiveTask(id: id, botID: bot, run: name, name: name, botName: bot), incarnation: 1,
            state: .starting, at: .now)
        do {
            try PrivateFolder.make(SmallFile.parent(of: paths.runtime))
            try PrivateFolder.make(paths.runtime)
            let program = try InstalledWarden.path()
            let folder = paths.state + "/spool"
            // Should we be killed, it writes down there how the run ended.
            pid = try WardenLaunch(executable: program, state: folder).start(directory: wardenDirectory)
            runner = try ClientConnection(directory: wardenDirectory)
            let hello = try runner.shakeHands()
            spool = Spool(folder: folder, request, id: id, name: name, warden: hello)
        } catch let missing as InstalledWarden.Missing {
            throw APIError(
                .wardenAway, "\(missing)",
                hint: "Install the three programs together, or start a daemon: belfryd")
        } catch let error as APIError {
            throw error
        } catch {
            throw APIError(.wardenAway, "the command can't be started: \(error)")
        }
    }

    var live: LiveState? { tracker.live }

    func place(token: String, terminal: PtySize?) throws {
        // Its log goes where it can: a run starts even if it can't be recorded.
        let log = spool.begin() ? spool.log : wardenDirectory + "/log"
        var environment = request.env
        environment["BELFRY_JOB"] = name
        for name in ["BELFRY_RUN", "BELFRY_SLOT"] { environment[name] = nil }
        environment["BELFRY_ATTEMPT"] = "1"
        environment["BELFRY_SOCKET"] = Paths(.user).socket
        var order = ProcessOrder(
            key: key, work: .command(request.command), environment: environment, folder: request.cwd,
            output: ProcessOrder.Output(path: log))
        order.umask = request.umask
        order.attachment = token
        order.pty = terminal
        if terminal != nil { order.stdin = .pty }
        send(.start(order))
    }

    private func send(_ command: WardenCommand) {
        runner.outgoing.append(command.frame)
        while runner.outgoing.isWaiting, (try? runner.outgoing.flush(to: runner.socket)) != nil {}
    }

    // MARK: What the command reports

    var sources: [(descriptor: Int32, read: () throws -> Void)] {
        var sources: [(descriptor: Int32, read: () throws -> Void)] = [
            (runner.socket.raw, { [unowned self] in read() })
        ]
        if let notifySocket {
            sources.append((notifySocket.raw, { [unowned self] in readNotifications() }))
        }
        return sources
    }

    private func read() {
        guard (try? runner.receive()) == true else { return }
        while let message = (try? runner.nextMessage()) ?? nil { apply(message) }
    }

    private func apply(_ message: WardenMessage) {
        let now = Moment.now
        switch message {
        case .started: _ = tracker.became(.running, at: now)
        case .output(_, _, let bytes):
            for report in sequences.receive(bytes[...]) { _ = tracker.receive(report, from: .osc, at: now) }
            for report in scanner.receive(bytes[...], at: now) {
                _ = tracker.receive(report, from: .text, at: now)
            }
        case .report(_, let line, _): receive(line: line)
        case .notify(_, let datagram, _): receive(datagram: datagram)
        case .notifySocket: notifySocket = runner.takeDescriptor()
        default: break
        }
    }

    private func receive(line: [UInt8]) {
        let now = Moment.now
        for report in reader.receive((line + [0x0A])[...], at: now) {
            _ = tracker.receive(report, from: .native, at: now)
        }
    }

    private func receive(datagram: [UInt8]) {
        guard let report = NotifyDatagram(datagram[...])?.report else { return }
        _ = tracker.receive(report, from: .native, at: .now)
    }

    private func readNotifications() {
        guard let notifySocket, let read = try? notifyReader.read(from: notifySocket, into: &notifyBuffer)
        else { return }
        for datagram in read.datagrams { receive(datagram: datagram) }
    }

    func nextRefresh(hasStarted: Bool, isShown: Bool) -> Duration? { isShown ? .milliseconds(500) : nil }

    func endBeforeStart(hasStarted: Bool) throws -> ExecEnd? {
        let now = Moment.now
        if let at = tracker.nextRefresh, at <= now { _ = tracker.refresh(at: now) }
        for report in scanner.receive([], at: now) { _ = tracker.receive(report, from: .text, at: now) }
        for report in reader.receive([], at: now) { _ = tracker.receive(report, from: .native, at: now) }
        return nil
    }

    /// The order is with the warden before the first signal is read.
    func withdraw() -> Bool { false }

    // MARK: The end

    /// Writes down how it ended, and ends the warden; one that still passes output on ends with that.
    func finish(_ end: ExecEnd, leavesRest: Bool) {
        read()
        readNotifications()
        for report in scanner.finish() { _ = tracker.receive(report, from: .text, at: .now) }
        for report in reader.finish() { _ = tracker.receive(report, from: .native, at: .now) }
        let outcome = end.outcome
        _ = tracker.became(outcome.state, reason: outcome.reason, at: .now)
        spool.finish(end)
        send(.acknowledge(key))
        kill(pid, SIGTERM)
        // It removes its folder itself.
        if leavesRest { return }
        waitpid(pid, nil, 0)
        FolderTree.remove(wardenDirectory)
    }
}

/// Keeps a run for the next daemon: `spool/ID.json` in the state folder, and its output beside it.
final class Spool {
    /// Where the run's output begins.
    let log: String
    private let folder: String
    private let file: String
    private var run: SpooledRun
    private var isKept = true

    init(folder: String, _ request: ExecRequest, id: String, name: String, warden: WardenHello) {
        self.folder = folder
        file = "\(folder)/\(id).json"
        log = "\(folder)/\(id).log"
        run = SpooledRun(
            id: id, job: name, command: request.command, cwd: request.cwd, startedAt: Timestamp(.now),
            watcher: ProcessMark(pid: warden.pid, startTime: warden.startTime, boot: warden.bootID))
        run.bot = request.bot
        run.notify = request.notify
        run.notifyAfterMs = request.notifyAfterMs
    }

    /// Writes down, for good, that the run is about to begin; false, after reporting it, when that can't be kept.
    func begin() -> Bool {
        do {
            try PrivateFolder.make(SmallFile.parent(of: folder))
            try PrivateFolder.make(folder)
            try save()
        } catch {
            isKept = false
            StandardError.print("belfry: this run can't be recorded: \(error)")
        }
        return isKept
    }

    /// Writes down, for good, how it ended, and notifies a daemon that has started meanwhile.
    func finish(_ end: ExecEnd) {
        guard isKept else { return }
        (run.state, run.reason) = end.outcome
        run.endedAt = Timestamp(.now)
        if case .ended(let record) = end {
            run.startedAt = Timestamp(record.startedAt)
            run.endedAt = Timestamp(record.end)
            run.exitCode = record.exitCode
            run.signal = record.signal
            run.cpuMs = record.cpu?.milliseconds
            run.maxRssKb = record.maxResidentKiB.map(Int64.init)
            let left = record.survivors.map { WireSurvivor(pid: $0.pid, name: $0.name) }
            run.survivors = left.isEmpty ? nil : left
            run.outputBytes = Int64(record.outputBytes)
        }
        do {
            try save()
        } catch {
            StandardError.print("belfry: the outcome of this run can't be recorded: \(error)")
        }
        let patience = (try? Patience.wished(else: .seconds(2))) ?? .seconds(2)
        for socket in Paths.socketsToTry().prefix(1) {
            try? DaemonClient(socket: socket, timeout: patience, longest: patience).ask(Endpoints.spool())
        }
    }

    private func save() throws {
        try SmallFile.replace(file, with: try WireCoding.encode(run), isDurable: true)
    }
}
