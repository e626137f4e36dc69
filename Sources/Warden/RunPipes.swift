import Glibc
import Host
import Performing
import WardenProtocol

/// One of the two streams a job writes to.
///
/// Without a terminal attached both are one pipe, ``output``, so that their order is kept.
enum JobStream: CaseIterable {
    case output, errors
}

extension JobStream {
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

extension RunPipes {
    subscript(pipe stream: JobStream) -> Descriptor? {
        get { stream == .output ? outputPipe : errorPipe }
        set { if stream == .output { outputPipe = newValue } else { errorPipe = newValue } }
    }

    subscript(sink stream: JobStream) -> OutputSink? {
        get { stream == .output ? outputSink : errorSink }
        set { if stream == .output { outputSink = newValue } else { errorSink = newValue } }
    }
}

/// The warden's ends of what a run writes to.
struct RunPipes {
    /// Standard output, and standard error unless that has its own; nil once everybody has closed it.
    var outputPipe: Descriptor?
    /// Standard error of a job with a terminal attached, or with a log of its own for it.
    var errorPipe: Descriptor?
    /// Where copies go while a terminal is attached; the pipe is read only as fast as its reader reads.
    var outputSink: OutputSink?
    var errorSink: OutputSink?
    var output: OutputFile
    /// The log of ``errorPipe``; nil: its bytes go to ``output``.
    var errorOutput: OutputFile?
    /// The newest of what it printed, and of what came out of ``errorPipe``.
    var recentOutput = RecentBytes()
    var recentErrors = RecentBytes()
    var isOutputWatched: Bool
    var copies = CopyBudget()
    /// `PROGRESS_FD`; nil once everybody has closed it.
    var progressPipe: Descriptor?
    var lines = LineSplitter()
    /// Its terminal, whose ``PseudoTerminal/master`` is ``outputPipe``; nil when it writes to a pipe.
    var terminal: PseudoTerminal?
    /// The run's side of the terminal, held until its first process has ended: one that closes it and
    /// opens it again must still find the terminal.
    var slave: Descriptor?
    /// What it is given to read; nil when that is nothing, or over.
    var input: RunInput?
    /// `NOTIFY_SOCKET`.
    var notifySocket: Descriptor
    var notifyPath: String
    var notifyReader: NotifyReader
}

/// How much output may be copied to the daemon: 256 KiB a second, at once when it was quiet before.
struct CopyBudget {
    private static let most = 256 << 10

    private var left = most
    private var filledAt = Duration.zero

    /// Whether `count` more bytes may be copied now, since boot.
    mutating func spend(_ count: Int, at now: Duration) -> Bool {
        let earned = (now - filledAt) / .seconds(1) * Double(Self.most)
        left = Int(min(Double(Self.most), Double(left) + earned))
        filledAt = now
        guard count <= left else { return false }
        left -= count
        return true
    }
}

/// What a run is given to read, on its way into the pipe or terminal.
///
/// Holds at most ``ProcessOrder/inputWindow`` bytes: a run that never reads costs no more.
struct RunInput {
    let descriptor: Descriptor
    /// Types the end of the input, when the run reads at a terminal.
    let terminal: PseudoTerminal?
    private var waiting: [UInt8] = []
    private var start = 0
    /// How many of the waiting bytes were added here and count for nobody.
    private var added = 0
    /// How many bytes it was given so far.
    private(set) var end = 0
    /// Nothing more comes.
    private(set) var isEnding = false
    /// The run reads nothing any more, or has read all.
    private(set) var isClosed = false

    init(_ descriptor: Descriptor, terminal: PseudoTerminal? = nil) {
        self.descriptor = descriptor
        self.terminal = terminal
    }

    /// All that the run will read is `bytes`.
    init(_ descriptor: Descriptor, holding bytes: [UInt8]) {
        self.init(descriptor)
        waiting = bytes
        end = bytes.count
        isEnding = true
    }

