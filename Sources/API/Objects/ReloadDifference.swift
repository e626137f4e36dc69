/// What a reload of the configuration changed.
package struct ReloadDifference: Hashable, Sendable, Codable {
    /// The jobs of files.
    package var jobs: WireChanges
    /// The bots that are described.
    package var bots: WireChanges
    /// The channels.
    package var channels: WireChanges
    /// Whether the routes differ.
    package var routes: Bool
    /// What to know although nothing is wrong.
    package var warnings: [String]?

    /// A difference, each part as given.
    package init(
        jobs: WireChanges = WireChanges(), bots: WireChanges = WireChanges(),
        channels: WireChanges = WireChanges(), routes: Bool = false
    ) {
        self.jobs = jobs
        self.bots = bots
        self.channels = channels
        self.routes = routes
    }

    /// Whether nothing changed.
    package var isEmpty: Bool { jobs.isEmpty && bots.isEmpty && channels.isEmpty && !routes }
}

/// Names that came, changed, or went, each in order of the alphabet.
package struct WireChanges: Hashable, Sendable, Codable {
    /// In the new configuration only.
    package var added: [String]
    /// In both, and different.
    package var changed: [String]
    /// In the old configuration only.
    package var removed: [String]

    /// Changes, none unless given.
    package init(added: [String] = [], changed: [String] = [], removed: [String] = []) {
        self.added = added
        self.changed = changed
        self.removed = removed
    }

    /// Whether nothing changed.
    package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
}
