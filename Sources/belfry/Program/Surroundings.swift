import API
import Cron
import Glibc
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

    /// The time that the value of an option names, in `zone` where it has no offset.
    static func moment(
        _ text: String, of option: String, in zone: ZoneRules = local,
        example: String = "a time such as 2026-03-29T03:00+02:00"
    ) throws(APIError) -> Moment {
        do {
            return try Moment(iso8601: text, in: zone)
        } catch {
            throw APIError(
                .badValue, "the value '\(text)' is invalid for '\(option)': \(error.message)",
                hint: "Write \(example).")
        }
    }

    /// The zones that a phrase may name.
    static var ofPhrases: PhraseZones {
        PhraseZones(names: { ZoneFiles().names }, rules: rules)
    }

    /// That there is no zone of that name, and which may have been meant.
    static func refusal(_ name: String) -> APIError {
        APIError(.badValue, "no zone \"\(name)\"", hint: hint(name) ?? "See: timedatectl list-timezones")
    }

    /// `Did you mean "Europe/Berlin"?`, also where a zone is named by its town or in other letters.
    static func hint(_ name: String) -> String? {
        ofPhrases.nearest(name).map { "Did you mean \"\($0)\"?" }
    }
}

/// The users of this machine.
enum UserTable {
    /// A user's name and folder.
    struct Entry: Hashable {
        var name: String
        var home: String
    }

    /// Who runs this program.
    static var own: Entry? { unsafe entry(getpwuid(geteuid())) }

    /// The user of that name.
    static func entry(_ name: String) -> Entry? { unsafe entry(getpwnam(name)) }

    private static func entry(_ row: UnsafeMutablePointer<passwd>?) -> Entry? {
        guard let row = unsafe row, let name = unsafe row.pointee.pw_name,
            let home = unsafe row.pointee.pw_dir
        else { return nil }
        return unsafe Entry(name: String(cString: name), home: String(cString: home))
    }
}

/// Paths as the kernel sees them.
enum FilePath {
    /// `path` made absolute, links followed; as it is when there is no such file.
    static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The folder the process is in; `/` when it no longer exists.
    static var current: String { resolved(".") == "." ? "/" : resolved(".") }
}
