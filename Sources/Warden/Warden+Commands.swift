import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

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
        for run in runs.values where !run.reports.isEmpty { connections.sendReports(of: run) }
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
        case .input(let key, let offset, let bytes): streams.inputs.give(key, bytes, at: offset)
        case .closeInput(let key): streams.inputs.end(key)
        case .resize(let key, let size): streams.inputs.resize(key, size)
        case .signal(let key, let number): signal(key, number)
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
        sendEverything()
    }

    private func sendEverything() {
        for run in runs.values.sorted(by: { $0.startedAt < $1.startedAt }) {
            connections.send(run.startedMessage)
            connections.sendReports(of: run)
        }
        for entry in outcomes.inOrder { connections.send(entry) }
        connections.send(.caughtUp)
    }

    private func sendState(_ key: RunKey) {
        if let run = runs[key] {
            connections.send(run.startedMessage)
        } else if let entry = outcomes[key] {
            connections.send(entry)
        } else {
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

    private func begin(_ order: ProcessOrder, _ attachment: Attachment?) throws(StartRefused) {
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
