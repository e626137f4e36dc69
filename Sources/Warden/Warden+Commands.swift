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
        case .query(let key?): tellAbout(key)
        case .query(nil): tellEverything()
        case .acknowledge(let key): forget(key)
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
        if let old = daemon, old != id { drop(old) }
        daemon = id
        awaySince = nil
        if !isRetired { adoptRetired() }
        let hello = WardenHello(
            pid: getpid(), startTime: ProcessTable.entry(getpid())?.startTime ?? 0, bootID: bootID,
            runs: runs.count, build: build)
        tell(.hello(hello))
        tellEverything()
    }

    private func tellEverything() {
        for run in runs.values.sorted(by: { $0.startedAt < $1.startedAt }) {
            tell(run.startedMessage)
            sendReports(of: run)
        }
        for entry in ended.values.sorted(by: { $0.record.endedAt < $1.record.endedAt }) { tell(entry) }
        tell(.caughtUp)
    }

    func tellAbout(_ key: RunKey) {
        if let run = runs[key] {
            tell(run.startedMessage)
        } else if let entry = ended[key] {
            tell(entry)
        } else {
            tell(.unknown(key))
        }
    }

    func tell(_ entry: Ended) {
        guard let daemon else { return }
        for frame in entry.reports.frames { links[daemon]?.send(frame) }
        tell(.ended(entry.record))
    }

    /// Gives the daemon the run's notify socket; from now on the daemon reads it.
    func handOver(_ run: Run) {
        guard let daemon, let socket = run.pipes?.notifySocket else { return }
        unwatch(socket.raw, closesNext: false)
        // What was read while nobody listened comes first: the daemon's own reading is newer.
        for frame in run.reports.takeAll() { links[daemon]?.send(frame) }
        links[daemon]?.send(WardenMessage.notifySocket(run.key).frame, passing: socket)
    }

    private func start(_ order: ProcessOrder) {
        let key = order.key
        // Asked again: the answer is what is true, and nothing is started.
        guard runs[key] == nil, ended[key] == nil else { return tellAbout(key) }
        do throws(StartRefused) {
            try begin(order)
        } catch {
            tell(.refused(key, error.refusal, text: error.text))
        }
    }

    private func begin(_ order: ProcessOrder) throws(StartRefused) {
        let attachment = try takeAttachment(order)
        do throws(StartRefused) {
            try begin(order, attachment)
        } catch {
            if let attachment {
                let told = WardenMessage.refused(order.key, error.refusal, text: error.text)
                links[attachment.link]?.send(told.frame)
            }
            throw error
        }
    }

    private func begin(_ order: ProcessOrder, _ attachment: Attachment?) throws(StartRefused) {
        let key = order.key
        guard !isRetired else {
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
            store.remove(key, isSaved: false)
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
        runs[key] = run
        keys[run.pid] = key
        // The record may fail from here on; the process runs, and the memory knows it.
        let begun = RunRecord.Started(
            pid: run.pid, startTime: run.startTime, at: run.startedAt, instant: now)
        try? record.writeAll(begun.frame[...])
        tell(run.startedMessage)
        if attachment == nil, run.pipes?.input == nil, run.pipes?.terminal == nil {
            fresh.append(run)
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
            return try store.make(record)
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
        return held + 3 * leftovers.count + lastWords.count + 64 <= descriptorLimit
    }

    /// Waits for what the runs that this round started write, unless they have ended meanwhile.
    func watchFresh() {
        guard !fresh.isEmpty else { return }
        collectChildren()
        for run in fresh where runs[run.key] === run { watchPipes(of: run) }
        fresh = []
    }

    private func watchPipes(of run: Run) {
        guard let pipes = run.pipes else { return }
        for stream in OutputStream.allCases {
            if let pipe = pipes[pipe: stream] { try? watch(pipe.raw, .output(run.key, stream)) }
        }
        if let pipe = pipes.progressPipe { try? watch(pipe.raw, .progress(run.key)) }
        if !isWatched(pipes.notifySocket.raw) { try? watch(pipes.notifySocket.raw, .notify(run.key)) }
        run.pipes?.input?.flush()
        if run.pipes?.input?.isClosed == true { run.pipes?.input = nil }
        watchInput(of: run)
    }

    private func cancel(_ key: RunKey, _ reason: String) {
        guard let run = runs[key], run.exit == nil else { return tellAbout(key) }
        switch run.ladder.cancel(reason, at: .sinceBoot) {
        case .terminate: run.tree.terminate()
        case .kill: run.tree.kill()
        case .giveUp, nil: break
        }
    }

    private func forget(_ key: RunKey) {
        guard let entry = ended.removeValue(forKey: key) else { return }
        store.remove(key, isSaved: entry.isSaved)
    }
}
