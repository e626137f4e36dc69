import CDBus

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

    /// A call with its arguments; every name is checked first.
    static func call(_ method: DBusMethod, _ arguments: [DBusValue]) throws(DBusError) -> Message {
        try Name.check(method.destination, as: .busName)
        try Name.check(method.path, as: .path)
        try Name.check(method.interface, as: .interface)
        try Name.check(method.member, as: .member)
        guard
            let pointer = unsafe dbus_message_new_method_call(
                method.destination, method.path, method.interface, method.member)
        else { throw .outOfMemory }
        let message = unsafe Message(owning: pointer)
        unsafe dbus_message_set_auto_start(pointer, method.mayStartPeer ? 1 : 0)
        try MessageWriter.append(arguments, to: message)
        return message
    }

    /// A broadcast signal with its arguments; every name is checked first.
    static func signal(
        path: String, interface: String, member: String, _ arguments: [DBusValue]
    ) throws(DBusError) -> Message {
        try Name.check(path, as: .path)
        try Name.check(interface, as: .interface)
        try Name.check(member, as: .member)
        guard let pointer = unsafe dbus_message_new_signal(path, interface, member) else {
            throw .outOfMemory
        }
        let message = unsafe Message(owning: pointer)
        try MessageWriter.append(arguments, to: message)
        return message
    }

    /// The arguments of an answer, or the error it is.
    func answer() throws(DBusError) -> [DBusValue] {
        if unsafe dbus_message_get_type(pointer) == DBUS_MESSAGE_TYPE_ERROR {
            let name = unsafe copy(dbus_message_get_error_name(pointer)) ?? ""
            if name == DBUS_ERROR_DISCONNECTED { throw .disconnected }
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

    /// Whether libdbus says with this that the connection is gone.
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
