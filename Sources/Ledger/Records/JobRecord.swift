package import Timeline

/// A job as stored: its spec, where it comes from, and its revision.
package struct JobRecord: Hashable, Sendable, Codable {
    package var spec: JobSpec
    package var origin: JobOrigin
    /// `FILE:LINE` for a job from a file.
    package var place: String?
    /// 1 for the first; every edit adds one.
    ///
    /// Continues when a removed name comes back.
    package var revision: Int
    /// When this revision was made: slots up to here were decided under the one before.
    package var since: Moment
    package var pause: Pause?

    package init(
        spec: JobSpec, origin: JobOrigin, place: String? = nil, revision: Int, since: Moment,
        pause: Pause? = nil
    ) {
        self.spec = spec
        self.origin = origin
        self.place = place
        self.revision = revision
        self.since = since
        self.pause = pause
    }

    package var name: String { spec.name }
}

/// Who made a job, and so who may change it.
package enum JobOrigin: String, Hashable, Sendable, Codable {
    /// A configuration file; read-only to the command line.
    case file
    /// `belfry job add`.
    case cli
    /// `belfry import`.
    case imported = "import"
}

/// A job held still by a person.
///
/// State, not configuration: a reload keeps it.
package struct Pause: Hashable, Sendable, Codable {
    package var since: Moment
    package var note: String?

    package init(since: Moment, note: String? = nil) {
        self.since = since
        self.note = note
    }
}
