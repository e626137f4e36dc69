import API
import Cron
import Engine
import Ledger
import Settings
import Timeline
import Tracking

extension DaemonHandler {
    /// Every job, by name; very many are written as they are read.
    func jobs() async throws(APIError) -> Pages<WireJob> {
        let first = try await jobs(after: "")
        guard first.count >= SlotKeeper.page else { return Pages(first) }
        return Pages(first) { last in try await jobs(after: last.name) }
    }

    func addJob(_ draft: JobDraft) async throws(APIError) -> WireJob {
        let spec = try JobSpec(draft, reading)
        try checkBot(of: draft)
        let origin = try Self.origin(draft.origin)
        let record = try await asking(await control.add(spec, origin: origin))
        return try await saved(record.name)
    }

    func editJob(_ name: String, _ draft: JobDraft) async throws(APIError) -> WireJob {
        if let new = draft.name, new != name {
            throw APIError(
                .badValue, "a job keeps its name", hint: "Add one of the other name, and remove this one.")
        }
        let reading = reading
        // Read outside of the engine, so that a refusal keeps its place in the table.
        _ = try await entry(name)
        try checkBot(of: draft)
        var refusal: APIError?
        do throws(EngineError) {
            _ = try await control.edit(name) { (spec) throws(EngineError) in
                do throws(APIError) {
                    try spec.apply(draft, reading)
                } catch {
                    refusal = error
                    throw .invalid(error.message)
                }
            }
        } catch {
            throw refusal ?? APIError(error)
        }
        return try await saved(name)
    }

    func removeJob(_ name: String) async throws(APIError) {
        _ = try await entry(name)
        try await asking(await control.remove(name))
    }

    func pauseJob(_ name: String, note: String?) async throws(APIError) -> WireJob {
        _ = try await entry(name)
        _ = try await asking(await control.pause(name, note: note))
        return try await shown(name)
    }

    func resumeJob(_ name: String) async throws(APIError) -> WireJob {
        _ = try await entry(name)
        _ = try await asking(await control.resume(name))
        return try await shown(name)
    }

    func nextSlots(_ name: String, _ query: NextSlotsQuery) async throws(APIError) -> WireNextSlots {
        _ = try await entry(name)
        let lines = try await asking(await control.preview(name, count: query.count))
        guard query.notes else { return .times(lines.filter(\.isSlot).map { Timestamp($0.moment) }) }
        return .slots(
            lines.map { WireSlot(at: Timestamp($0.moment), isSkipped: !$0.isSlot, note: $0.noteWords) })
    }

    /// A job that was just added or changed, with what to know of it.
    func saved(_ name: String) async throws(APIError) -> WireJob {
        var job = try await shown(name)
        let warnings = await control.warnings(of: name)
        if !warnings.isEmpty { job.warnings = warnings }
        return job
    }

    /// Every job that a file describes, by name, each with its newest run.
    func jobsOfFiles() async throws(APIError) -> [WireJob] {
        var found: [WireJob] = []
        var page = try await jobs(after: "")
        while let last = page.last {
            found += page.filter { $0.origin == JobOrigin.file.rawValue }
            page = try await jobs(after: last.name)
        }
        return found
    }

    /// The first jobs after `name`, in the order of names, each with its newest run; none: there are no more.
    private func jobs(after name: String) async throws(APIError) -> [WireJob] {
        let entries = try await reading(await control.slots.entries(after: name))
        let last = try await reading(await control.ledger.lastRuns(of: entries.map(\.record.name)))
        let runs = Dictionary(last.map { ($0.job, $0) }) { first, _ in first }
        var jobs: [WireJob] = []
        for entry in entries {
            var run: WireRun?
            if let record = runs[entry.record.name] { run = await shown(record) }
            jobs.append(WireJob(entry, lastRun: run))
        }
        return jobs
    }

    /// The job of that name.
    ///
    /// - Throws: ``ErrorCode/noSuchJob`` with the name that was perhaps meant.
    func entry(_ name: String) async throws(APIError) -> ScheduledJob {
        let entry = try await reading(await control.slots.entry(name))
        if let entry { return entry }
        let names = await control.slots.names()
        throw APIError(.noSuchJob, "no job \"\(name)\"", hint: NearestName.hint(name, among: names))
    }

