import Cron
package import Ledger
package import Timeline

extension Control {
    /// Adds a job made by the command line, or brought along by an import.
    ///
    /// Its schedule and zone are read before anything is stored.
    package func add(
        _ spec: JobSpec, origin: JobOrigin = .cli
    ) async throws(EngineError) -> JobRecord {
        if let fault = JobName.fault(in: spec.name) { throw .invalid("\"\(spec.name)\": \(fault)") }
        if await slots.entry(spec.name) != nil { throw .nameTaken(spec.name) }
        try check(spec)
        return try await single(.put(spec, origin: origin, place: nil))
    }

    /// Makes a new revision of a job made by the command line.
    package func edit(
        _ name: String, _ change: (inout JobSpec) throws(EngineError) -> Void
    ) async throws(EngineError) -> JobRecord {
        let record = try await owned(name)
        var spec = record.spec
        try change(&spec)
        try check(spec)
        return try await single(.put(spec, origin: record.origin, place: nil))
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

    /// The next `count` slots of a job, earliest first; fewer when it ends before.
    package func upcoming(_ name: String, count: Int) async throws(EngineError) -> [Moment] {
        guard let entry = await slots.entry(name) else { throw .noSuchJob(name) }
        var found: [Moment] = []
        var last = clock.now
        while found.count < count, let next = entry.schedule.nextSlot(after: last, in: entry.rules) {
            found.append(next)
            last = next
        }
        return found
    }

    /// What is wrong with a spec that is about to be stored.
    private func check(_ spec: JobSpec) throws(EngineError) {
        _ = try spec.schedule.read(seed: spec.name, zones: zones)
    }

    private func owned(_ name: String) async throws(EngineError) -> JobRecord {
        guard let record = await slots.entry(name)?.record else { throw .noSuchJob(name) }
        if record.origin == .file { throw .ownedByFile(job: name, place: record.place ?? "") }
        return record
    }

    private func single(_ edit: JobEdit) async throws(EngineError) -> JobRecord {
        guard let record = try await slots.change([edit]).first else { throw .noSuchJob(edit.job) }
        return record
    }
}
