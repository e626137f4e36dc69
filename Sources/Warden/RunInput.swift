import Host
import Performing

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

    /// How many bytes the pipe or terminal took.
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
