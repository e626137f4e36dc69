import Glibc
import Host
import Performing
import WardenProtocol

/// Standard input on its way to a command's terminal, never further ahead than the warden has room for.
struct ExecTyping {
    private let input: Descriptor
    private var sent = 0
    private var taken = 0
    /// Nothing more is to be read.
    private(set) var isOver = false
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)

    init() throws(HostError) {
        input = try Descriptor.duplicate(of: STDIN_FILENO)
    }

    /// What to wait for.
    var raw: Int32 { input.raw }

    /// Whether there is room for more.
    var mayRead: Bool { !isOver && sent - taken + buffer.count <= ProcessOrder.inputWindow }

    /// The command took all up to `end`, or will take nothing any more.
    mutating func took(_ end: Int, isClosed: Bool) {
        taken = max(taken, end)
        if isClosed { isOver = true }
    }

    /// What standard input holds now, as a command for the warden; nil when it holds nothing.
    mutating func read(for key: RunKey) -> WardenCommand? {
        switch (try? input.read(into: &buffer)) ?? .end {
        case .bytes(let count):
            defer { sent += count }
            return .input(key, offset: sent, bytes: Array(buffer[..<count]))
        case .wouldBlock: return nil
        case .end:
            isOver = true
            return .closeInput(key)
        }
    }
}