    /// How many bytes the pipe or terminal has accepted.
    var taken: Int { end - max(0, waiting.count - start - added) }
    /// Whether bytes wait for room.
    var isWaiting: Bool { start < waiting.count }

    /// Adds what is new of `bytes`, the first of which stands at `offset`; what leaves a gap is dropped.
    mutating func add(_ bytes: ArraySlice<UInt8>, at offset: Int) {
        guard !isEnding, !isClosed, offset <= end, end - offset < bytes.count else { return }
        let room = ProcessOrder.inputWindow - (waiting.count - start)
        let new = bytes.dropFirst(end - offset).prefix(max(0, room))
        waiting.append(contentsOf: new)
        end += new.count
    }

    /// Nothing more comes.
    mutating func finish() {
        guard !isEnding else { return }
        isEnding = true
        guard let terminal else { return }
        // In the middle of a line the first one only hands over what was typed.
        added = 2
        waiting += [UInt8](repeating: terminal.endOfFile, count: added)
    }

    /// Writes what has room.
    mutating func flush() {
        while isWaiting, !isClosed {
            guard let count = try? descriptor.write(waiting[start...]) else {
                isClosed = true
                break
            }
            guard count > 0 else { return }
            start += count
        }
        waiting = []
        start = 0
        added = 0
        if isEnding { isClosed = true }
    }
}

/// The newest bytes of a stream, for the record of its run's end.
struct RecentBytes {
    private var bytes: [UInt8] = []

    /// At most ``ExitRecord/tailLimit`` of them.
    var newest: [UInt8] { Array(bytes.suffix(ExitRecord.tailLimit)) }

    mutating func append(_ more: ArraySlice<UInt8>) {
        if more.count >= ExitRecord.tailLimit {
            bytes = Array(more.suffix(ExitRecord.tailLimit))
            return
        }
        bytes += more
        // Not with each short piece: what is in front is moved only now and then.
        if bytes.count > 2 * ExitRecord.tailLimit { bytes.removeFirst(bytes.count - ExitRecord.tailLimit) }
    }
}

/// The write end of a reader's pipe: writes what has room at once and keeps the rest, in order.
final class OutputSink {
    let descriptor: Descriptor
    private var waiting: [UInt8] = []
    private var start = 0
    /// Nobody reads the other end any more; what is written is dropped.
    private(set) var isBroken = false

    init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
    }

    /// Whether bytes wait for the reader.
    var hasWaiting: Bool { start < waiting.count }

    func write(_ bytes: ArraySlice<UInt8>) {
        guard !isBroken else { return }
        let sent = hasWaiting ? 0 : send(bytes)
        if !isBroken { waiting += bytes.dropFirst(sent) }
    }

    /// Writes what has room now of what waits.
    func flush() {
        guard hasWaiting else { return }
        start += send(waiting[start...])
        guard isBroken || !hasWaiting else { return }
        waiting = []
        start = 0
    }

    private func send(_ bytes: ArraySlice<UInt8>) -> Int {
        var sent = 0
        while sent < bytes.count {
            let rest = bytes.dropFirst(sent)
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor.raw, $0.baseAddress, $0.count)
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                isBroken = true
                return bytes.count
            }
        }
        return sent
    }
}

/// Cuts what comes out of a `PROGRESS_FD` into lines.
struct LineSplitter {
    /// The longest line that is passed on; of a longer one nothing is.
    static let limit = 8192

    private var partial: [UInt8] = []
    private var isTooLong = false

    /// The lines that `bytes` completed, without their ends, empty ones left out.
    mutating func split(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            add(rest[..<end])
            if let line = finish() { lines.append(line) }
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// What stands after the last line's end, when nothing more comes.
    mutating func finish() -> [UInt8]? {
        defer {
            partial = []
            isTooLong = false
        }
        if partial.last == 0x0D { partial.removeLast() }
        return partial.isEmpty || isTooLong ? nil : partial
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        if partial.count + bytes.count > Self.limit { isTooLong = true }
        if !isTooLong { partial += bytes }
    }
}
