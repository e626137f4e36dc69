import Glibc
import Host
import Performing
import WardenProtocol

// Terminals: whoever offered streams for an order and follows its attempt.

extension Warden {
    /// The runs somebody is attached to.
    var terminals: [UInt64] { runs.values.compactMap(\.terminal) }

    /// A terminal may have its own run signaled and fed, and nothing else.
    func obeyTerminal(_ command: WardenCommand, from id: UInt64) {
        let own = links[id]?.key
        switch command {
        case .attach(let token): attach(id, token)
        case .endStream(let stream): endStream(stream, of: id)
        case .signal(let key, let number) where key == own:
            // A run that a person ends, in whatever way it takes it, has not failed.
            if [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(Int32(number)) { runs[key]?.wasAskedToEnd = true }
            signal(key, number)
        case .input(let key, let offset, let bytes) where key == own: give(key, bytes, at: offset)
        case .closeInput(let key) where key == own: endInput(key)
        case .resize(let key, let size) where key == own: resize(key, size)
        default: break
        }
    }

    /// Keeps the streams a link offered until the order comes that names `token`.
    func attach(_ id: UInt64, _ token: String) {
        guard let link = links[id], attachments[token] == nil,
            let attachment = try? Attachment(link: id, streams: link.offered)
        else { return drop(id) }
        links[id]?.offered = [:]
        attachments[token] = attachment
        links[id]?.send(WardenMessage.attached(token: token).frame)
    }

    /// What was offered for the order; an order whose terminal is gone is refused.
    func takeAttachment(_ order: ProcessOrder) throws(StartRefused) -> Attachment? {
        guard let token = order.attachment else { return nil }
        guard let attachment = attachments.removeValue(forKey: token) else {
            throw StartRefused(.other, "the terminal it was meant for has closed its connection")
        }
        return attachment
    }

    /// The run is there: its terminal learns of it, and its streams are those of the run.
    func join(_ attachment: Attachment, to run: Run) {
        run.terminal = attachment.link
        links[attachment.link]?.key = run.key
        links[attachment.link]?.send(run.startedMessage.frame)
    }

    /// A connection closed: the run goes on without it, read as fast as it prints.
    func detach(_ id: UInt64, _ link: DaemonLink) {
        for (token, attachment) in attachments where attachment.link == id { attachments[token] = nil }
        guard let key = link.key, let run = runs[key], run.terminal == id else { return }
        run.terminal = nil
        for stream in OutputStream.allCases { dropSink(of: run, stream) }
    }

    /// The terminal's reader of this stream has gone: the job's pipe breaks, as it would without a warden.
    func endStream(_ number: Int, of id: UInt64) {
        guard let key = links[id]?.key, let run = runs[key], let stream = OutputStream(number) else { return }
        if let sink = run.pipes?[sink: stream] { watches.remove(sink.descriptor.raw, closesNext: false) }
        run.pipes?[sink: stream] = nil
        guard let pipe = run.pipes?[pipe: stream] else { return }
        if run.pipes?.terminal != nil {
            // A terminal that nobody looks at has hung up.
            signal(key, Int(SIGHUP))
            return resume(stream, of: run)
        }
        watches.remove(pipe.raw)
        run.pipes?[pipe: stream] = nil
    }

    // MARK: Sinks

    /// The pipe is left alone until its sink has room again.
    func waitForSink(of run: Run, _ stream: OutputStream) {
        guard let sink = run.pipes?[sink: stream], !watches.contains(sink.descriptor.raw) else { return }
        try? watches.add(sink.descriptor.raw, .sink(run.key, stream), .writing)
        guard let pipe = run.pipes?[pipe: stream] else { return }
        if run.pipes?.terminal != nil {
            watches.setInterest(pipe.raw, masterInterest(of: run))
        } else {
            watches.remove(pipe.raw, closesNext: false)
        }
    }

    /// What a run's terminal waits for: its output is left alone while the sink is full.
    func masterInterest(of run: Run) -> EventPoll.Interest {
        let isWaiting = run.pipes?.input?.isWaiting == true
        let isPaused = run.pipes?.outputSink.map { watches.contains($0.descriptor.raw) } == true
        switch (isPaused, isWaiting) {
        case (false, false): return .reading
        case (false, true): return .readingAndWriting
        case (true, false): return .ending
        case (true, true): return .writing
        }
    }

    /// The sink has room, or broke.
    func flushSink(of key: RunKey, _ stream: OutputStream) {
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

    private func dropSink(of run: Run, _ stream: OutputStream) {
        guard let sink = run.pipes?[sink: stream] else { return }
        watches.remove(sink.descriptor.raw, closesNext: false)
        run.pipes?[sink: stream] = nil
        resume(stream, of: run)
    }

    private func resume(_ stream: OutputStream, of run: Run) {
        guard let pipe = run.pipes?[pipe: stream] else { return }
        if watches.contains(pipe.raw) {
            watches.setInterest(pipe.raw, run.pipes?.terminal == nil ? .reading : masterInterest(of: run))
        } else {
            try? watches.add(pipe.raw, .output(run.key, stream))
        }
    }

    /// The run ended: what its reader has not taken yet is kept until it does or goes away.
    func finish(_ sink: OutputSink) {
        guard sink.hasWaiting, !sink.isBroken else {
            return watches.remove(sink.descriptor.raw, closesNext: false)
        }
        let id = (late.lastWords.keys.max() ?? 0) + 1
        late.lastWords[id] = sink
        if watches.contains(sink.descriptor.raw) {
            watches.reassign(sink.descriptor.raw, to: .lastWords(id))
        } else if (try? watches.add(sink.descriptor.raw, .lastWords(id), .writing)) == nil {
            late.lastWords[id] = nil
        }
    }

    func flushLastWords(_ id: UInt64) {
        guard let sink = late.lastWords[id] else { return }
        sink.flush()
        guard sink.isBroken || !sink.hasWaiting else { return }
        watches.remove(sink.descriptor.raw, closesNext: false)
        late.lastWords[id] = nil
    }
}

extension OutputStream {
    /// Its descriptor number.
    var number: Int { self == .output ? 1 : 2 }

    /// The stream of this descriptor number; nil for standard input.
    init?(_ number: Int) {
        switch number {
        case 1: self = .output
        case 2: self = .errors
        default: return nil
        }
    }
}
