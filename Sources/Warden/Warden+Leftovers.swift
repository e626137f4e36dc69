import Host
import Performing
import WardenProtocol

// What processes print that outlived their run: the log takes it, and whoever was attached, as long as they write.

extension Warden {
    /// Goes on reading a pipe of a run that ended.
    func keep(_ leftover: LeftoverPipe, of run: Run) {
        let id = (late.leftovers.keys.max() ?? 0) + 1
        var leftover = leftover
        leftover.terminal = run.terminal.map { ($0, run.key) }
        late.leftovers[id] = leftover
        if leftover.sink?.hasWaiting == true {
            waitForSink(id)
        } else {
            if let sink = leftover.sink { watches.remove(sink.descriptor.raw, closesNext: false) }
            readOn(id)
        }
    }

    /// Copies what was printed.
    func readLeftover(_ id: UInt64) {
        guard let leftover = late.leftovers[id] else { return }
        switch (try? leftover.pipe.read(into: &buffer)) ?? .end {
        case .bytes(let count):
            leftover.output.file.append(buffer[..<count])
            leftover.sink?.write(buffer[..<count])
            if leftover.sink?.isBroken == true { late.leftovers[id]?.sink = nil }
            if leftover.sink?.hasWaiting == true { waitForSink(id) }
        case .wouldBlock: break
        case .end:
            watches.remove(leftover.pipe.raw)
            if let sink = leftover.sink { finish(sink) }
            late.leftovers[id] = nil
        }
    }

    /// Its reader has room again, or closed the pipe; the log takes it all the same.
    func flushLeftover(_ id: UInt64) {
        guard let sink = late.leftovers[id]?.sink else { return }
        sink.flush()
        guard sink.isBroken || !sink.hasWaiting else { return }
        watches.remove(sink.descriptor.raw, closesNext: false)
        if sink.isBroken { late.leftovers[id]?.sink = nil }
        readOn(id)
    }

    private func readOn(_ id: UInt64) {
        guard let leftover = late.leftovers[id] else { return }
        if let terminal = leftover.terminal, leftover.sink != nil {
            let number = leftover.stream.number
            links[terminal.link]?.send(WardenMessage.outlived(terminal.key, stream: number).frame)
        }
        late.leftovers[id]?.terminal = nil
        if watches.contains(leftover.pipe.raw) {
            watches.reassign(leftover.pipe.raw, to: .leftover(id))
            watches.setInterest(leftover.pipe.raw, .reading)
        } else {
            try? watches.add(leftover.pipe.raw, .leftover(id))
        }
    }

    /// The pipe is left alone until its reader has room.
    private func waitForSink(_ id: UInt64) {
        guard let leftover = late.leftovers[id], let sink = leftover.sink else { return }
        watches.remove(leftover.pipe.raw, closesNext: false)
        if watches.contains(sink.descriptor.raw) {
            watches.reassign(sink.descriptor.raw, to: .leftoverSink(id))
        } else {
            try? watches.add(sink.descriptor.raw, .leftoverSink(id), .writing)
        }
    }
}
