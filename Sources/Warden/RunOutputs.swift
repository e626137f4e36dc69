import Host
import Performing
import WardenProtocol

/// Reads what live runs print and report: into the log, and copies to the daemon and to whoever is attached.
final class RunOutputs {
    private let runs: RunTable
    private let watches: Watches
    private let connections: Connections
    private let buffer: ReadBuffer

    init(runs: RunTable, watches: Watches, connections: Connections, buffer: ReadBuffer) {
        self.runs = runs
        self.watches = watches
        self.connections = connections
        self.buffer = buffer
    }

    // MARK: Standard output and standard error

    /// Reads what a run printed: into its file, and a copy to the daemon.
    ///
    /// Only a few reads at a time, so that one that prints without end does not keep others waiting.
    func read(_ stream: JobStream, of run: Run) {
        drain(stream, of: run, rounds: 4)
    }

    /// As ``read(_:of:)`` for both streams, at most `rounds` reads each, however slow whoever is attached.
    func drain(_ run: Run, rounds: Int) {
        for stream in JobStream.allCases { drain(stream, of: run, rounds: rounds, isLast: true) }
    }

    private func drain(_ stream: JobStream, of run: Run, rounds: Int, isLast: Bool = false) {
        guard let pipe = run.pipes?[pipe: stream] else { return }
        for _ in 0..<rounds {
            switch (try? pipe.read(into: &buffer.bytes)) ?? .end {
            case .bytes(let count): keep(buffer.bytes[..<count], of: run, stream)
            case .wouldBlock: return
            case .end:
                watches.remove(pipe.raw)
                run.pipes?[pipe: stream] = nil
                return
            }
            if !isLast, run.pipes?[sink: stream]?.hasWaiting == true { return }
        }
    }

    private func keep(_ bytes: ArraySlice<UInt8>, of run: Run, _ stream: JobStream) {
        guard let offset = run.pipes?.output.count else { return }
        if stream == .errors, run.pipes?.errorOutput != nil {
            run.pipes?.errorOutput?.append(bytes)
            run.pipes?.recentErrors.append(bytes)
            return
        }
        run.pipes?.output.append(bytes)
        run.pipes?.recentOutput.append(bytes)
        if stream == .errors { run.pipes?.recentErrors.append(bytes) }
        run.pipes?[sink: stream]?.write(bytes)
        guard run.pipes?.isOutputWatched == true, connections.takesReports,
            run.pipes?.copies.spend(bytes.count, at: .sinceBoot) == true
        else { return }
        connections.send(.output(run.key, offset: offset, bytes: Array(bytes)))
    }

    // MARK: Reports

    /// Reads `PROGRESS_FD` once; true when there may be more.
    @discardableResult func readProgress(_ key: RunKey) -> Bool {
        guard let run = runs[key], let pipe = run.pipes?.progressPipe else { return false }
        switch (try? pipe.read(into: &buffer.bytes)) ?? .end {
        case .bytes(let count):
            for line in run.pipes?.lines.split(buffer.bytes[..<count]) ?? [] {
                run.reports.add { .report(key, line: line, number: $0) }
            }
            return true
        case .wouldBlock: break
        case .end:
            if let line = run.pipes?.lines.finish() {
                run.reports.add { .report(key, line: line, number: $0) }
            }
            watches.remove(pipe.raw)
            run.pipes?.progressPipe = nil
        }
        return false
    }

    /// Reads a notify socket once; how many datagrams it had, and whether there may be more.
    private func readNotifications(_ key: RunKey) -> (count: Int, mayHaveMore: Bool) {
        guard let run = runs[key], let socket = run.pipes?.notifySocket,
            let read = try? run.pipes?.notifyReader.read(from: socket, into: &buffer.bytes)
        else { return (0, false) }
        for datagram in read.datagrams { run.reports.add { .notify(key, datagram: datagram, number: $0) } }
        return (read.datagrams.count, read.mayHaveMore)
    }

    /// A job reports: what it sends now and then is read here and kept until the daemon has saved it; the daemon gets the
    /// socket of one that reports fast, and reads from then on.
    func serveNotifySocket(of key: RunKey) {
        let count = readNotifications(key).count
        guard let run = runs[key], run.pace.note(count, at: .sinceBoot), connections.daemon != nil,
            let socket = run.pipes?.notifySocket
        else { return }
        watches.remove(socket.raw, closesNext: false)
        connections.sendNotifySocket(socket, of: run)
    }

