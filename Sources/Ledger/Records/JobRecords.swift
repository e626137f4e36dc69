package import Timeline
package import Tracking

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

/// Up to where every slot of every job is decided.
///
/// There is one, not one a job.
package struct Watermark: Hashable, Sendable, Codable {
    /// Every slot at or before this moment has a row.
    package var decidedUntil: Moment
    /// Rises when the clock went back so far that wall time may repeat; slots of two eras are different slots.
    package var era: Int

    package init(decidedUntil: Moment, era: Int) {
        self.decidedUntil = decidedUntil
        self.era = era
    }
}

/// Consecutive slots of a job that did not run, for one reason.
package struct SlotSpan: Hashable, Sendable, Codable {
    package var job: String
    package var era: Int
    /// The first and the last slot; equal when there is one.
    package var first: Moment
    package var last: Moment
    /// How many slots, 1 or more.
    package var count: Int
    /// ``RunState/skipped`` or ``RunState/missed``.
    package var state: RunState
    package var reason: RunReason

    package init(
        job: String, era: Int, first: Moment, last: Moment, count: Int, state: RunState,
        reason: RunReason
    ) {
        self.job = job
        self.era = era
        self.first = first
        self.last = last
        self.count = count
        self.state = state
        self.reason = reason
    }
}

/// What a job's slots are decided by, which is less than all of it.
package struct SlotJob: Hashable, Sendable {
    package var name: String
    package var revision: Int
    package var origin: JobOrigin
    /// When this revision was made.
    package var since: Moment
    package var isPaused: Bool
    package var schedule: ScheduleSpec
    package var policies: SlotPolicies

    package init(
        name: String, revision: Int, origin: JobOrigin, since: Moment, isPaused: Bool,
        schedule: ScheduleSpec, policies: SlotPolicies
    ) {
        self.name = name
        self.revision = revision
        self.origin = origin
        self.since = since
        self.isPaused = isPaused
        self.schedule = schedule
        self.policies = policies
    }

    package init(_ job: JobRecord) {
        self.init(
            name: job.name, revision: job.revision, origin: job.origin, since: job.since,
            isPaused: job.pause != nil, schedule: job.spec.schedule, policies: SlotPolicies(job.spec))
    }
}

/// What a job's slots are decided by, besides its schedule; most jobs share theirs with many others.
package struct SlotPolicies: Hashable, Sendable {
    /// Whose its runs are.
    package var bot: String
    package var overlap: OverlapPolicy
    package var catchUp: CatchUpPolicy
    /// Its runs start up to this long after their slots; zero: at once.
    package var spread: Duration

    package init(_ spec: JobSpec) {
        bot = spec.bot
        overlap = spec.overlap
        catchUp = spec.catchUp
        spread = spec.spread ?? .zero
    }
}
