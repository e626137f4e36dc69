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
