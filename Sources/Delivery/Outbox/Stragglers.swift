package import Timeline

/// Entries that fail although their channel works: a success of others must not hurry them at full speed.
///
/// When a channel works again, all that waits for it becomes due at once. An entry that its receiver refuses with
/// an answer like an outage's (500 for this one only) makes each of its failures look like an outage, and each
/// success of another like the end of one. It gets less of that the more often it fails while the channel works,
/// and in the end only its own schedule.
///
/// Kept by the channel, so that a restart does not hurry them again.
package struct Stragglers: Hashable, Codable, Sendable {
    private struct Entry: Hashable, Codable {
        var failures: Int
        var last: Moment
    }

    private var entries: [String: Entry] = [:]

    /// How long an entry is left alone after its second, third and fourth such failure; after that it is not hurried.
    private static let pauses: [Duration] = [.seconds(30), .seconds(300), .seconds(1800)]

    /// Nobody yet.
    package init() {}

    /// The entries that failed while the channel worked.
    package var ids: Set<String> { Set(entries.keys) }

    /// Notes a failure of an entry that is to be tried again.
    ///
    /// Only one that was sent while the channel worked speaks against the entry.
    package mutating func failed(_ id: String, whileWorking: Bool, at now: Moment) {
        guard whileWorking || entries[id] != nil else { return }
        entries[id] = Entry(failures: (entries[id]?.failures ?? 0) + (whileWorking ? 1 : 0), last: now)
    }

    /// Forgets an entry that came to its end.
    package mutating func settled(_ id: String) { entries[id] = nil }

    /// The entries that do not become due at once when the channel works again, with their earliest moment;
    /// nil: their own.
    package func notBefore() -> [String: Moment?] {
        entries.filter { $0.value.failures > 1 }.mapValues { entry in
            let place = entry.failures - 2
            return place < Self.pauses.count ? entry.last + Self.pauses[place] : nil
        }
    }
}
