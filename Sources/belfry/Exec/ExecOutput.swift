import Glibc
import Host

/// Copies a command's streams to ours until each ends, or until only processes it left behind hold it open.
final class ExecOutput {
    /// More than fits into a pipe, in turns of a pump.
    private static let lastTurns = 64

    private let poll: EventPoll
    private var pumps: [Int: OutputPump]
    /// How many turns are left for a stream of which everything up to the command's end is in the pipe.
    private var turnsLeft: [Int: Int] = [:]
    /// Streams that are still open and hold nothing from before the command's end.
    private(set) var rest: [Int: Descriptor] = [:]
    /// What kept output from being written; that nobody reads it is no fault.
    private(set) var fault: (number: Int, error: HostError)?

    /// Whether what can't be written is read on and dropped: a terminal that is closed would end the command.
    private let readsOn: Bool

    /// Waits on `poll` for what comes out of `pumps`, by the number of the stream.
    init(
        _ pumps: [Int: OutputPump], on poll: EventPoll, readsOn: Bool = false
    ) throws(HostError) {
        self.pumps = pumps
        self.poll = poll
        self.readsOn = readsOn
        for (number, pump) in pumps { try poll.add(pump.source.raw, Self.source(number)) }
    }

    /// `standard output can't be written: No space left on device`.
    static func sentence(of fault: (number: Int, error: HostError)) -> String {
        "standard \(fault.number == 1 ? "output" : "error") can't be written: \(fault.error.reason)"
    }

    /// There is something to read.
    static func source(_ number: Int) -> UInt64 { 10 + UInt64(number) }
    /// There is room to write again.
    static func room(_ number: Int) -> UInt64 { 20 + UInt64(number) }

    /// Nothing is left to copy here.
    var isDone: Bool { pumps.isEmpty }

    /// Whether everything shown on a terminal ended with its line.
    var isAtLineStart: Bool { pumps.values.allSatisfy { !$0.isTerminal || $0.isAtLineStart } }

    /// Whether this stream is copied to a terminal.
    func showsOnTerminal(_ number: Int) -> Bool { pumps[number]?.isTerminal == true }

    /// Whether this stream is still copied here.
    func copies(_ number: Int) -> Bool { pumps[number] != nil }

    /// Copies nothing any more.
    func stop() {
        for number in pumps.keys { finish(number) }
    }

    /// Copies what is there; false when our stream takes nothing any more.
    func copy(_ number: Int) -> Bool {
        repeat {
            switch pumps[number]?.pump() {
            case nil: return true
            case .more: continue
            case .waits:
                if turnsLeft[number] != nil { setAside(number) }
                return true
            case .isFull:
                waitForRoom(number)
                return true
            case .ended:
                finish(number)
                return true
            case .failed(let error):
                // A terminal that hung up has lost its reader, too.
                let isUnread = error.code == EPIPE || error.code == EIO && showsOnTerminal(number)
                if !isUnread, fault == nil { fault = (number, error) }
                if readsOn, !isUnread {
                    pumps[number]?.discard()
                    continue
                }
                finish(number)
                return false
            }
        } while takesAnotherTurn(number)
        if turnsLeft[number] == 0 { setAside(number) }
        return true
    }

    /// As ``copy(_:)``, once our stream has room again.
    func resume(_ number: Int) -> Bool {
        guard let pump = pumps[number], let target = pump.target else { return true }
        poll.remove(target)
        try? poll.add(pump.source.raw, Self.source(number))
        return copy(number)
    }

    /// Copies what the pipe holds, and sets it aside: all that was printed up to the command's end is in it.
    func copyLast(_ number: Int) -> Bool {
        guard pumps[number] != nil else { return true }
        turnsLeft[number] = Self.lastTurns
        return copy(number)
    }

    private func takesAnotherTurn(_ number: Int) -> Bool {
        guard let left = turnsLeft[number], left > 0 else { return false }
        turnsLeft[number] = left - 1
        return true
    }

    private func setAside(_ number: Int) {
        if let pump = pumps[number], pump.target != nil { rest[number] = pump.source }
        finish(number)
    }

    private func waitForRoom(_ number: Int) {
        guard let pump = pumps[number], let target = pump.target else { return }
        poll.remove(pump.source.raw)
        try? poll.add(target, Self.room(number), .writing)
    }

    private func finish(_ number: Int) {
        guard let pump = pumps.removeValue(forKey: number) else { return }
        poll.remove(pump.source.raw)
        if let target = pump.target { poll.remove(target) }
    }
}
