import TestSupport
import Timeline

/// Zones read once and kept, for suites that use the same few often.
final class ZoneShelf {
    private var zones: [String: ZoneRules] = [:]

    func zone(_ name: String) throws -> ZoneRules {
        if let zone = zones[name] { return zone }
        let zone = name == "UTC" ? .utc : try SystemZones.zone(name)
        zones[name] = zone
        return zone
    }
}
