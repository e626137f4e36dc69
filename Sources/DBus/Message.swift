import CDBus

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

/// One libdbus message, released with the object.
@safe final class Message {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    /// Keeps a message that libdbus still owns.
    init(keeping pointer: OpaquePointer) {
        unsafe dbus_message_ref(pointer)
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe dbus_message_unref(pointer)
    }

    /// A message of our own under the number `serial`.
    ///
    /// libdbus checks every byte of it; a malformed name is refused here and not by an abort later.
    ///
    /// The corresponding C function is `dbus_message_demarshal`.
    convenience init(_ wire: ReceivedMessage, serial: UInt32) throws(DBusError) {
        let bytes = wire.bytes(serial: serial)
        var failure = unsafe CDBus.DBusError()
        unsafe dbus_error_init(&failure)
        let pointer = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe dbus_message_demarshal(characters.baseAddress, Int32(characters.count), &failure)
            }
        }
        guard let pointer = unsafe pointer else {
            defer { unsafe dbus_error_free(&failure) }
            guard unsafe dbus_error_has_name(&failure, DBUS_ERROR_NO_MEMORY) == 0 else { throw .outOfMemory }
            throw unsafe .invalidArgument(failure.message.map { unsafe String(cString: $0) } ?? "")
        }
        unsafe self.init(owning: pointer)
    }

    /// Whether this answers a call, with an error or without.
    var isReply: Bool {
        let type = unsafe dbus_message_get_type(pointer)
        return type == DBUS_MESSAGE_TYPE_METHOD_RETURN || type == DBUS_MESSAGE_TYPE_ERROR
    }

    /// The number of the message this replies to; 0 when it is no reply.
    var replySerial: UInt32 { unsafe dbus_message_get_reply_serial(pointer) }

    /// The arguments of an answer, or the error it is.
    func answer() throws(DBusError) -> [DBusValue] {
        if unsafe dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_ERROR {
            let name = unsafe copy(dbus_message_get_error_name(pointer)) ?? ""
            let text = (try? MessageReader.arguments(of: self))?.first?.text ?? ""
            throw .refused(name: name, message: text)
        }
        return try MessageReader.arguments(of: self)
    }

    /// The signal this is; `nil` for other messages, and for signals with arguments we don't read.
    var signal: DBusSignal? {
        guard unsafe dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_SIGNAL,
            let arguments = try? MessageReader.arguments(of: self)
        else { return nil }
        return unsafe DBusSignal(
            sender: copy(dbus_message_get_sender(pointer)) ?? "",
            path: copy(dbus_message_get_path(pointer)) ?? "",
            interface: copy(dbus_message_get_interface(pointer)) ?? "",
            member: copy(dbus_message_get_member(pointer)) ?? "",
            arguments: arguments)
    }

    /// Whether this is libdbus' own signal that the connection is closed.
    ///
    /// No peer can send it.
    var saysDisconnected: Bool {
        unsafe dbus_message_is_signal(pointer, DBUS_INTERFACE_LOCAL, "Disconnected") != 0
    }

    private func copy(_ text: UnsafePointer<CChar>?) -> String? {
        unsafe text.map { unsafe String(cString: $0) }
    }
}

@available(*, unavailable) extension Message: Sendable {}

/// A message of ours as the bytes of the wire, complete but for its number.
struct ReceivedMessage: Sendable {
    private var bytes: [UInt8]

    /// Writes `arguments` behind `head`; a name or value that cannot travel throws.
    init(_ head: MessageHead, _ arguments: [DBusValue]) throws(DBusError) {
        try head.check()
        bytes = try MessageWriter.bytes(of: head, arguments)
    }

    /// The bytes to send under the number `serial`, which is not 0.
    func bytes(serial: UInt32) -> [UInt8] {
        let serialOffset = 8
        var bytes = bytes
        bytes.replace(at: serialOffset, with: serial)
        return bytes
    }
}

/// The header of a message, before its arguments.
struct MessageHead {
    /// - Source: D-Bus specification 0.42, "Message Format": the codes of the types.
    enum Kind: UInt8 {
        case call = 1
        case signal = 4
    }

    private static let noReplyExpected: UInt8 = 1
    private static let noAutoStart: UInt8 = 2

    var kind: Kind
    var flags: UInt8
    var path: String
    var interface: String
    var member: String
    var destination: String?

    /// A call of `method`.
    init(_ method: DBusMethod) {
        kind = .call
        flags = method.mayStartPeer ? 0 : Self.noAutoStart
        path = method.path
        interface = method.interface
        member = method.member
        destination = method.destination
    }

    /// A broadcast signal.
    init(path: String, interface: String, signal member: String) {
        kind = .signal
        flags = Self.noReplyExpected
        self.path = path
        self.interface = interface
        self.member = member
    }

    /// Throws the name that is malformed, if one is.
    func check() throws(DBusError) {
        if let destination { try Name.check(destination, as: .busName) }
        try Name.check(path, as: .path)
        try Name.check(interface, as: .interface)
        try Name.check(member, as: .member)
    }
}
