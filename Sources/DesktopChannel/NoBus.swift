import DBus

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
