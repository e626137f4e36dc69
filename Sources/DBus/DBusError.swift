/// Why an operation on the bus failed.
package enum DBusError: Error, Hashable, Sendable {
    /// The address is malformed, or of a kind that would start a process (`autolaunch:`, `unixexec:`).
    case badAddress(String)

    /// No connection could be opened; `name` and `message` are libdbus' own.
    case cannotConnect(name: String, message: String)

    /// The bus closed the connection, or ``DBusConnection/close()`` was called. The call may or may not have arrived.
    case disconnected

    /// No answer came before the deadline. The call may still take effect.
    case timedOut

    /// An argument cannot be sent: a NUL in a string, a malformed name, an array of mixed types. Nothing was sent.
    case invalidArgument(String)

    /// The peer, or the bus itself, answered with an error.
    case refused(name: String, message: String)

    /// The answer holds something this wrapper doesn't read, or not what the method promises.
    case unexpectedReply(String)

    /// libdbus could not get memory.
    case outOfMemory
}

extension DBusError: CustomStringConvertible {
    /// One sentence without secrets: peers' texts and our own.
    package var description: String {
        switch self {
        case .badAddress(let address): "not a usable bus address: \(address)"
        case .cannotConnect(let name, let message): "cannot connect to the bus: \(message) (\(name))"
        case .disconnected: "the bus connection is closed"
        case .timedOut: "no answer before the deadline"
        case .invalidArgument(let what): "cannot be sent over D-Bus: \(what)"
        case .refused(let name, let message): "\(name): \(message)"
        case .unexpectedReply(let what): "unexpected reply: \(what)"
        case .outOfMemory: "libdbus is out of memory"
        }
    }
}
