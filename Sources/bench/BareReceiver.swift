import Glibc
import Synchronization

/// The cheapest honest receiver: reads each request whole, answers it, keeps the connection.
///
/// One thread a connection, so that what is measured is the sender.
final class BareReceiver: Sendable {
    /// What becomes of a request.
    enum Reply {
        /// A status line's end, such as `204 No Content`, and no body.
        case status(String)
        /// The connection is closed without a word.
        case hangUp
    }

    let port: UInt16
    private let descriptor: Int32
    private let received = Mutex(0)
    private let reply: @Sendable (ArraySlice<UInt8>) -> Reply

    /// Listens on a free port of 127.0.0.1; `reply` sees each request, its head and its body.
    init(
        _ reply: @escaping @Sendable (ArraySlice<UInt8>) -> Reply = { _ in .status("204 No Content") }
    ) throws {
        self.reply = reply
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A socket address of version 4, byte by byte: family, port (0 takes a free one), address.
        var address: [UInt8] = [2, 0, 0, 0, 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        var length = socklen_t(address.count)
        let bound = unsafe address.withUnsafeMutableBytes { [descriptor] bytes in
            guard let raw = bytes.baseAddress else { return false }
            let address = unsafe raw.assumingMemoryBound(to: sockaddr.self)
            return unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 512) == 0
                && getsockname(descriptor, address, &length) == 0
        }
        guard bound else { throw SocketFailed() }
        port = UInt16(address[2]) << 8 | UInt16(address[3])
        try onThread { [descriptor] in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                try? self.onThread { self.serve(connection) }
            }
        }
    }

    /// A blocking connection to it, for the comparison.
    func connectBare() throws -> Int32 {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let address: [UInt8] =
            [2, 0, UInt8(port >> 8), UInt8(port & 0xff), 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        let code = unsafe address.withUnsafeBytes { bytes in
            guard let raw = bytes.baseAddress else { return Int32(-1) }
            return unsafe connect(
                connection, raw.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard code == 0 else { throw SocketFailed() }
        return connection
    }

    /// How many requests have been answered.
    var count: Int { received.withLock { $0 } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var buffer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe read(connection, &part, part.count), count > 0 {
            buffer.append(contentsOf: part[..<count])
            while let length = RequestLength.of(buffer), length <= buffer.count {
                let reply = reply(buffer[..<length])
                buffer.removeFirst(length)
                received.withLock { $0 += 1 }
                guard case .status(let text) = reply else { return }
                let answer = Array("HTTP/1.1 \(text)\r\nContent-Length: 0\r\n\r\n".utf8)
                unsafe _ = write(connection, answer, answer.count)
            }
        }
    }

    private func onThread(_ work: @escaping @Sendable () -> Void) throws {
        let box = unsafe Unmanaged.passRetained(Box(work))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().work()
                return nil
            }, box.toOpaque())
        guard code == 0 else { throw SocketFailed() }
        pthread_detach(thread)
    }

    private final class Box: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
}

/// A socket of the benchmark could not be had.
struct SocketFailed: Error {}

/// Finds where a request ends.
private enum RequestLength {
    /// The bytes of the request `buffer` begins with, head and body; `nil` before the head is whole.
    static func of(_ buffer: [UInt8]) -> Int? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard buffer.count >= 4 else { return nil }
        for index in 0...(buffer.count - 4) where buffer[index] == 13 && buffer[index..<index + 4] == end[...]
        {
            return index + 4 + contentLength(buffer[..<index])
        }
        return nil
    }

    private static func contentLength(_ head: ArraySlice<UInt8>) -> Int {
        let name = Array("\r\nContent-Length: ".utf8)
        guard head.count > name.count else { return 0 }
        for index in head.startIndex...(head.endIndex - name.count)
        where head[index] == 13 && head[index..<index + name.count] == name[...] {
            var value = 0
            for byte in head[(index + name.count)...] {
                guard (0x30...0x39).contains(byte) else { break }
                value = value * 10 + Int(byte - 0x30)
            }
            return value
        }
        return 0
    }
}
