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
