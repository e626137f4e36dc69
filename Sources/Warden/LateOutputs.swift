import Host
import Performing
import WardenProtocol

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
