import Glibc

/// A socket of this machine, by the system's calls alone.
enum BareSocket {
    /// A socket at a port of 127.0.0.1 that does not listen yet; 0 takes a free port.
    ///
    /// The corresponding C functions are `socket`, `bind` and `getsockname`.
    static func bind(port: UInt16 = 0) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // So that it can listen once more while connections of before are left.
        if port != 0 { set(SO_REUSEADDR, of: SOL_SOCKET, on: descriptor) }
        // A socket address of version 4, byte by byte: family, port, address.
        var address: [UInt8] =
            [2, 0, UInt8(port >> 8), UInt8(port & 0xff), 127, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        var length = socklen_t(address.count)
        let isBound = unsafe address.withUnsafeMutableBytes { bytes in
            guard let raw = bytes.baseAddress else { return false }
            let address = unsafe raw.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.bind(descriptor, address, length) == 0
                && getsockname(descriptor, address, &length) == 0
        }
        guard isBound else { throw SocketFailed() }
        return (descriptor, UInt16(address[2]) << 8 | UInt16(address[3]))
    }

    /// The next connection to a listening socket, which sends small pieces at once; nil: the socket no longer listens.
    ///
    /// Servers do that: else the kernel holds a small piece back until the one before is acknowledged.
    static func accept(on descriptor: Int32) -> Int32? {
        let connection = Glibc.accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        set(TCP_NODELAY, of: Int32(IPPROTO_TCP), on: connection)
        return connection
    }

    private static func set(_ option: Int32, of level: Int32, on descriptor: Int32) {
        var isOn: Int32 = 1
        unsafe setsockopt(descriptor, level, option, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends the text; false: nobody reads it any more.
    static func send(_ text: String, to connection: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}

/// A socket of the benchmark could not be had.
struct SocketFailed: Error {}

/// Finds where a request ends.
enum RequestLength {
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
