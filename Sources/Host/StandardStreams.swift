import Glibc

/// The process's standard output, written at once: what is printed can be read the moment it is known.
package enum StandardOutput {
    /// Writes `bytes` as they are.
    package static func send(_ bytes: [UInt8]) throws(HostError) {
        try Descriptor.writeAll(bytes[...], to: STDOUT_FILENO)
    }

    /// Whether a person reads it.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// The process's standard error; what can't be written there can't be reported anywhere.
package enum StandardError {
    /// Writes `text` and a line end.
    package static func print(_ text: String) { write(text + "\n") }

    /// Writes `text` as it is.
    package static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes `bytes` as they are.
    package static func write(_ bytes: [UInt8]) { try? Descriptor.writeAll(bytes[...], to: STDERR_FILENO) }

    /// Whether a person reads it.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// The terminal that a program was started from, wherever its output goes.
package enum ControllingTerminal {
    /// Writes to it as it is.
    ///
    /// - Throws: that there is none.
    package static func write(_ bytes: [UInt8]) throws(HostError) {
        try Descriptor.open("/dev/tty", O_WRONLY | O_NOCTTY).writeAll(bytes[...])
    }
}
