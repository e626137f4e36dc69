package import Timeline

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
