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
