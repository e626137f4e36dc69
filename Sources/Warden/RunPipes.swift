import Host
import Performing
import WardenProtocol

/// The warden's ends of what a run writes to.
struct RunPipes {
    /// Standard output, and standard error unless that has its own; nil once everybody has closed it.
    var outputPipe: Descriptor?
    /// Standard error of a job with a terminal attached.
    var errorPipe: Descriptor?
    /// Where copies go while somebody is attached; the pipe is read only as fast as that takes them.
    var outputSink: OutputSink?
    var errorSink: OutputSink?
    var output: OutputFile
    var isOutputWatched: Bool
    var copies = CopyBudget()
    /// `PROGRESS_FD`; nil once everybody has closed it.
    var progressPipe: Descriptor?
    var lines = LineSplitter()
    /// Its terminal, whose ``PseudoTerminal/master`` is ``outputPipe``; nil when it writes to a pipe.
    var terminal: PseudoTerminal?
    /// The run's side of the terminal, held until its first process has ended: one that closes it and
    /// opens it again must not find the terminal gone.
    var slave: Descriptor?
    /// What it is given to read; nil when that is nothing, or over.
    var input: RunInput?
    /// `NOTIFY_SOCKET`.
    var notifySocket: Descriptor
    var notifyPath: String
}

/// How much output may be copied to the daemon: 256 KiB a second, at once when it was quiet before.
struct CopyBudget {
    private static let most = 256 << 10

    private var left = most
    private var filledAt = Duration.zero

    /// Whether `count` more bytes may be copied now, since boot.
    mutating func take(_ count: Int, at now: Duration) -> Bool {
        let earned = (now - filledAt) / .seconds(1) * Double(Self.most)
        left = Int(min(Double(Self.most), Double(left) + earned))
        filledAt = now
        guard count <= left else { return false }
        left -= count
        return true
    }
}
