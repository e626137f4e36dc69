import GRDB
import Ledger
import Timeline
import Tracking

/// The watermark, and the slots that did not run.
struct SlotRows {
    private let watermark: Prepared
    private let putWatermark: Prepared
    private let join: Prepared
    private let insert: Prepared

    init(in database: Database) throws(StoreFailure) {
        watermark = try Prepared(Self.watermarkQuery, in: database)
        putWatermark = try Prepared(
            """
            INSERT INTO scheduler (shard, decided_until, era) VALUES (0, ?, ?)
            ON CONFLICT DO UPDATE SET decided_until = excluded.decided_until, era = excluded.era
            """, in: database)
        // Spans of a job and era never overlap: only the newest that begins by then can end there.
        join = try Prepared(
            """
            UPDATE slot_span SET last = ?1, count = count + ?2
            WHERE job = ?3 AND era = ?4 AND last = ?5 AND state = ?6 AND reason = ?7 AND first = (
                SELECT max(first) FROM slot_span WHERE job = ?3 AND era = ?4 AND first <= ?5)
            """, in: database)
        insert = try Prepared(
            """
            INSERT INTO slot_span (job, era, first, last, count, state, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, in: database)
    }

    func moveWatermark(from old: Watermark, to new: Watermark) throws(StoreFailure) {
        let now = try watermark.first { row in Watermark(decidedUntil: row.moment(), era: row.int()) }
        if let now, now != old { throw .fenced }
        try putWatermark.run {
            $0.put(new.decidedUntil)
            $0.put(new.era)
        }
    }

    func record(_ span: SlotSpan, follows: Moment?) throws(StoreFailure) {
        if let follows {
            let joined = try join.run {
                $0.put(span.last)
                $0.put(span.count)
                $0.put(span.job)
                $0.put(span.era)
                $0.put(follows)
                $0.put(StoredState.code(of: span.state))
                $0.put(span.reason)
            }
            if joined > 0 { return }
        }
        try insert.run {
            $0.put(span.job)
            $0.put(span.era)
            $0.put(span.first)
            $0.put(span.last)
            $0.put(span.count)
            $0.put(StoredState.code(of: span.state))
            $0.put(span.reason)
        }
    }
}

extension SlotRows {
    private static let watermarkQuery = "SELECT decided_until, era FROM scheduler"
    private static let query = "SELECT job, era, first, last, count, state, reason FROM slot_span"

    static func watermark(in database: Database) throws(StoreFailure) -> Watermark? {
        try Prepared(watermarkQuery, in: database).first { row in
            Watermark(decidedUntil: row.moment(), era: row.int())
        }
    }

    static func spans(of job: String?, limit: Int, in database: Database) throws(StoreFailure) -> [SlotSpan] {
        let statement = try Prepared(
            query
                + (job == nil
                    ? " ORDER BY era DESC, last DESC, job LIMIT ?1"
                    // Those of one job never overlap: the order is the same, and is that of its key.
                    : " WHERE job = ?2 ORDER BY era DESC, first DESC LIMIT ?1"),
            in: database)
        return try statement.all({
            $0.put(limit)
            if let job { $0.put(job) }
        }) { row throws(StoreFailure) in
            SlotSpan(
                job: row.text(), era: row.int(), first: row.moment(), last: row.moment(), count: row.int(),
                state: try StoredState.state(of: row.integer()), reason: try row.word())
        }
    }
}

/// Jobs as far as their slots need them: a start reads every job, and to decode all that a person wrote of each takes
/// several times as long.
enum SlotJobRows {
    /// The specs are JSON in the form of `JobSpec`; the library looks into each text once for all these.
    private static let query = """
        SELECT name, job.revision, origin, since, paused_since IS NOT NULL,
            spec ->> '$.schedule.kind', spec ->> '$.schedule.text', spec ->> '$.schedule.zone',
            spec ->> '$.schedule.gap', spec ->> '$.schedule.fold', spec ->> '$.schedule.anchor',
            spec ->> '$.schedule.made', spec -> '$.schedule.members',
            json_extract(spec, '$.bot', '$.overlap', '$.catchUp', '$.spread')
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
            schedule.members = try row.optionalText().map { text throws(StoreFailure) in
                try JSONText.decode(text, as: [ScheduleSpec].self)
            }
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
