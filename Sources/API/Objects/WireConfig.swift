/// The configuration that is in force, defaults filled in, secrets left out.
package struct WireConfig: Hashable, Sendable, Codable {
    /// The file it came from; absent when there is none and the defaults hold.
    package var file: String?
    /// The zone of schedules that name none.
    package var zone: String
    /// The bots that are described, and those that jobs name.
    package var bots: [WireBot]
    /// The jobs of files.
    package var jobs: [WireJob]
    /// Every channel.
    package var channels: [WireChannel]
    /// In the order in which they are written.
    package var routes: [WireRoute]

    /// A configuration of nothing but a zone.
    package init(file: String?, zone: String) {
        self.file = file
        self.zone = zone
        self.bots = []
        self.jobs = []
        self.channels = []
        self.routes = []
    }
}

/// Which events go to which channels.
package struct WireRoute: Hashable, Sendable, Codable {
    /// Words for events, such as `failed`.
    package var when: [String]
    /// Names of channels.
    package var to: [String]

    /// A route of the events `when` to the channels `to`.
    package init(when: [String], to: [String]) {
        self.when = when
        self.to = to
    }
}
