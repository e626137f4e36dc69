package import Cron
package import Ledger
package import Timeline

extension Control {
    /// Adds a job made by the command line, or brought along by an import.
    ///
    /// Its schedule and zone are read before anything is stored.
    package func add(
        _ spec: JobSpec, origin: JobOrigin = .cli
    ) async throws(EngineError) -> JobRecord {
        try await checkAddition(of: spec)
        return try await single(.add(spec, origin: origin))
    }

    /// Refuses a job that can't be added.
    func checkAddition(of spec: JobSpec) async throws(EngineError) {
        if let fault = JobName.faultOfNew(spec.name) { throw .invalid("\"\(spec.name)\": \(fault)") }
        let stored = try await read { () async throws(LedgerError) in try await slots.entry(spec.name) }
        if let stored { throw .nameTaken(spec.name, place: stored.record.place) }
        try check(spec, changing: nil)
    }

    /// Makes a new revision of a job made by the command line.
    package func edit(
        _ name: String, _ change: (inout JobSpec) throws(EngineError) -> Void
    ) async throws(EngineError) -> JobRecord {
        var tries = 3
        while true {
            let record = try await owned(name)
            var spec = record.spec
            try change(&spec)
            try check(spec, changing: record.spec)
            do throws(EngineError) {
                return try await single(.revise(spec, of: record.revision))
            } catch {
                // Somebody else was faster: theirs stays, and this change is made on top of it.
                tries -= 1
                guard case .changedMeanwhile = error, tries > 0 else { throw error }
            }
        }
    }

    /// Removes a job made by the command line; its runs stay.
    package func remove(_ name: String) async throws(EngineError) {
        _ = try await owned(name)
        _ = try await single(.remove(name))
    }

    /// Holds a job still: its slots are skipped, with reason `paused`, until it is resumed.
    package func pause(_ name: String, note: String?) async throws(EngineError) -> JobRecord {
        try await single(.pause(name, note: note))
    }

    package func resume(_ name: String) async throws(EngineError) -> JobRecord {
        try await single(.resume(name))
    }

    /// The next `count` slots of a job, earliest first, with what changes of the clock do to them; fewer when it
    /// ends before.
    ///
    /// Lines for local times that the clock skips come in between and are not counted.
    package func preview(_ name: String, count: Int) async throws(EngineError) -> [SlotPreview] {
        let job = try await read { () async throws(LedgerError) in try await slots.entry(name) }
        guard let job else { throw .noSuchJob(name) }
        var schedule = job.schedule
        // What comes after its last end comes once, as far as anybody knows.
        if case .after = schedule, let next = job.next { schedule = .at(next) }
        return schedule.preview(after: clock.now, in: job.zones, count: count)
    }

    /// What a person may want to know of a job that was just saved, though nothing is wrong with it.
    package func warnings(of name: String) async -> [String] {
        let job = try? await slots.entry(name)
        let doubts =
            job.map { $0.record.spec.doubts($0.schedule, in: $0.zones, at: clock.now, on: host.machine) }
            ?? []
        let crowd = await slots.crowd(around: name)
        return doubts.map(\.sentence) + (crowd.map { [$0.warning] } ?? [])
    }

    /// What is wrong with a spec that is about to be stored.
    private func check(_ spec: JobSpec, changing old: JobSpec?) throws(EngineError) {
        if case .prompt = spec.action, old?.bot != spec.bot || old?.action != spec.action {
            let bot = activeConfiguration.configuration.bots[spec.bot]
            let isUndescribed = spec.bot == "belfry" && bot == nil
            guard !isUndescribed, bot.map({ $0.contact != nil }) ?? true else { throw .silentBot(spec.bot) }
        }
        let (schedule, _) = try spec.schedule.read(seed: spec.name, zones: host.zones)
        if case .at(let moment) = schedule, moment <= clock.now, old?.schedule != spec.schedule {
            throw .invalid("\(spec.schedule.text) is in the past: the job would never run; give a later time")
        }
    }

    private func owned(_ name: String) async throws(EngineError) -> JobRecord {
        let job = try await read { () async throws(LedgerError) in try await slots.entry(name) }
        guard let record = job?.record else { throw .noSuchJob(name) }
        if record.origin == .file { throw .ownedByFile(job: name, place: record.place ?? "") }
        return record
    }

