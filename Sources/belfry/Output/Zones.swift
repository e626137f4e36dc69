import Host
import Timeline

/// The zones of this machine.
enum Zones {
    /// The zone people here read clocks in; UTC when it can't be found.
    static var local: ZoneRules {
        rules(ZoneFiles().hostZoneName()) ?? .utc
    }

    /// The rules of a zone; nil when there is none of that name.
    static func rules(_ name: String) -> ZoneRules? {
        guard name != "UTC" else { return .utc }
        return try? ZoneFiles().rules(of: name)
    }
}
