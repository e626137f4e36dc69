import API
import Glibc

/// The process's standard input.
enum StandardInput {
    /// All of it as text, broken UTF-8 replaced, line ends at the end dropped.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/tooLarge`` when there are more than `limit` bytes.
    static func text(limit: Int) throws(APIError) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw APIError(
                    .tooLarge, "standard input holds more than \(limit / 1024) KiB",
                    hint: "Pipe it through: tail -c \(limit)")
            }
        }
        while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
