import Engine
import Glibc
import Host
import Logging
import ServiceLifecycle
import Synchronization
import Timeline

/// The machine's time zones, each read once until it is to be forgotten.
final class ZoneCache: Sendable {
    private let files = ZoneFiles()
    private let known = Mutex<[String: ZoneRules]>([:])
    private let forgotten = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// An element each time the zones were forgotten.
    var changes: AsyncStream<Void> { forgotten.stream }

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

    /// Looks up the rules of a zone.
    var lookup: ZoneLookup { { [self] in rules(of: $0) } }

    /// Watches the zone files until cancelled; where the kernel has no watch left, it tries again every half minute.
    func watch(clock: any WallClock, logger: Logger) async throws {
        var isLogged = false
        while true {
            do throws(HostError) {
                let watch = try FolderWatch(files.folder) { [self] in forget() }
                // It does not report what changed before it.
                forget()
                try? await gracefulShutdown()
                return withExtendedLifetime(watch) {}
            } catch {
                if !isLogged {
                    logger.warning(
                        "the zone data can't be watched; a reload reads it", metadata: ["reason": "\(error)"])
                }
                isLogged = true
                guard case .system(_, EMFILE, _) = error else { return try await gracefulShutdown() }
            }
            try await clock.sleep(until: clock.now + .seconds(30))
        }
    }
}
