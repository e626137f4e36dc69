import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

extension Warden {
    func obey(_ command: WardenCommand, from id: UInt64) {
        if links[id]?.isTerminal == true { return obeyTerminal(command, from: id) }
        switch command {
        case .hello: welcome(id)
        case .start(let order): start(order)
        case .cancel(let key, let reason): cancel(key, reason)
        case .query(let key?): sendState(key)
        case .query(nil): sendEverything()
        case .acknowledge(let key): outcomes.acknowledge(key)
        case .input(let key, let offset, let bytes): give(key, bytes, at: offset)
        case .closeInput(let key): endInput(key)
        case .resize(let key, let size): resize(key, size)
        case .signal(let key, let number): signal(key, number)
        case .retire: retire()
        case .offer, .attach, .endStream: break  // A terminal's, not a daemon's.
        }
    }

    /// A daemon is there: it gets everything that is known, and the jobs' notify sockets.
    private func welcome(_ id: UInt64) {
        if let old = links.daemon, old != id { drop(old) }
        links.welcome(id)
        if !phase.isRetired { adoptRetired() }
        let hello = WardenHello(
            pid: getpid(), startTime: ProcessTable.entry(getpid())?.startTime ?? 0, bootID: bootID,
            runs: runs.count, build: build)
        send(.hello(hello))
        sendEverything()
    }

    private func sendEverything() {
        for run in runs.values.sorted(by: { $0.startedAt < $1.startedAt }) {
            send(run.startedMessage)
            sendReports(of: run)
        }
        for entry in outcomes.inOrder { send(entry) }
        send(.caughtUp)
    }

    func sendState(_ key: RunKey) {
        if let run = runs[key] {
            send(run.startedMessage)
        } else if let entry = outcomes[key] {
            send(entry)
        } else {
            send(.unknown(key))
        }
    }

    func send(_ entry: Outcomes.Ended) {
        for frame in entry.reports.frames { links.sendToDaemon(frame) }
        send(.ended(entry.record))
    }

    /// Gives the daemon the run's notify socket; from now on the daemon reads it.
    func handOver(_ run: Run) {
        guard links.daemon != nil, let socket = run.pipes?.notifySocket else { return }
        watches.remove(socket.raw, closesNext: false)
        // What was read while nobody listened comes first: the daemon's own reading is newer.
        for frame in run.reports.takeAll() { links.sendToDaemon(frame) }
        links.sendToDaemon(WardenMessage.notifySocket(run.key).frame, passing: socket)
    }

    private func start(_ order: ProcessOrder) {
        let key = order.key
        // Repeated: the answer is the state of the attempt, and nothing is started.
        guard runs[key] == nil, outcomes[key] == nil else { return sendState(key) }
        do throws(StartRefused) {
            try begin(order)
        } catch {
            send(.refused(key, error.refusal, text: error.text))
        }
    }

    private func begin(_ order: ProcessOrder) throws(StartRefused) {
        let attachment = try takeAttachment(order)
        do throws(StartRefused) {
            try begin(order, attachment)
        } catch {
            if let attachment {
                let refused = WardenMessage.refused(order.key, error.refusal, text: error.text)
                links[attachment.link]?.send(refused.frame)
            }
            throw error
        }
    }

    private func begin(_ order: ProcessOrder, _ attachment: Attachment?) throws(StartRefused) {
        let key = order.key
        guard !phase.isRetired else {
            throw StartRefused(.exhausted, "this warden only finishes its runs; a newer one is in charge")
        }
        guard hasRoom else {
            throw StartRefused(
                .exhausted, "\(runs.count) runs use up the warden's \(descriptorLimit) descriptors")
        }
        try checkPredecessors(of: order)
        var group = groups.make(for: key)
        let record: Descriptor
        let started: RunStarter.Started
        do throws(StartRefused) {
            record = try makeRecord(
                RunRecord(
                    key: key, bootID: bootID, madeAt: .now, timeout: order.timeout, grace: order.grace,
                    group: group))
            started = try begin(order, attachment, in: &group)
        } catch {
            outcomes.store.remove(key, isSaved: false)
            if let group { _ = groups.remove(group) }
            throw error
        }
        let now = Duration.sinceBoot
        let run = Run(
            key: key, pid: started.pid, startTime: started.startTime, startedAt: .now, startedInstant: now,
            ladder: StopLadder(startedAt: now, timeout: order.timeout, grace: order.grace),
            tree: ProcessTree(
                leader: started.pid, startTime: started.startTime, mark: "BELFRY_RUN_ID=\(key.run)",
                reaper: getpid(), group: group))
        run.pipes = started.pipes
        run.record = record
        runs.add(run)
        // The record may fail from here on; the process runs, and the memory knows it.
        let begun = RunRecord.Started(
            pid: run.pid, startTime: run.startTime, at: run.startedAt, instant: now)
        try? record.writeAll(begun.frame[...])
        send(run.startedMessage)
        if attachment == nil, run.pipes?.input == nil, run.pipes?.terminal == nil {
            runs.addFresh(run)
        } else {
            watchPipes(of: run)
        }
        if let attachment { join(attachment, to: run) }
    }

    /// Starts it in its control group; when the kernel does not want that, without one, and so from then on.
    private func begin(
        _ order: ProcessOrder, _ attachment: Attachment?, in group: inout ControlGroup?
    ) throws(StartRefused) -> RunStarter.Started {
        guard let folder = (try? group?.open()) ?? nil else { return try starter.start(order, attachment) }
        do throws(StartRefused) {
            return try starter.start(order, attachment, in: folder)
        } catch {
            guard error.isOfControlGroup else { throw error }
            group?.remove()
            group = nil
            groups.giveUp()
            return try starter.start(order, attachment)
        }
    }

    private func makeRecord(_ record: RunRecord) throws(StartRefused) -> Descriptor {
        do throws(HostError) {
            return try outcomes.store.make(record)
        } catch {
            throw StartRefused(error)
        }
    }

    /// Whether one more run leaves descriptors for the daemon's connections and for records.
    ///
    /// A run holds seven at most and with a terminal attached ten, the output of one that left processes
    /// behind three.
    private var hasRoom: Bool {
        let held = 7 * (runs.count + 1) + 3 * (attachments.count + terminals.count)
        return held + 3 * late.leftovers.count + late.lastWords.count + 64 <= descriptorLimit
    }

    /// Waits for what the runs that this round started write, unless they have ended meanwhile.
    func watchFresh() {
        guard runs.hasFresh else { return }
        collectChildren()
        for run in runs.takeFresh() { watchPipes(of: run) }
    }

    private func watchPipes(of run: Run) {
        guard let pipes = run.pipes else { return }
        for stream in OutputStream.allCases {
            if let pipe = pipes[pipe: stream] { try? watches.add(pipe.raw, .output(run.key, stream)) }
        }
        if let pipe = pipes.progressPipe { try? watches.add(pipe.raw, .progress(run.key)) }
        if !watches.contains(pipes.notifySocket.raw) {
            try? watches.add(pipes.notifySocket.raw, .notify(run.key))
        }
        run.pipes?.input?.flush()
        if run.pipes?.input?.isClosed == true { run.pipes?.input = nil }
        watchInput(of: run)
    }

    private func cancel(_ key: RunKey, _ reason: String) {
        guard let run = runs[key], run.exit == nil else { return sendState(key) }
        run.tree.obey(run.ladder.cancel(reason, at: .sinceBoot))
    }
}
