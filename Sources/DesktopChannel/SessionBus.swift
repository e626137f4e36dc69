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

/// One connection to the session bus, from its beginning to its end, and what is waited for on it.
struct BusVisit {
    let connection: DBusConnection
    /// The bus's own id; empty before it was asked.
    var busID = ""
    /// The calls whose answers are waited for beyond their deadline.
    let overdues: AsyncStream<LateAnswer.Call>.Continuation
    /// The answers that came after their deadline.
    let lateAnswers: AsyncStream<LateAnswer>.Continuation
    /// How long a server that did not start is left alone, one element a time it did not.
    private let starts: AsyncStream<Duration>.Continuation
    var startPause = Backoff()
    /// Why the connection was given up though it was well; nil: it was not.
    var problem: String?
    private var calls = 0
    /// The calls that were answered in the moment between their deadline and our hearing of it.
    private var answeredJustLate: Set<Int> = []

    init(
        _ connection: DBusConnection, overdues: AsyncStream<LateAnswer.Call>.Continuation,
        lateAnswers: AsyncStream<LateAnswer>.Continuation, starts: AsyncStream<Duration>.Continuation
    ) {
        self.connection = connection
        self.overdues = overdues
        self.lateAnswers = lateAnswers
        self.starts = starts
    }

    /// The number of the next call.
    mutating func countCall() -> Int {
        calls += 1
        return calls
    }

    /// The server did not start: leaves it alone for a while, longer each time.
    mutating func delayStart() { starts.yield(startPause.next()) }

    /// The first problem explains those after it.
    mutating func note(problem: String) { self.problem = self.problem ?? problem }

    /// The call was answered after its deadline, before anybody waited for that.
    mutating func noteAnswer(to call: LateAnswer.Call) { answeredJustLate.insert(call.number) }

    /// Whether the call was answered after its deadline already; forgets that.
    mutating func wasAnswered(_ call: LateAnswer.Call) -> Bool { answeredJustLate.remove(call.number) != nil }
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