    func watchNotifySocket(of run: Run) {
        guard let socket = run.pipes?.notifySocket, !watches.contains(socket.raw) else { return }
        try? watches.add(socket.raw, .notify(run.key))
    }

    /// The daemon disconnected: somebody else has to read what jobs report, or they block.
    func watchNotifySockets() {
        for run in runs.values { watchNotifySocket(of: run) }
    }

    /// The run ended: what is left of its reports, but no more of a process it left behind than a pipe holds.
    func readLastReports(of run: Run) {
        for _ in 0..<64 where !readNotifications(run.key).mayHaveMore { break }
        for _ in 0..<64 where !readProgress(run.key) { break }
        if let line = run.pipes?.lines.finish() {
            run.reports.add { .report(run.key, line: line, number: $0) }
        }
    }

    // MARK: Sinks

    /// Leaves a pipe alone until its sink has room again.
    func waitForSink(of run: Run, _ stream: JobStream) {
        guard let sink = run.pipes?[sink: stream], sink.hasWaiting,
            !watches.contains(sink.descriptor.raw)
        else { return }
        try? watches.add(sink.descriptor.raw, .sink(run.key, stream), .writing)
        guard let pipe = run.pipes?[pipe: stream] else { return }
        if run.pipes?.terminal != nil {
            watches.setMasterInterest(pipe.raw, of: run)
        } else {
            watches.remove(pipe.raw, closesNext: false)
        }
    }

    /// The sink has room, or broke.
    func flushSink(of key: RunKey, _ stream: JobStream) {
        guard let run = runs[key], let sink = run.pipes?[sink: stream] else { return }
        sink.flush()
        guard sink.isBroken || !sink.hasWaiting else { return }
        if sink.isBroken {
            dropSink(of: run, stream)
        } else {
            watches.remove(sink.descriptor.raw, closesNext: false)
            resume(stream, of: run)
        }
    }

    /// A connection closed: its run continues without it, read as fast as it prints.
    func detach(_ id: UInt64, _ connection: Connection) {
        guard let key = connection.key, let run = runs[key], run.terminal == id else { return }
        run.terminal = nil
        for stream in JobStream.allCases { dropSink(of: run, stream) }
    }

    /// The reader of the stream closed it, and so does the warden; true when it is a terminal, which stays open.
    func breakStream(_ stream: JobStream, of run: Run) -> Bool {
        if let sink = run.pipes?[sink: stream] { watches.remove(sink.descriptor.raw, closesNext: false) }
        run.pipes?[sink: stream] = nil
        guard let pipe = run.pipes?[pipe: stream] else { return false }
        if run.pipes?.terminal != nil {
            resume(stream, of: run)
            return true
        }
        watches.remove(pipe.raw)
        run.pipes?[pipe: stream] = nil
        return false
    }

    private func dropSink(of run: Run, _ stream: JobStream) {
        guard let sink = run.pipes?[sink: stream] else { return }
        watches.remove(sink.descriptor.raw, closesNext: false)
        run.pipes?[sink: stream] = nil
        resume(stream, of: run)
    }

    private func resume(_ stream: JobStream, of run: Run) {
        guard let pipe = run.pipes?[pipe: stream] else { return }
        if !watches.contains(pipe.raw) {
            try? watches.add(pipe.raw, .output(run.key, stream))
        } else if run.pipes?.terminal == nil {
            watches.setInterest(pipe.raw, .reading)
        } else {
            watches.setMasterInterest(pipe.raw, of: run)
        }
    }
}

/// The output of runs that ended: what processes print that outlived their run, and what attached readers have not read.
///
/// The log takes it, and whoever was attached, as long as they write.
final class LateOutputs {
    private let watches: Watches
    private let connections: Connections
    private let buffer: ReadBuffer
    /// Pipes that processes which outlived their run still hold open.
    private var leftovers: [UInt64: LeftoverPipe] = [:]
    /// What those who were attached to runs that ended have not read yet.
    private var lastWords: [UInt64: OutputSink] = [:]

    init(watches: Watches, connections: Connections, buffer: ReadBuffer) {
        self.watches = watches
        self.connections = connections
        self.buffer = buffer
    }

    /// Whether an attached reader still gets output of a run that ended.
    var isPassedOn: Bool { !lastWords.isEmpty || leftovers.values.contains { $0.sink != nil } }

    /// How many descriptors they take up.
    var heldDescriptors: Int { 3 * leftovers.count + lastWords.count }

    // MARK: Last words

