import Host
import Synchronization
import Timeline

/// The machine's time zones, each read once until it is to be forgotten.
final class Zones: Sendable {
    private let files = ZoneFiles()
    private let known = Mutex<[String: ZoneRules]>([:])
    private let forgotten = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// An element each time the zones were forgotten.
    var changes: AsyncStream<Void> { forgotten.stream }

    /// The folder of the files.
    var folder: String { files.folder }

    /// The release of the database.
    var release: String? { files.version }

    /// Reads every zone again from now on.
    func forget() {
        known.withLock { $0 = [:] }
        forgotten.continuation.yield()
    }

    /// The names of all zones.
    var names: [String] { files.names }

    /// The machine's own zone.
    var hostName: String { files.hostZoneName() }

    /// The rules of a zone; nil when there is none of that name.
    func rules(of name: String) -> ZoneRules? {
        if name == "UTC" { return .utc }
        if let rules = known.withLock({ $0[name] }) { return rules }
        guard let bytes = try? files.bytes(of: name), let rules = try? ZoneRules(name: name, tzif: bytes)
        else {
            return nil
        }
        known.withLock { $0[name] = rules }
        return rules
    }
}
