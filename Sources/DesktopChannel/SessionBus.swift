import DBus

/// Where the user's session bus may be.
package struct SessionBus: Sendable {
    /// Addresses to try, in order; none starts a process.
    ///
    /// May be empty. `$DBUS_SESSION_BUS_ADDRESS`, then `bus` in `$XDG_RUNTIME_DIR`, then in
    /// `/run/user/UID`, so that a daemon started outside the session finds it, also when it appears later.
    package let addresses: [String]

    /// The places that the variables of `environment` and the user's number name.
    package init(environment: [String: String], userID: UInt32) {
        var addresses: [String] = []
        if let named = environment["DBUS_SESSION_BUS_ADDRESS"], !named.isEmpty { addresses.append(named) }
        for folder in [environment["XDG_RUNTIME_DIR"], "/run/user/\(userID)"] {
            guard let folder, folder.hasPrefix("/") else { continue }
            let address = "unix:path=" + Self.escaped(folder + "/bus")
            if !addresses.contains(address) { addresses.append(address) }
        }
        self.addresses = addresses
    }

    /// - Source: D-Bus specification 0.42, "Server Addresses": every byte but these is written `%xx`.
    private static func escaped(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "*"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += byte < 16 ? "%0" : "%"
                text += String(byte, radix: 16)
            }
        }
    }
}

/// Every place where a session bus was looked for, and why it is not there.
struct NoBus: Error {
    var refusals: [(address: String, error: DBusError)] = []

    /// The places with their reasons, the first one first.
    var text: String {
        if refusals.isEmpty { return "no address is known" }
        return refusals.map { refusal in
            // libdbus says the errno's text last, behind a path that is the address's.
            guard case .cannotConnect(_, let message) = refusal.error else {
                return "\(refusal.address): \(refusal.error)"
            }
            return "\(refusal.address): \(message.split(separator: ": ").last ?? "")"
        }.joined(separator: "; ")
    }
}