    /// The run ended: what its reader has not taken yet is kept until it does or closes the pipe.
    func finish(_ sink: OutputSink) {
        guard sink.hasWaiting, !sink.isBroken else {
            return watches.remove(sink.descriptor.raw, closesNext: false)
        }
        let id = (lastWords.keys.max() ?? 0) + 1
        lastWords[id] = sink
        if watches.contains(sink.descriptor.raw) {
            watches.reassign(sink.descriptor.raw, to: .lastWords(id))
        } else if (try? watches.add(sink.descriptor.raw, .lastWords(id), .writing)) == nil {
            lastWords[id] = nil
        }
    }

    func flushLastWords(_ id: UInt64) {
        guard let sink = lastWords[id] else { return }
        sink.flush()
        guard sink.isBroken || !sink.hasWaiting else { return }
        watches.remove(sink.descriptor.raw, closesNext: false)
        lastWords[id] = nil
    }

    // MARK: Leftovers

    /// Goes on reading a pipe of a run that ended.
    func keep(_ leftover: LeftoverPipe, of run: Run) {
        let id = (leftovers.keys.max() ?? 0) + 1
        var leftover = leftover
        leftover.terminal = run.terminal.map { ($0, run.key) }
        leftovers[id] = leftover
        if leftover.sink?.hasWaiting == true {
            waitForSink(id)
        } else {
            if let sink = leftover.sink { watches.remove(sink.descriptor.raw, closesNext: false) }
            readOn(id)
        }
    }

    /// Copies what was printed.
    func read(_ id: UInt64) {
        guard let leftover = leftovers[id] else { return }
        switch (try? leftover.pipe.read(into: &buffer.bytes)) ?? .end {
        case .bytes(let count):
            leftover.output.file.append(buffer.bytes[..<count])
            leftover.sink?.write(buffer.bytes[..<count])
            if leftover.sink?.isBroken == true { leftovers[id]?.sink = nil }
            if leftover.sink?.hasWaiting == true { waitForSink(id) }
        case .wouldBlock: break
        case .end:
            watches.remove(leftover.pipe.raw)
            if let sink = leftover.sink { finish(sink) }
            leftovers[id] = nil
        }
    }

    /// Its reader has room again, or closed the pipe; the log takes it all the same.
    func flush(_ id: UInt64) {
        guard let sink = leftovers[id]?.sink else { return }
        sink.flush()
        guard sink.isBroken || !sink.hasWaiting else { return }
        watches.remove(sink.descriptor.raw, closesNext: false)
        if sink.isBroken { leftovers[id]?.sink = nil }
        readOn(id)
    }

    private func readOn(_ id: UInt64) {
        guard let leftover = leftovers[id] else { return }
        if let terminal = leftover.terminal, leftover.sink != nil {
            let number = leftover.stream.number
            connections[terminal.link]?.send(WardenMessage.outlived(terminal.key, stream: number).frame)
        }
        leftovers[id]?.terminal = nil
        if watches.contains(leftover.pipe.raw) {
            watches.reassign(leftover.pipe.raw, to: .leftover(id))
            watches.setInterest(leftover.pipe.raw, .reading)
        } else {
            try? watches.add(leftover.pipe.raw, .leftover(id))
        }
    }

    /// Leaves the pipe alone until its reader has room.
    private func waitForSink(_ id: UInt64) {
        guard let leftover = leftovers[id], let sink = leftover.sink else { return }
        watches.remove(leftover.pipe.raw, closesNext: false)
        if watches.contains(sink.descriptor.raw) {
            watches.reassign(sink.descriptor.raw, to: .leftoverSink(id))
        } else {
            try? watches.add(sink.descriptor.raw, .leftoverSink(id), .writing)
        }
    }
}

/// The log of a run that ended, shared by the pipes that processes it left behind still write to.
final class LeftoverOutput {
    var file: OutputFile

    init(_ file: OutputFile) {
        self.file = file
    }
}

/// A pipe of a run that ended, held open by processes it left behind.
struct LeftoverPipe {
    let pipe: Descriptor
    let output: LeftoverOutput
    /// Where copies go, as while the run lived; nil: nobody reads them.
    var sink: OutputSink?
    let stream: JobStream
    /// Who is notified once everything from before the run's end is with its reader.
    var terminal: (link: UInt64, key: RunKey)?

    init(_ pipe: Descriptor, _ output: LeftoverOutput, sink: OutputSink?, stream: JobStream) {
        self.pipe = pipe
        self.output = output
        self.sink = sink?.isBroken == true ? nil : sink
        self.stream = stream
    }
}
