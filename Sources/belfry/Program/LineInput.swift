import API
import Glibc

/// Standard input in blocks of whole lines, each as soon as it is there.
struct LineInput {
    private var rest: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    private var isAtEnd = false
    private let limit: Int

    /// Lines of at most `limit` bytes.
    init(limit: Int) { self.limit = limit }

    /// The next whole lines; nil at the end.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/tooLarge`` for a line of more than the limit.
    mutating func nextBlock() throws(APIError) -> ArraySlice<UInt8>? {
        while !isAtEnd {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                isAtEnd = true
                break
            }
            guard let end = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) else {
                rest += buffer[..<count]
                try check()
                continue
            }
            let block = rest + buffer[...end]
            rest = Array(buffer[(end + 1)..<count])
            return block[...]
        }
        defer { rest = [] }
        return rest.isEmpty ? nil : rest[...]
    }

    private func check() throws(APIError) {
        guard rest.count > limit else { return }
        throw APIError(.tooLarge, "a line of standard input holds more than \(limit / 1024) KiB")
    }
}
