import DBus
import Synchronization
import Timeline

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

/// The pauses that are being made, all of which can be ended at once.
final class Pauses: Sendable {
    private struct State {
        var ends: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let clock: any WallClock

    init(clock: any WallClock) {
        self.clock = clock
    }

    /// Waits for `duration`, or until the pauses are ended.
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    func rest(for duration: Duration) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let pause = state.withLock { state in
            state.count += 1
            state.ends[state.count] = end
            return state.count
        }
        defer { state.withLock { $0.ends[pause] = nil } }
        let until = clock.now + duration
        try await withThrowingTaskGroup { group in
            group.addTask { [clock] in try await clock.sleep(until: until) }
            group.addTask { for await _ in ends {} }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }

    /// Ends the pauses that are being made.
    func end() {
        for end in state.withLock({ $0.ends.values.map(\.self) }) { end.finish() }
    }
}

/// How long to wait before the bus is tried again: a second, twice as long each time, a minute at most.
struct Backoff {
    private var upcoming = Duration.seconds(1)

    /// The next wait; the one after is twice as long, up to a minute.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, .seconds(60)) }
        return upcoming
    }
}

/// How a terminal is opened on the desktop.
package struct Terminal: Sendable {
    /// Whether there is one, and a screen for it, at this moment.
    package let isThere: @Sendable () -> Bool
    /// Opens one in which `belfry` runs with these arguments; a token lets it come to the front.
    ///
    /// Returns why it was not opened; nil: it was.
    package let open: @Sendable (_ arguments: [String], _ activationToken: String?) async -> String?

    /// A way to open terminals.
    package init(
        isThere: @escaping @Sendable () -> Bool,
        open: @escaping @Sendable (_ arguments: [String], _ activationToken: String?) async -> String?
    ) {
        self.isThere = isThere
        self.open = open
    }
}
