package import Timeline

/// Finds the rules of a zone by its name; nil when there is none of that name.
package typealias ZoneLookup = @Sendable (_ name: String) -> ZoneRules?
