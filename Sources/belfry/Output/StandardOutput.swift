import Glibc

/// The process's standard output, written at once: what is printed can be read the moment it is known.
enum StandardOutput {
    /// Writes `text` and a line end.
    static func print(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes `bytes` as they are; a reader that went away ends the process quietly, as a pipe does.
    static func write(_ bytes: [UInt8]) { Descriptors.write(bytes, to: STDOUT_FILENO) }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// The process's standard error.
enum StandardError {
    /// Writes `text` and a line end.
    static func print(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes `bytes` as they are.
    static func write(_ bytes: [UInt8]) { Descriptors.write(bytes, to: STDERR_FILENO) }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

private enum Descriptors {
    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR && errno != EAGAIN {
                return
            }
        }
    }
}