    /// Refuses a bot that is not described, where any is.
    func checkBot(of draft: JobDraft) throws(APIError) {
        let bots = Set(control.activeConfiguration.configuration.bots.keys).union(["belfry"])
        guard bots.count > 1, let bot = draft.fields["bot"]?.text, !bots.contains(bot) else { return }
        throw APIError(
            .noSuchBot, "no bot \"\(bot)\"",
            hint: NearestName.hint(bot, among: bots) ?? "Describe it under bots: in the configuration.")
    }

    /// What a client may say of where a job comes from; files are the daemon's own to read.
    private static func origin(_ word: String?) throws(APIError) -> JobOrigin {
        switch word {
        case nil, JobOrigin.cli.rawValue: return .cli
        case JobOrigin.imported.rawValue: return .imported
        case let word?:
            throw APIError(.badValue, "origin is not \"\(word)\"", hint: "It is: cli or import")
        }
    }

    func shown(_ name: String) async throws(APIError) -> WireJob {
        let entry = try await entry(name)
        let last = try await reading(await control.ledger.runs(RunFilter(job: name, limit: 1)))
        var run: WireRun?
        if let record = last.first { run = await shown(record) }
        var job = WireJob(entry, lastRun: run)
        job.schedule.clockChanges =
            entry.schedule.members.lazy.compactMap { [zones = entry.zones] member in
                member.clockChanges(after: control.clock.now, in: zones[member.zoneName])?.sentence
            }.first
        return job
    }
}

// Jobs in the form of a configuration file, for an editor and for export.

extension DaemonHandler {
    func jobText(_ name: String, _ query: JobTextQuery) async throws(APIError) -> WireJobText {
        let entry = try await entry(name)
        var spec = entry.record.spec
        if query.anchored { spec.schedule.nameFirstMoment(of: entry.schedule) }
        let text = JobSource(spec, by: reader(zone: spec.schedule.zone)).text
        return WireJobText(text: text, revision: entry.record.revision)
    }

    func setJobText(_ name: String, _ new: WireJobText) async throws(APIError) -> WireJob {
        let old = try await entry(name).record
        let spec: JobSpec
        do throws(SettingsError) {
            spec = try reader(zone: old.spec.schedule.zone)
                .readJob(SourceText(name: "\(name).yaml", text: new.text))
        } catch {
            throw APIError(error)
        }
        guard spec.name == name else {
            throw APIError(
                .badValue, "a job keeps its name", hint: "Add one of the other name, and remove this one.")
        }
        if let revision = new.revision, revision != old.revision {
            throw APIError(EngineError.changedMeanwhile(name))
        }
        if spec.isWritten(as: old.spec) { return try await shown(name) }
        _ = try await asking(
            await control.edit(name) { (current) throws(EngineError) in
                guard current == old.spec else { throw .changedMeanwhile(name) }
                current = spec
            })
        return try await saved(name)
    }

    /// Reads jobs as files have them, in `zone` where they name none; it needs no secrets.
    private func reader(zone: String) -> ConfigurationReader {
        var reader = ConfigurationReader(
            hostZone: zone, zone: control.host.zones, readSecret: { _ throws in throw APIError(.badConfig) })
        reader.phraseZones = reading.phraseZones
        return reader
    }
}

extension ScheduleSpec {
    /// Writes out where a schedule begins that counts from when it was made.
    fileprivate mutating func nameFirstMoment(of schedule: Schedule) {
        guard countsFromMaking else { return }
        switch schedule {
        case .every(_, let anchor): self.anchor = anchor
        case .calendar(let grid, _): text = grid.rule.text
        case .several(let list):
            for (place, member) in list.members.enumerated() {
                members?[place].nameFirstMoment(of: member)
            }
        case .cron, .after, .at, .startup, .manual: break
        }
    }
}

extension APIError {
    /// The refusal of a job's text: every fault with its place.
    fileprivate init(_ error: SettingsError) {
        self.init(.badConfig, "the job is refused")
        faults = error.problems.map {
            WireFault(file: $0.file, line: $0.line, column: $0.column, message: $0.message, hint: $0.hint)
        }
        if let only = error.problems.first, error.problems.count == 1 {
            (message, hint) = ("\(only.file):\(only.line):\(only.column): \(only.message)", only.hint)
        } else {
            message = "the job has \(Plural.of(faults.count, "fault"))"
        }
        drawing = error.description
    }
}
