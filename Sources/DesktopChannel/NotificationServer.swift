import DBus
import Delivery
import Logging

/// A notification server in one of its lives.
struct ServerProfile: Sendable {
    /// The well-known name, which is also the interface.
    static let service = "org.freedesktop.Notifications"

    /// The unique name of its connection.
    ///
    /// All calls go there and never to the well-known name: a server
    /// that takes over would hear ids of its predecessor, and overwrite what strangers show.
    let owner: String
    /// Which life of which server on which bus; see `RemoteID`.
    let generation: String
    /// What it can do, as far as that decides how a notice looks.
    let abilities: DesktopServer
    /// Its name and version, as it says; empty when it does not.
    let title: String

    /// Asks `owner` what it can do; each question has `deadline`.
    init(
        owner: String, bus: String, on connection: DBusConnection, deadline: Duration
    ) async throws(DBusError) {
        self.owner = owner
        generation = Self.generation(owner: owner, bus: bus)
        let capabilities = try await Set(
            Self.ask("GetCapabilities", of: owner, on: connection, deadline: deadline)?.first?.strings
                ?? ["body"])
        let words =
            try await Self.ask(
                "GetServerInformation", of: owner, on: connection, deadline: deadline)?.compactMap(\.text)
            ?? []
        title = words.count > 2 ? words[0] + " " + words[2] : ""
        abilities = DesktopServer(name: words.first, capabilities: capabilities)
    }

    /// The generation of `owner` on the bus with that id; an empty `owner` is a server not yet started.
    static func generation(owner: String, bus: String) -> String { bus + "/" + owner }

    /// A method of this server.
    func method(_ member: String) -> DBusMethod { Self.method(member, of: owner) }

    /// The number of `remote`, when this server gave it in this life.
    func number(of remote: RemoteID?) -> UInt32? {
        guard let remote, remote.generation == generation else { return nil }
        return UInt32(remote.id)
    }

    /// What this server calls `number`.
    func remote(_ number: UInt32) -> RemoteID { RemoteID(generation: generation, id: String(number)) }

    private static func method(_ member: String, of owner: String) -> DBusMethod {
        DBusMethod(
            destination: owner, path: "/org/freedesktop/Notifications", interface: service, member: member)
    }

    /// The answer, or `nil` from a server too small to know the question.
    private static func ask(
        _ member: String, of owner: String, on connection: DBusConnection, deadline: Duration
    ) async throws(DBusError) -> [DBusValue]? {
        do throws(DBusError) {
            return try await connection.call(method(member, of: owner), deadline: deadline)
        } catch .refused(name: "org.freedesktop.DBus.Error.UnknownMethod", _) {
            return nil
        } catch {
            throw error
        }
    }
}

/// Which server shows notifications now, as far as is known, and what it shows of ours.
///
/// Pure: signals and answers in, state out.
struct ServerSeat {
    /// The server to send to; nil: there is none, or it owes an answer.
    private(set) var profile: ServerProfile?
    /// The owner of the name, asked or still being asked what it can do; nil: there is none.
    var candidate: String?
    /// Whether the bus can start a server.
    var canStart = false
    /// The call that its server has not answered in time; nothing more is sent there before it has.
    private(set) var overdue: LateAnswer.Call?
    /// The highest revision shown under each id of the server's present life.
    private var revisions: [RemoteID: Int] = [:]

    /// Whose signals and answers count: one that owes an answer still reports what a person does with what it shows.
    var sender: ServerProfile? { overdue?.server ?? profile }

    /// Whether no server runs, and the bus can start one.
    var isAsleep: Bool { profile == nil && overdue == nil && candidate == nil && canStart }

    /// The server answers: it is the one to send to.
    mutating func adopt(_ profile: ServerProfile) {
        overdue = nil
        self.profile = profile
    }

    /// The server has not answered the call in time: nothing more is sent to it.
    mutating func owes(_ call: LateAnswer.Call) {
        profile = nil
        overdue = call
    }

