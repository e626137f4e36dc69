import DBus
import Delivery

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
