import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

extension Warden {
    /// Reads what a run printed: into its file, and a copy to the daemon.
    ///
    /// Only a few reads at a time, so that one that prints without end does not keep others waiting.
    func readOutput(_ key: RunKey, _ stream: OutputStream) {
        guard let run = runs[key] else { return }
        drain(stream, of: run, rounds: 4)
        if run.exit != nil { settle(run, .sinceBoot) }
        if run.pipes?[sink: stream]?.hasWaiting == true { waitForSink(of: run, stream) }
    }

    /// As ``readOutput(_:_:)`` for both streams, at most `rounds` reads each, however slow whoever is attached.
    func drainOutput(of run: Run, rounds: Int) {
        for stream in OutputStream.allCases { drain(stream, of: run, rounds: rounds, isLast: true) }
    }

    private func drain(_ stream: OutputStream, of run: Run, rounds: Int, isLast: Bool = false) {
        guard let pipe = run.pipes?[pipe: stream] else { return }
        for _ in 0..<rounds {
            switch (try? pipe.read(into: &buffer)) ?? .end {
            case .bytes(let count): keep(buffer[..<count], of: run, stream)
            case .wouldBlock: return
            case .end:
                watches.remove(pipe.raw)
                run.pipes?[pipe: stream] = nil
                return
            }
            if !isLast, run.pipes?[sink: stream]?.hasWaiting == true { return }
        }
    }

    /// Reads `PROGRESS_FD` once; true when there may be more.
    @discardableResult func readProgress(_ key: RunKey) -> Bool {
        guard let run = runs[key], let pipe = run.pipes?.progressPipe else { return false }
        switch (try? pipe.read(into: &buffer)) ?? .end {
        case .bytes(let count):
            for line in run.pipes?.lines.split(buffer[..<count]) ?? [] {
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

    /// A job reports: the daemon gets the socket and reads from now on; without one it is read here.
    ///
    /// Most jobs never report; theirs stays here.
    func notified(_ key: RunKey) {
        if let run = runs[key], links.daemon != nil { handOver(run) } else { readNotifications(key) }
    }

    /// Reads a notify socket in the daemon's place; true when there may be more.
    @discardableResult func readNotifications(_ key: RunKey) -> Bool {
        guard let run = runs[key], let socket = run.pipes?.notifySocket,
            let read = try? NotifyDatagrams.read(from: socket, into: &buffer)
        else { return false }
        for datagram in read.datagrams { run.reports.add(.notify(key, datagram: datagram)) }
        return read.mayHaveMore
    }

    private func keep(_ bytes: ArraySlice<UInt8>, of run: Run, _ stream: OutputStream) {
        guard let offset = run.pipes?.output.count else { return }
        run.pipes?.output.append(bytes)
        run.pipes?[sink: stream]?.write(bytes)
        guard run.pipes?.isOutputWatched == true, links.takesReports,
            run.pipes?.copies.take(bytes.count, at: .sinceBoot) == true
        else { return }
        links.sendToDaemon(WardenMessage.output(run.key, offset: offset, bytes: Array(bytes)).frame)
    }
}