    /// Its life has ended, and its ids with it.
    mutating func forget() {
        let canStart = canStart
        self = ServerSeat()
        self.canStart = canStart
    }

    /// What it showed under this id is closed.
    ///
    /// - Returns: the revision that it showed last, where that is known.
    @discardableResult
    mutating func forget(_ remote: RemoteID) -> Int? { revisions.removeValue(forKey: remote) }

    /// Whether a newer revision is shown under this id.
    func shows(newerThan revision: Int, under remote: RemoteID) -> Bool {
        revisions[remote].map { $0 > revision } ?? false
    }

    /// The server showed this revision under the id, unless its life has ended meanwhile.
    mutating func note(_ revision: Int, shownAs remote: RemoteID) {
        if profile?.generation == remote.generation { revisions[remote] = revision }
    }

    /// A late answer: a newer revision may have been shown since.
    mutating func note(_ revision: Int, shownLateAs remote: RemoteID) {
        revisions[remote] = max(revisions[remote] ?? 0, revision)
    }
}

/// A signal of the bus or of a notification server, read.
enum ServerSignal: Equatable {
    /// The server's name has a new owner, or none.
    case ownerChanged(String?)
    /// The name of who shows jobs has a new owner, or none.
    case jobsOwnerChanged(String?)
    /// A notification was closed.
    case closed(UInt32, CloseReason)
    /// A button was pressed.
    case action(UInt32, key: String)
    /// A reply was typed.
    case reply(UInt32, text: String)
    /// What lets a window that opens for the next button come to the front.
    case activation(UInt32, token: String)

    /// Reads `signal` if it comes from the bus, or from `server` and not from somebody who plays it.
    init?(_ signal: DBusSignal, from server: String?) {
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus", "NameOwnerChanged") where signal.sender == "org.freedesktop.DBus":
            guard signal.arguments.count == 3, let owner = signal.arguments[2].text else { return nil }
            let known = owner.isEmpty ? nil : owner
            switch signal.arguments[0].text {
            case ServerProfile.service: self = .ownerChanged(known)
            case JobViews.service: self = .jobsOwnerChanged(known)
            default: return nil
            }
        case (ServerProfile.service, "NotificationClosed") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let reason = signal.arguments[1].uint32
            else { return nil }
            self = .closed(number, CloseReason(code: reason))
        case (ServerProfile.service, "ActionInvoked") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let key = signal.arguments[1].text
            else { return nil }
            self = .action(number, key: key)
        // - Source: Desktop Notifications Specification 1.3, `ActivationToken`.
        case (ServerProfile.service, "ActivationToken") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let token = signal.arguments[1].text
            else { return nil }
            self = .activation(number, token: token)
        // - Source: knotifications and plasma-workspace; swaync sends the same.
        case (ServerProfile.service, "NotificationReplied") where signal.sender == server:
            guard signal.arguments.count == 2, let number = signal.arguments[0].uint32,
                let text = signal.arguments[1].text
            else { return nil }
            self = .reply(number, text: text)
        default: return nil
        }
    }
}

extension CloseReason {
    /// - Source: Desktop Notifications Specification 1.2, `NotificationClosed`.
    fileprivate init(code: UInt32) {
        switch code {
        case 1: self = .expired
        case 2: self = .dismissed
        case 3: self = .closedByUs
        default: self = .undefined
        }
    }
}

/// What the channel reports: signals as they come, and each state once.
struct StateReports {
    private let signals: AsyncStream<SurfaceSignal>.Continuation
    private let logger: Logger
    private var lastState: SurfaceSignal?
    /// Whether there was a server, or one that the bus can start, at any time so far.
    private var wasThere = false

    init(to signals: AsyncStream<SurfaceSignal>.Continuation, logger: Logger) {
        self.signals = signals
        self.logger = logger
    }

