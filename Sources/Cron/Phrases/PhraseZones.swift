package import Timeline

/// The zones that a phrase may name, by their names or by their cities.
///
/// Reading a phrase never opens a file: whoever asks for it passes what the machine knows.
package struct PhraseZones: Sendable {
    /// The names of all zones, such as `Europe/Berlin`.
    let names: @Sendable () -> [String]
    /// The rules of a zone.
    let rules: @Sendable (String) -> ZoneRules?
    /// The zone of a phrase that names none; its own name is understood in any case.
    private var given = ZoneRules.utc
    /// From when on the clocks of zones with one name are compared.
    private var now = Moment(seconds: 0)

    /// The zones of a machine.
    package init(
        names: @escaping @Sendable () -> [String], rules: @escaping @Sendable (String) -> ZoneRules?
    ) {
        self.names = names
        self.rules = rules
    }

    /// No zone but the one given beside the phrase.
    package static let none = PhraseZones(names: { [] }, rules: { _ in nil })

    /// The same zones for a phrase that is read at `now`, with `zone` beside it.
    func given(_ zone: ZoneRules, now: Moment) -> PhraseZones {
        var zones = self
        (zones.given, zones.now) = (zone, now)
        return zones
    }

    /// The zone that a name which is none was probably meant to be.
    package func nearest(_ name: String) -> String? { NearestName.ofZone(name, among: names()) }

    /// What a name stands for.
    enum Found {
        case zone(ZoneRules)
        /// Zones with different clocks.
        case several([String])
        /// `EST`: several places use it, and its rules are not those that people mean.
        case abbreviation
    }

    /// The zone that `words` name: `new york`, `europe/berlin`, `utc`; `nil` when none does.
    func find(_ words: [String]) -> Found? {
        let wanted = words.joined(separator: "_")
        if Self.fits(given.name, wanted) { return .zone(given) }
        if wanted == "utc" || wanted == "gmt" { return .zone(.utc) }
        if Self.abbreviations.contains(wanted) { return .abbreviation }
        let found = names().filter { Self.isPlace($0, wanted) }.sorted {
            (Self.rank($0), $0) < (Self.rank($1), $1)
        }
        guard let first = found.first, let zone = rules(first) else { return nil }
        if !first.contains("/"), !first.contains(where: \.isLowercase) { return .abbreviation }
        let others = found.dropFirst().filter { name in
            rules(name).map { !Self.isSame($0, zone, from: now) } ?? false
        }
        return others.isEmpty ? .zone(zone) : .several([first] + others)
    }

    private static func fits(_ name: String, _ wanted: String) -> Bool {
        let name = name.lowercased()
        return name == wanted || name.hasSuffix("/" + wanted)
    }

    /// Whether the name is this place; parts of countries, such as `US/Eastern`, only by their whole names.
    private static func isPlace(_ name: String, _ wanted: String) -> Bool {
        fits(name, wanted) && (rank(name) == 0 || !name.contains("/") || name.lowercased() == wanted)
    }

    /// Names of a continent and a city come first, names of countries after them.
    private static func rank(_ name: String) -> Int {
        let continents = [
            "Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/",
            "Pacific/",
        ]
        return continents.contains(where: name.hasPrefix) ? 0 : 1
    }

    /// What several places call their clocks.
    static func isAbbreviation(_ word: String) -> Bool { abbreviations.contains(word) }

    private static let abbreviations: Set<String> = [
        "eastern", "central", "mountain", "pacific", "west", "east", "north", "south", "est", "edt", "cst",
        "cdt", "mst", "mdt", "pst", "pdt", "bst", "ist", "jst", "cet", "cest", "eet", "eest", "wet", "aest",
        "aedt", "msk",
    ]

    /// Whether the clocks of both show the same for the ten years from `moment` on.
    private static func isSame(_ one: ZoneRules, _ other: ZoneRules, from moment: Moment) -> Bool {
        (0..<520).allSatisfy { week in
            let later = Moment(seconds: moment.seconds + Int64(week) * 604_800)
            return one.offsetSeconds(at: later) == other.offsetSeconds(at: later)
        }
    }
}

extension PhraseReader {
    /// The most words that the name of a zone has.
    private static let longestName = 4

    /// `Berlin`, `New York time`, after `in`.
    mutating func zone() throws(CronError) {
        let start = position
        guard let count = try zoneWords() else {
            let words = nameWords(Self.longestName)
            let zones = zones
            let near = (1...max(1, words.count)).reversed().lazy
                .compactMap { zones.nearest(words.prefix($0).joined(separator: " ")) }.first
            throw fault(
                kind: .unknownZone, at: tokens[start].range, "no time zone of this name is known here",
                fix: near.map { "did you mean \($0)?" }
                    ?? "name a city of the list of time zones, such as Berlin"
            )
        }
        position += count
        _ = skip("time")
    }

    /// `Berlin time`, `UTC`, `Europe/Berlin` without `in`; returns whether it was there.
    mutating func namedZone() throws(CronError) -> Bool {
        let words = nameWords(Self.longestName + 1)
        let isSaid =
            words.first == "utc" || words.first == "gmt" || words.first?.contains("/") == true
            || words.first.map(PhraseZones.isAbbreviation) == true || words.dropFirst().contains("time")
        guard isSaid, PhraseWords.weekday(String(word.prefix { $0 != "/" })) == nil,
            let count = try zoneWords()
        else { return false }
        position += count
        _ = skip("time")
        return true
    }

    /// How many of the words here name a zone, the longest name first; that zone is then the phrase's.
    private mutating func zoneWords() throws(CronError) -> Int? {
        let words = nameWords(Self.longestName)
        for count in (1...max(1, words.count)).reversed() {
            let place =
                position < tokens.count
                ? range.lowerBound..<tokens[min(position + count, tokens.count) - 1].range.upperBound : range
            switch zones.find(Array(words.prefix(count))) {
            case nil: continue
            case .several(let names)?:
                throw fault(
                    kind: .unknownZone, at: place, "several time zones have this name",
                    fix: "write \(CronWords.join(names, "or"))")
            case .abbreviation?:
                throw fault(
                    kind: .unknownZone, at: place, "which place's clock this stands for is not said",
                    fix: "name a city, such as in New York")
            case .zone(let zone)?:
                guard meaning.zone == nil else { throw fault(at: place, "the time zone is said twice") }
                meaning.zone = zone
                return count
            }
        }
        return nil
    }

    /// The next words up to a comma.
    private func nameWords(_ count: Int) -> [String] {
        Array(tokens[position...].prefix(count).map(\.text).prefix { $0 != "," })
    }
}
