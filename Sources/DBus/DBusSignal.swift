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
