import Glibc
import Host
import Performing
import WardenProtocol

extension Warden {
    /// Bytes for a run to read.
    func give(_ key: RunKey, _ bytes: [UInt8], at offset: Int) {
        runs[key]?.pipes?.input?.add(bytes[...], at: offset)
        feed(key)
    }

    /// Nothing more comes for a run to read.
    func endInput(_ key: RunKey) {
        runs[key]?.pipes?.input?.finish()
        feed(key)
    }

    /// The pipe of a run's input has room, or nobody reads it any more.
    func serveInput(_ key: RunKey, _ ready: EventPoll.Ready) {
        if !ready.isWritable { closeInput(key) } else { feed(key) }
    }

    /// Hands a run what it takes now, and reports how far that is.
    private func feed(_ key: RunKey) {
        guard let run = runs[key], let before = run.pipes?.input else {
            return sendInputTaken(key, 0, isClosed: true)
        }
        run.pipes?.input?.flush()
        guard let input = run.pipes?.input else { return }
        if input.isClosed { return closeInput(key) }
        if input.taken != before.taken || input.end == before.end {
            sendInputTaken(key, input.taken, isClosed: false)
        }
        watchInput(of: run)
    }

    /// Reports how far the input was taken, to whoever is attached, else to the daemon.
    private func sendInputTaken(_ key: RunKey, _ end: Int, isClosed: Bool) {
        let message = WardenMessage.inputTaken(key, end: end, isClosed: isClosed)
        guard let terminal = runs[key]?.terminal else { return send(message) }
        links[terminal]?.send(message.frame)
    }

    /// Asks to be woken for what an input waits for.
    func watchInput(of run: Run) {
        guard let input = run.pipes?.input else { return }
        let raw = input.descriptor.raw
        if input.terminal != nil {
            watches.setInterest(raw, masterInterest(of: run))
        } else if watches.contains(raw) {
            watches.setInterest(raw, input.isWaiting ? .writing : .ending)
        } else {
            try? watches.add(raw, .input(run.key), input.isWaiting ? .writing : .ending)
        }
    }

    private func closeInput(_ key: RunKey) {
        guard let run = runs[key], let input = run.pipes?.input else { return }
        sendInputTaken(key, input.taken, isClosed: true)
        let raw = input.descriptor.raw
        if input.terminal == nil { watches.remove(raw) } else { watches.setInterest(raw, .reading) }
        run.pipes?.input = nil
    }

    /// The person's terminal has another size, and so has the run's.
    func resize(_ key: RunKey, _ size: TerminalSize) {
        try? runs[key]?.pipes?.terminal?.resize(rows: size.rows, columns: size.columns)
    }

    /// Sends a signal to the first process's group, and to the group that has the terminal.
    func signal(_ key: RunKey, _ number: Int) {
        // Once it has ended its id may belong to somebody else.
        guard let run = runs[key], run.exit == nil else { return sendState(key) }
        kill(-run.pid, Int32(number))
        if let group = run.pipes?.terminal?.foregroundGroup, group != run.pid {
            kill(-group, Int32(number))
        }
    }
}
