/// Where a call goes.
package struct DBusMethod: Hashable, Sendable {
    /// The peer's bus name, well-known or unique.
    package var destination: String
    /// The object's path.
    package var path: String
    /// The interface.
    package var interface: String
    /// The method's name.
    package var member: String
    /// Whether the bus may start the peer for this call.
    ///
    /// Off: nothing is started by asking.
    package var mayStartPeer: Bool

    /// The method `interface.member` of the object `path` of `destination`.
    package init(
        destination: String, path: String, interface: String, member: String, mayStartPeer: Bool = false
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.mayStartPeer = mayStartPeer
    }

    /// A method of the bus itself, such as `ListNames`.
    package static func bus(_ member: String) -> DBusMethod {
        DBusMethod(
            destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus", member: member)
    }
}

/// A signal that arrived, broadcast or sent to us alone.
///
/// A signal sent to us alone arrives without any match rule, and anybody on the bus may send one:
/// compare ``sender`` before believing it.
package struct DBusSignal: Hashable, Sendable {
    /// The unique name of who sent it, such as `:1.7`; filled in by the bus.
    package var sender: String
    /// The object it came from.
    package var path: String
    /// The interface, such as `org.freedesktop.DBus`.
    package var interface: String
    /// The signal's name, such as `NameOwnerChanged`.
    package var member: String
    /// Its arguments.
    package var arguments: [DBusValue]

    /// A signal as it is received, or as ``DBusConnection/emit(path:interface:member:_:)`` sends it.
    package init(
        sender: String, path: String, interface: String, member: String, arguments: [DBusValue]
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

/// Selects broadcast signals that the bus passes on to this connection.
package struct DBusMatch: Hashable, Sendable {
    /// Who sends them; the bus follows a well-known name to its owner.
    ///
    /// `nil`: anybody.
    package var sender: String?
    /// The interface; `nil`: any.
    package var interface: String?
    /// The signal's name; `nil`: any.
    package var member: String?
    /// The first argument, a string; `nil`: any.
    package var firstArgument: String?

    /// All signals that fit every part given.
    package init(
        sender: String? = nil, interface: String? = nil, member: String? = nil, firstArgument: String? = nil
    ) {
        self.sender = sender
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// The owner of `name` changed: argument 2 and 3 of the signal are the old and new unique name.
    package static func ownerChanged(of name: String) -> DBusMatch {
        DBusMatch(
            sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            firstArgument: name)
    }

    /// The rule as the bus reads it.
    ///
    /// - Source: D-Bus specification 0.42, "Match Rules": a quote inside a value ends the quoting, is
    ///   escaped, and starts it again.
    package var rule: String {
        var parts = ["type='signal'"]
        for (key, value) in [
            ("sender", sender), ("interface", interface), ("member", member), ("arg0", firstArgument),
        ] {
            guard let value else { continue }
            parts.append(
                key + "='"
                    + value.split(separator: "'", omittingEmptySubsequences: false)
                    .joined(separator: #"'\''"#) + "'")
        }
        return parts.joined(separator: ",")
    }
}