    /// Reports what happened to something that is shown.
    func send(_ signal: SurfaceSignal) { signals.yield(signal) }

    /// Reports a state unless it is the same as the last; that it is away is logged by who has something to show.
    mutating func report(_ state: SurfaceSignal, by server: ServerProfile? = nil) {
        guard state != lastState else { return }
        lastState = state
        signals.yield(state)
        switch state {
        case .available:
            wasThere = true
            logger.notice("desktop available", metadata: ["server": "\(server?.title ?? "starts on demand")"])
        case .unavailable(let reason), .absent(let reason):
            logger.debug("desktop unavailable", metadata: ["reason": "\(reason)"])
        case .closed, .action, .reply, .answered: break
        }
    }

    /// The state that no server is there: where none ever was, as on a machine without a desktop, that is no fault.
    func away(_ reason: String) -> SurfaceSignal { wasThere ? .unavailable(reason) : .absent(reason) }
}

/// What a server answered to a call after everybody stopped waiting for it.
struct LateAnswer: Sendable {
    /// A call to a server, and what it was for.
    struct Call: Sendable {
        /// Counts the calls of one connection.
        let number: Int
        /// The server that was called, in that life.
        let server: ServerProfile
        /// What it should show, and in the place of what; `nil` for a call that closes something.
        let showing: (notice: Notice, replacing: RemoteID?)?
    }

    let call: Call
    let answer: Result<[DBusValue], DBusError>

    /// What happened to the notice; `nil` where it was no notice.
    func shown(as form: DesktopForm) -> Result<RemoteID, DeliveryError>? {
        guard let showing = call.showing else { return nil }
        return call.server.shown(by: answer, replacing: showing.replacing, as: form)
    }
}

extension ServerProfile {
    /// What an answer to `Notify` means.
    func shown(
        by answer: Result<[DBusValue], DBusError>, replacing remote: RemoteID?, as form: DesktopForm
    ) -> Result<RemoteID, DeliveryError> {
        switch answer {
        case .success(let values):
            guard let number = values.first?.uint32 else {
                return .failure(DeliveryError(.unexpectedReply("no id from Notify"), of: form))
            }
            return .success(self.remote(number))
        case .failure(.refused(DesktopForm.tooManyAlike, _)) where number(of: remote) != nil:
            return remote.map { .success($0) } ?? .failure(.giveUp(.badAnswer))
        case .failure(let error):
            return .failure(DeliveryError(error, of: form))
        }
    }
}

extension DeliveryError {
    /// What a failed call to a notification server means for the notice.
    init(_ error: DBusError, of form: DesktopForm) {
        switch error {
        case .disconnected, .cannotConnect, .badAddress:
            self = .unreachable(.noBus, detail: "\(error)")
        case .timedOut:
            self = .unreachable(.timeout, detail: "the notification server does not answer")
        case .outOfMemory:
            self = .retry(.serverError, detail: "\(error)")
        case .invalidArgument:
            self = .giveUp(.unsendable, detail: "\(error)")
        case .unexpectedReply:
            self = .giveUp(.badAnswer, detail: "\(error)")
        case .refused(let name, _):
            self = form.judge(error: name, detail: "\(error)")
        }
    }
}

extension DesktopNotification {
    /// The arguments of `Notify`, in the place of the notification of that number; 0: of none.
    func arguments(replacing number: UInt32) -> [DBusValue] {
        [
            .string(appName), .uint32(number), .string(icon), .string(summary), .string(body),
            .strings(actions), .hints(hints.map { ($0.name, DBusValue($0.value)) }), .int32(expiry),
        ]
    }
}

extension DBusValue {
    /// The value of a hint, with its type.
    fileprivate init(_ hint: DesktopNotification.Hint) {
        switch hint {
        case .byte(let value): self = .byte(value)
        case .int32(let value): self = .int32(value)
        case .string(let value): self = .string(value)
        case .bool(let value): self = .bool(value)
        }
    }
}
