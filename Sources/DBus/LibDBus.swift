import CDBus

/// Settings of libdbus as a whole, made once before the first connection.
///
/// `dbus_shutdown` is never called.
enum LibDBus {
    /// Makes libdbus safe for threads, and leaves the process' SIGPIPE alone.
    static func prepare() {
        once
    }

    private static let once: Void = {
        dbus_threads_init_default()
        dbus_connection_set_change_sigpipe(0)
    }()
}

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

/// The forms of names that libdbus insists on: a malformed one would end the process.
enum Name {
    case busName, path, interface, member, signature, rule

    /// Throws ``DBusError/badAddress(_:)`` unless `address` is one that starts no process.
    static func check(address: String) throws(DBusError) {
        guard !address.utf8.contains(0), !address.isEmpty,
            address.split(separator: ";").allSatisfy({ $0.hasPrefix("unix:") || $0.hasPrefix("tcp:") })
        else { throw .badAddress(address) }
    }

    /// Throws ``DBusError/invalidArgument(_:)`` unless `text` has the form `form`.
    static func check(_ text: String, as form: Name) throws(DBusError) {
        guard !text.utf8.contains(0) else { throw .invalidArgument("a NUL in a \(form)") }
        let isValid =
            switch form {
            case .busName: unsafe dbus_validate_bus_name(text, nil) != 0
            case .path: unsafe dbus_validate_path(text, nil) != 0
            case .interface: unsafe dbus_validate_interface(text, nil) != 0
            case .member: unsafe dbus_validate_member(text, nil) != 0
            case .signature: unsafe dbus_signature_validate(text, nil) != 0
            case .rule: text.utf8.count <= Int(DBUS_MAXIMUM_MATCH_RULE_LENGTH)
            }
        guard isValid else { throw .invalidArgument("\"\(text)\" is no \(form)") }
    }
}
