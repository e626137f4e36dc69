import Glibc
import Host

/// The streams of a command that somebody else starts for us: what is offered to it, and our ends of it.
struct ExecStreams {
    /// What the warden is given, by number.
    private(set) var offered: [(number: Int, descriptor: Descriptor)]
    /// What copies its output to ours, by number; standard error is not among them when it has a terminal.
    let pumps: [Int: OutputPump]

    /// Makes the pipes.
    ///
    /// - Parameters:
    ///   - hasTerminal: it writes to a terminal of its own, and what it reads is typed there.
    ///   - isSilent: what it prints is not shown.
    /// - Throws: when there are no descriptors left.
    init(hasTerminal: Bool, isSilent: Bool) throws(HostError) {
        var offered: [(number: Int, descriptor: Descriptor)] = []
        var pumps: [Int: OutputPump] = [:]
        if !hasTerminal { offered.append((0, try Self.input())) }
        for number in hasTerminal ? [1] : [1, 2] {
            let pipe = try Descriptor.pipe(nonblockingRead: true)
            pipe.read.enlargePipe()
            offered.append((number, pipe.write))
            pumps[number] = OutputPump(pipe.read, to: isSilent ? nil : Int32(number))
        }
        self.offered = offered
        self.pumps = pumps
    }

    /// Closes our copies of what was offered: the warden has its own.
    mutating func forgetOffered() { offered = [] }

    /// The command gets our standard input itself: what it does not read stays there for the next one.
    ///
    /// A terminal whose foreground is somebody else's is not given away: the command could not be stopped from
    /// reading what is meant for others.
    private static func input() throws(HostError) -> Descriptor {
        if isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) != getpgrp() {
            return try Descriptor.open("/dev/null", O_RDONLY)
        }
        return try Descriptor.duplicate(of: STDIN_FILENO)
    }
}
