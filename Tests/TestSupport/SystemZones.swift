import Host
package import Timeline

/// The machine's compiled zones.
package enum SystemZones {
    /// The folder they are in.
    package static var folder: String { ZoneFiles().folder }

    /// The bytes of the zone's file.
    package static func bytes(_ name: String) throws -> [UInt8] {
        try ZoneFiles().bytes(of: name)
    }

    /// The rules of the zone.
    package static func zone(_ name: String) throws -> ZoneRules {
        try ZoneFiles().rules(of: name)
    }
}