    private func single(_ edit: JobEdit) async throws(EngineError) -> JobRecord {
        guard let record = try await slots.change([edit]).first else { throw .noSuchJob(edit.job) }
        return record
    }
}

/// A reason why a job can never work as it is, though nothing in it is malformed.
package struct JobDoubt: Hashable, Sendable {
    /// The key of the job that is at fault, as in the configuration file.
    package var key: String
    /// One sentence without a full stop.
    package var message: String
    /// What to do, where that is known.
    package var hint: String?

    /// `there is no program "resitc"; install it, or correct its name`.
    package var sentence: String { hint.map { "\(message); \($0)" } ?? message }
}

/// What can be seen of the machine that jobs run on; by itself it sees nothing wrong.
package struct MachineLook: Sendable {
    /// Why the job's program can't be run; nil: nothing is known against it.
    package var programFault: @Sendable (JobSpec) -> String?
    /// Whether there is a user of that name or number; also when nobody knows.
    package var isUser: @Sendable (String) -> Bool
    /// Whether there is a folder at that path; also when nobody knows.
    package var isFolder: @Sendable (String) -> Bool
    /// Whether there is a file at that path; also when nobody knows.
    package var isFile: @Sendable (String) -> Bool
    /// The command that starts the warden, where a service manager keeps it; nil: the daemon starts its own.
    package var wardenStart: @Sendable () -> String?

    package init(
        programFault: @escaping @Sendable (JobSpec) -> String? = { _ in nil },
        isUser: @escaping @Sendable (String) -> Bool = { _ in true },
        isFolder: @escaping @Sendable (String) -> Bool = { _ in true },
        isFile: @escaping @Sendable (String) -> Bool = { _ in true },
        wardenStart: @escaping @Sendable () -> String? = { nil }
    ) {
        self.programFault = programFault
        self.isUser = isUser
        self.isFolder = isFolder
        self.isFile = isFile
        self.wardenStart = wardenStart
    }
}

extension JobSpec {
    /// Why it can never run, or fails each time, as far as can be seen at `now`.
    package func doubts(
        _ schedule: Schedule, in zones: ScheduleZones, at now: Moment, on machine: MachineLook
    ) -> [JobDoubt] {
        var doubts = scheduleDoubts(schedule, in: zones, at: now)
        if let fault = machine.programFault(self) {
            doubts.append(
                JobDoubt(key: "command", message: fault, hint: "each run fails until that is corrected"))
        }
        if let user = process?.user, !machine.isUser(user) {
            doubts.append(
                JobDoubt(
                    key: "user", message: "there is no user \"\(user)\"",
                    hint: "each run fails until there is"))
        }
        if let folder = directory, !machine.isFolder(folder) {
            doubts.append(
                JobDoubt(
                    key: "cwd", message: "there is no folder \(folder)",
                    hint: "each run fails until there is"))
        }
        if case .file(let path)? = process?.input, !machine.isFile(path) {
            doubts.append(
                JobDoubt(
                    key: "stdin", message: "there is no file \(path)",
                    hint: "each run fails until there is"))
        }
        return doubts
    }

    private func scheduleDoubts(
        _ schedule: Schedule, in zones: ScheduleZones, at now: Moment
    ) -> [JobDoubt] {
        let written = self.schedule.members ?? [self.schedule]
        let result = written.count > 1 ? "this schedule has no effect" : "the job never runs by itself"
        return zip(schedule.members, written).compactMap { member, spec in
            switch member {
            case .at(let moment) where moment <= now:
                return JobDoubt(key: "schedule", message: "\(spec.text) is in the past: \(result)")
            case .cron where member.preview(after: now, in: zones[member.zoneName], count: 1).isEmpty:
                return JobDoubt(key: "schedule", message: "\"\(spec.text)\" never occurs: \(result)")
            default: return nil
            }
        }
    }

    /// The same, of a spec whose schedule was not read yet; nothing when it can't be read.
    package func doubts(at now: Moment, on machine: MachineLook, zones: @escaping ZoneLookup) -> [JobDoubt] {
        do throws(EngineError) {
            let (schedule, rules) = try schedule.read(seed: name, since: now, zones: zones)
            return doubts(schedule, in: rules, at: now, on: machine)
        } catch {
            return []
        }
    }
}
