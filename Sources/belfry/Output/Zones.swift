import API
import Cron
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

    /// The zones that a phrase may name.
    static var ofPhrases: PhraseZones {
        PhraseZones(
            names: { ZoneFiles().names }, rules: rules,
            nearest: { NearestName.ofZone($0, among: ZoneFiles().names) })
    }

    /// That there is no zone of that name, and which may have been meant.
    static func refusal(_ name: String) -> APIError {
        APIError(.badValue, "no zone \"\(name)\"", hint: hint(name) ?? "See: timedatectl list-timezones")
    }

    /// `Did you mean "Europe/Berlin"?`, also where a zone is named by its town or in other letters.
    static func hint(_ name: String) -> String? {
        NearestName.ofZone(name, among: ZoneFiles().names).map { "Did you mean \"\($0)\"?" }
    }
}
