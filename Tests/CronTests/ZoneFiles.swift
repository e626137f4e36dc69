import FoundationEssentials
import Timeline

/// The system's compiled zones, read as bytes.
enum ZoneFiles {
    static let folder = "/usr/share/zoneinfo/"

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: folder + name)))
    }

    static func zone(_ name: String) throws -> ZoneRules {
        try ZoneRules(name: name, tzif: bytes(name))
    }
}

/// A small generator with a seed, so that a failing case can be run again.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Zones read once and kept, for suites that use the same few often.
final class ZoneShelf {
    private var zones: [String: ZoneRules] = [:]

    func zone(_ name: String) throws -> ZoneRules {
        if let zone = zones[name] { return zone }
        let zone = name == "UTC" ? .utc : try ZoneFiles.zone(name)
        zones[name] = zone
        return zone
    }
}
