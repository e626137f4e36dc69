import GRDB
import Ledger
import Timeline

/// Jobs as far as their slots need them: a start reads every job, and to decode all that a person wrote of each takes
/// several times as long.
enum SlotJobRows {
    /// The specs are JSON in the form of `JobSpec`; the library looks into each text once for all these.
    private static let query = """
        SELECT name, job.revision, origin, since, paused_since IS NOT NULL,
            spec ->> '$.schedule.kind', spec ->> '$.schedule.text', spec ->> '$.schedule.zone',
            spec ->> '$.schedule.gap', spec ->> '$.schedule.fold', spec ->> '$.schedule.anchor',
            spec ->> '$.schedule.made', json_extract(spec, '$.bot', '$.overlap', '$.catchUp', '$.spread')
        FROM job JOIN revision ON revision.job = job.name AND revision.revision = job.revision
        WHERE name > ? ORDER BY name LIMIT ?
        """

    static func jobs(after name: String, limit: Int, in database: Database) throws(StoreFailure) -> [SlotJob]
    {
        // Most jobs have the same here; it is decoded once.
        var known: [String: SlotPolicies] = [:]
        return try Prepared(query, in: database).all({
            $0.put(name)
            $0.put(limit)
        }) { row throws(StoreFailure) in
            let name = row.text()
            let (revision, origin) = (row.int(), try row.word(JobOrigin.self))
            let (since, isPaused) = (row.moment(), row.bool())
            var schedule = ScheduleSpec(kind: try row.word(), text: row.text(), zone: row.text())
            schedule.gap = row.optionalText()
            schedule.fold = row.optionalText()
            schedule.anchor = row.optionalMoment()
            schedule.made = row.optionalMoment()
            let text = row.text()
            let policies: SlotPolicies
            if let seen = known[text] {
                policies = seen
            } else {
                policies = try JSONText.decode(text, as: StoredPolicies.self).policies
                known[text] = policies
            }
            return SlotJob(
                name: name, revision: revision, origin: origin, since: since, isPaused: isPaused,
                schedule: schedule, policies: policies)
        }
    }
}

/// The last column: bot, overlap, catch-up and spread of a spec.
private struct StoredPolicies: Decodable {
    let policies: SlotPolicies

    /// What an older version did not write is by default, as in a whole spec.
    init(from decoder: any Decoder) throws {
        var parts = try decoder.unkeyedContainer()
        var spec = JobSpec(
            name: "", bot: try parts.decode(String.self), action: .shell(""),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: ""))
        spec.overlap = try parts.decodeIfPresent(OverlapPolicy.self) ?? spec.overlap
        spec.catchUp = try parts.decodeIfPresent(CatchUpPolicy.self) ?? spec.catchUp
        spec.spread = try parts.decodeIfPresent(Duration.self)
        policies = SlotPolicies(spec)
    }
}
