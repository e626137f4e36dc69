import Glibc
import Host
import Performing
import WardenProtocol

/// What runs print, report and read, while they live and after.
final class RunStreams {
    let outputs: RunOutputs
    let inputs: RunInputs
    let late: LateOutputs
    private let watches: Watches

    init(runs: RunTable, watches: Watches, connections: Connections, buffer: ReadBuffer) {
        self.watches = watches
        outputs = RunOutputs(runs: runs, watches: watches, connections: connections, buffer: buffer)
        inputs = RunInputs(runs: runs, watches: watches, connections: connections)
        late = LateOutputs(watches: watches, connections: connections, buffer: buffer)
    }

    /// Waits for what a run writes, and for room in what it reads.
    func watchPipes(of run: Run) {
        guard let pipes = run.pipes else { return }
        for stream in JobStream.allCases {
            if let pipe = pipes[pipe: stream] { try? watches.add(pipe.raw, .output(run.key, stream)) }
        }
        if let pipe = pipes.progressPipe { try? watches.add(pipe.raw, .progress(run.key)) }
        outputs.watchNotifySocket(of: run)
        inputs.begin(run)
    }

    /// The run ended: closes its pipes, but for those that processes it left behind still hold open.
    func release(_ pipes: RunPipes, of run: Run) {
        watches.remove(pipes.notifySocket.raw)
        unsafe unlink(pipes.notifyPath)
        if let pipe = pipes.progressPipe { watches.remove(pipe.raw) }
        if let input = pipes.input, input.terminal == nil { watches.remove(input.descriptor.raw) }
        let output = LeftoverOutput(pipes.output)
        let errors = pipes.errorOutput.map { LeftoverOutput($0) } ?? output
        for stream in JobStream.allCases {
            let sink = pipes[sink: stream]
            if let pipe = pipes[pipe: stream] {
                // A terminal ends with its run.
                if let sink, pipes.terminal != nil { late.finish(sink) }
                let kept = pipes.terminal == nil ? sink : nil
                let log = stream == .errors ? errors : output
                late.keep(LeftoverPipe(pipe, log, sink: kept, stream: stream), of: run)
            } else if let sink {
                late.finish(sink)
            }
        }
    }
}

extension Watches {
    /// What a run's terminal waits for: its output is left alone while the sink is full.
    func setMasterInterest(_ descriptor: Int32, of run: Run) {
        let isWaiting = run.pipes?.input?.isWaiting == true
        let isPaused = run.pipes?.outputSink.map { contains($0.descriptor.raw) } == true
        switch (isPaused, isWaiting) {
        case (false, false): setInterest(descriptor, .reading)
        case (false, true): setInterest(descriptor, .readingAndWriting)
        case (true, false): setInterest(descriptor, .ending)
        case (true, true): setInterest(descriptor, .writing)
        }
    }
}

/// Hands runs what they are given to read, and reports how far they took it.
final class RunInputs {
    private let runs: RunTable
    private let watches: Watches
    private let connections: Connections

    init(runs: RunTable, watches: Watches, connections: Connections) {
        self.runs = runs
        self.watches = watches
        self.connections = connections
    }

    /// Writes what the run was started with, and waits for room for the rest.
    func begin(_ run: Run) {
        run.pipes?.input?.flush()
        if run.pipes?.input?.isClosed == true { run.pipes?.input = nil }
        watch(run)
    }

    /// Bytes for a run to read.
    func give(_ key: RunKey, _ bytes: [UInt8], at offset: Int) {
        runs[key]?.pipes?.input?.add(bytes[...], at: offset)
        feed(key)
    }

    /// Nothing more comes for a run to read.
    func end(_ key: RunKey) {
        runs[key]?.pipes?.input?.finish()
        feed(key)
    }

    /// The pipe of a run's input has room, or nobody reads it any more.
    func serve(_ key: RunKey, _ ready: EventPoll.Ready) {
        if !ready.isWritable { close(key) } else { feed(key) }
    }

    /// The person's terminal has another size, and so has the run's.
    func resize(_ key: RunKey, _ size: PtySize) {
        try? runs[key]?.pipes?.terminal?.resize(rows: size.rows, columns: size.columns)
    }

    /// Hands a run what it takes now, and reports how far that is.
    private func feed(_ key: RunKey) {
        guard let run = runs[key], let before = run.pipes?.input else {
            return sendTaken(key, 0, isClosed: true)
        }
        run.pipes?.input?.flush()
        guard let input = run.pipes?.input else { return }
        if input.isClosed { return close(key) }
        if input.taken != before.taken || input.end == before.end {
            sendTaken(key, input.taken, isClosed: false)
        }
        watch(run)
    }

    /// Reports how far the input was taken, to whoever is attached, else to the daemon.
    private func sendTaken(_ key: RunKey, _ end: Int, isClosed: Bool) {
        let message = WardenMessage.inputTaken(key, end: end, isClosed: isClosed)
        guard let terminal = runs[key]?.terminal else { return connections.send(message) }
        connections[terminal]?.send(message.frame)
    }

    /// Asks to be woken for what an input waits for.
    private func watch(_ run: Run) {
        guard let input = run.pipes?.input else { return }
        let raw = input.descriptor.raw
        if input.terminal != nil {
            watches.setMasterInterest(raw, of: run)
        } else if watches.contains(raw) {
            watches.setInterest(raw, input.isWaiting ? .writing : .ending)
        } else {
            try? watches.add(raw, .input(run.key), input.isWaiting ? .writing : .ending)
        }
    }

    private func close(_ key: RunKey) {
        guard let run = runs[key], let input = run.pipes?.input else { return }
        sendTaken(key, input.taken, isClosed: true)
        let raw = input.descriptor.raw
        if input.terminal == nil { watches.remove(raw) } else { watches.setInterest(raw, .reading) }
        run.pipes?.input = nil
    }
}
