import API
import Cron
import Engine
import Ledger
import Settings
import Timeline

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
