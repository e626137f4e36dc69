import Host
import Performing
import Timeline
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
                run.reports.add(.report(key, line: line))
            }
            return true
        case .wouldBlock: break
        case .end:
            if let line = run.pipes?.lines.finish() { run.reports.add(.report(key, line: line)) }
            watches.remove(pipe.raw)
            run.pipes?.progressPipe = nil
        }
        return false
    }

    /// Reads a notify socket in the daemon's place; true when there may be more.
    @discardableResult func readNotifications(_ key: RunKey) -> Bool {
        guard let run = runs[key], let socket = run.pipes?.notifySocket,
            let read = try? NotifyDatagrams.read(from: socket, of: key.run, into: &buffer.bytes)
        else { return false }
        for datagram in read.datagrams { run.reports.add(.notify(key, datagram: datagram)) }
        return read.mayHaveMore
    }

    /// A job reports: the daemon gets the socket and reads from now on; without one it is read here.
    ///
    /// Most jobs never report; theirs stays here.
    func serveNotifySocket(of key: RunKey) {
        guard let run = runs[key], connections.daemon != nil else {
            readNotifications(key)
            return
        }
        guard let socket = run.pipes?.notifySocket else { return }
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
        for _ in 0..<64 where !readNotifications(run.key) { break }
        for _ in 0..<64 where !readProgress(run.key) { break }
        if let line = run.pipes?.lines.finish() { run.reports.add(.report(run.key, line: line)) }
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
