import API
import Cron
import Delivery
import Engine
import Host
import Ledger
import Timeline
import Tracking

extension DaemonHandler {
    func expectations() async throws(APIError) -> [WireExpectation] {
        try await asking(await control.expectations()).map { wire($0.0, dueAt: $0.dueAt) }
    }

    /// Makes an expectation, or changes the one of that name.
    func expect(_ draft: ExpectationDraft) async throws(APIError) -> WireExpectation {
        if let fault = JobName.fault(in: draft.name) {
            throw APIError(.badName, "the name \(Quoted.of(draft.name)): \(fault)")
        }
        guard !["add", "list", "rm"].contains(draft.name) else {
            throw APIError(.badName, "a subcommand of belfry expect has the name \(Quoted.of(draft.name))")
        }
        guard links != nil else { throw APIError(.internalFault, "the key of addresses can't be read") }
        let schedule = try ScheduleSpec(draft.schedule, reading)
        switch schedule.kind {
        case .cron, .calendar, .every, .several: break
        case .after, .at, .startup, .manual:
            throw APIError(
                .badSchedule, "an expectation has a schedule that repeats, not \(schedule.kind.rawValue)",
                hint: "Give --every 1d, or --cron \"0 3 * * *\".")
        }
        let grace = try Self.grace(draft.grace ?? "1h")
        let (made, dueAt) = try await asking(
            await control.expect(draft.name, schedule, grace: grace) { [links] seed in
                DoorToken.digest(of: links?.pingKey(of: seed) ?? "")
            })
        return wire(made, dueAt: dueAt)
    }

    func removeExpectation(_ name: String) async throws(APIError) {
        try await asking(await control.removeExpectation(name))
    }

    private static func grace(_ text: String) throws(APIError) -> Duration {
        guard let grace = try? Duration(text: text[...]), grace > .zero, grace <= .seconds(366 * 86_400)
        else {
            throw APIError(.badValue, "the grace \(Quoted.of(text)) is not a time such as 30m, up to 366d")
        }
        return grace
    }

    private func wire(_ expectation: ExpectationRecord, dueAt: Moment?) -> WireExpectation {
        let record = expectation.reports
        var wire = WireExpectation(
            name: expectation.name, schedule: WireSchedule(expectation, control.host.zones),
            grace: expectation.grace.text, state: record.state)
        wire.reason = record.reason?.rawValue
        wire.lateSince = Timestamp(record.lateSince)
        wire.lastPing = Timestamp(record.lastPing)
        wire.dueAt = Timestamp(dueAt)
        wire.message = record.message
        if let base = control.activeConfiguration.configuration.listen?.linkBase {
            wire.url = links.map { base + Door.pingLead + $0.pingKey(of: expectation.seed) }
        }
        return wire
    }
}

extension ExpectationRecord.Reports {
    fileprivate var state: String {
        if lateSince != nil { return "late" }
        if startedAt != nil { return "started" }
        return lastPing == nil ? "new" : "up"
    }
}

extension WireSchedule {
    /// When an expectation must report.
    fileprivate init(_ expectation: ExpectationRecord, _ zones: @escaping ZoneLookup) {
        let spec = expectation.schedule
        let read = try? spec.read(seed: expectation.name, since: expectation.madeAt, zones: zones)
        if let members = spec.members {
            self.init(
                several: members.map { WireSchedule(kind: $0.kind.rawValue, text: $0.text, zone: $0.zone) })
        } else {
            self.init(kind: spec.kind.rawValue, text: spec.text, zone: read?.0.zoneName)
        }
        phrase = spec.phrase
        guard let (schedule, rules) = read else { return }
        if case .every = schedule { return }
        words = schedule.words(in: rules[schedule.zoneName])
    }
}
