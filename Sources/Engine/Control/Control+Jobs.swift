package import Cron
package import Ledger
import Timeline

extension Control {
    /// Adds a job made by the command line, or brought along by an import.
    ///
    /// Its schedule and zone are read before anything is stored.
    package func add(
        _ spec: JobSpec, origin: JobOrigin = .cli
    ) async throws(EngineError) -> JobRecord {
        if let fault = JobName.fault(in: spec.name) { throw .invalid("\"\(spec.name)\": \(fault)") }
        let stored = try await read { () async throws(LedgerError) in try await slots.entry(spec.name) }
        if let stored { throw .nameTaken(spec.name, place: stored.record.place) }
        try check(spec, changing: nil)
        return try await single(.add(spec, origin: origin))
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
        return schedule.preview(after: clock.now, in: job.rules, count: count)
    }

    /// What a person may want to know of a job that was just saved, though nothing is wrong with it.
    package func warnings(of name: String) async -> [String] {
        let job = try? await slots.entry(name)
        let doubts =
            job.map { $0.record.spec.doubts($0.schedule, in: $0.rules, at: clock.now, on: machine) } ?? []
        let crowd = await slots.crowd(around: name)
        return doubts.map(\.sentence) + (crowd.map { [$0.warning] } ?? [])
    }

    /// What is wrong with a spec that is about to be stored.
    private func check(_ spec: JobSpec, changing old: JobSpec?) throws(EngineError) {
        let (schedule, _) = try spec.schedule.read(seed: spec.name, zones: zones)
        if case .at(let moment) = schedule, moment <= clock.now, old?.schedule != spec.schedule {
            throw .invalid("\(spec.schedule.text) is over: the job would never run")
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
