import Glibc
import Host

/// The process's standard output, written at once: what is printed can be read the moment it is known.
///
/// Output is never lost in silence: where it can't be written the process ends with 1 and the reason.
enum StandardOutput {
    /// Writes `text` and a line end.
    static func print(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes `bytes` as they are; a reader that closed its end of a pipe ends the process quietly.
    static func write(_ bytes: [UInt8]) {
        do throws(HostError) {
            try send(bytes)
        } catch {
            Entry.end(unwritten: error)
        }
    }

    /// As ``write(_:)``, for a caller that has more to do before the process ends.
    static func send(_ bytes: [UInt8]) throws(HostError) {
        try Descriptor.writeAll(bytes[...], to: STDOUT_FILENO)
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// The process's standard error; what can't be written there can't be reported anywhere.
enum StandardError {
    /// Writes `text` and a line end.
    static func print(_ text: String) { write(Array((text + "\n").utf8)) }

    /// Writes `bytes` as they are.
    static func write(_ bytes: [UInt8]) { try? Descriptor.writeAll(bytes[...], to: STDERR_FILENO) }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
