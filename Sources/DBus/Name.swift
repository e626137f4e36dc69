import CDBus

/// The forms of names that libdbus insists on: a malformed one would end the process.
enum Name {
    case busName, path, interface, member, signature, rule

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
