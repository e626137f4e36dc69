import GRDB
import Ledger
import Timeline
import Tracking

extension RunRows {
    private static let columns = """
        id, job, ordinal, bot, kind, cause, slot, era, state, reason, attempt, retry_of, not_before,
        queued_at, started_at, ended_at, exit_code, signal, lateness, queue_delay, output_bytes, cpu,
        max_rss_kb, pid, pid_start, pid_boot, revision, spec, live, token, forced, end_asked,
        survivors
        """

    static func run(id: String, in database: Database) throws(StoreFailure) -> RunRecord? {
        try Prepared("SELECT \(columns) FROM run WHERE id = ?", in: database)
            .first({ $0.put(id) }, record)
    }

    static func run(job: String, ordinal: Int, in database: Database) throws(StoreFailure) -> RunRecord? {
        let statement = try Prepared(
            """
            SELECT \(columns) FROM run INDEXED BY run_open WHERE job = ?1 AND ordinal = ?2 AND state < 20
            UNION ALL SELECT \(columns) FROM run WHERE job = ?1 AND ordinal = ?2 AND state >= 20
            """, in: database)
        return try statement.first(
            {
                $0.put(job)
                $0.put(ordinal)
            }, record)
    }

    static func run(job: String, cause: String, in database: Database) throws(StoreFailure) -> RunRecord? {
        try Prepared("SELECT \(columns) FROM run WHERE cause = ? AND job = ?", in: database)
            .first(
                {
                    $0.put(cause)
                    $0.put(job)
                }, record)
    }

    static func run(cause: String, in database: Database) throws(StoreFailure) -> RunRecord? {
        try Prepared("SELECT \(columns) FROM run WHERE cause = ? ORDER BY number LIMIT 1", in: database)
            .first({ $0.put(cause) }, record)
    }

    static func active(in database: Database) throws(StoreFailure) -> [RunRecord] {
        try Prepared(
            "SELECT \(columns) FROM run INDEXED BY run_open WHERE state < 20 ORDER BY number", in: database
        )
        .all({ _ in }, record)
    }

    static func runs(ids: some Sequence<String>, in database: Database) throws(StoreFailure) -> [RunRecord] {
        let statement = try Prepared("SELECT \(columns), number FROM run WHERE id = ?", in: database)
        var found: [(number: Int64, run: RunRecord)] = []
        for id in ids {
            let run = try statement.first({ $0.put(id) }) { row throws(StoreFailure) in
                let run = try record(from: &row)
                return (row.integer(), run)
            }
            if let run { found.append(run) }
        }
        return found.sorted { $0.number < $1.number }.map(\.run)
    }

    static func runs(_ filter: RunFilter, in database: Database) throws(StoreFailure) -> [RunRecord] {
        // One bit for each state, so that the same few statements serve every filter.
        let mask = filter.states.isEmpty ? -1 : StoredState.mask(of: filter.states)
        let rest = " AND (?4 >> state) & 1" + (filter.since == nil ? "" : " AND queued_at >= ?2")
        // Within a job the ordinal rises with the number.
        let query =
            if filter.job != nil {
                """
                SELECT \(columns) FROM run INDEXED BY run_open WHERE job = ?3 AND state < 20\(rest)
                UNION ALL SELECT \(columns) FROM run WHERE job = ?3 AND state >= 20\(rest)
                ORDER BY ordinal DESC LIMIT ?1
                """
            } else if !filter.states.isEmpty, !filter.states.contains(where: \.isEnded) {
                """
                SELECT \(columns) FROM run INDEXED BY run_open
                WHERE state < 20\(rest) ORDER BY number DESC LIMIT ?1
                """
            } else {
                "SELECT \(columns) FROM run WHERE true\(rest) ORDER BY number DESC LIMIT ?1"
            }
        return try Prepared(query, in: database).all(
            {
                $0.put(filter.limit)
                $0.put(filter.since)
                $0.put(filter.job)
                $0.put(mask)
            }, record)
    }

    /// The newest run of each of these jobs: of those that ended the last, unless a newer one is open.
    static func last(
        of jobs: some Sequence<String>, in database: Database
    ) throws(StoreFailure) -> [RunRecord] {
        let open = try Prepared(
            "SELECT job, max(number) FROM run INDEXED BY run_open WHERE state < 20 GROUP BY job", in: database
        ).all { row in (row.text(), row.integer()) }
        let numbers = Dictionary(uniqueKeysWithValues: open)
        let ended = try Prepared(
            """
            SELECT number FROM run INDEXED BY run_ended WHERE job = ? AND state >= 20
            ORDER BY ordinal DESC LIMIT 1
            """, in: database)
        let run = try Prepared("SELECT \(columns) FROM run WHERE number = ?", in: database)
        var runs: [RunRecord] = []
        for job in jobs {
            let last = try ended.first({ $0.put(job) }) { row in row.integer() }
            guard let newest = [numbers[job], last].compactMap(\.self).max() else { continue }
            if let found = try run.first({ $0.put(newest) }, record) { runs.append(found) }
        }
        return runs
    }

    static func attempts(of run: String, in database: Database) throws(StoreFailure) -> [AttemptRecord] {
        let statement = try Prepared(
            """
            SELECT run, n, state, reason, started_at, ended_at, exit_code, signal, output_bytes
            FROM attempt WHERE run = ? ORDER BY n
            """, in: database)
        return try statement.all({ $0.put(run) }) { row throws(StoreFailure) in
            var attempt = AttemptRecord(
                run: row.text(), n: row.int(), state: try StoredState.state(of: row.integer()))
            attempt.reason = try row.optionalWord()
            attempt.startedAt = row.optionalMoment()
            attempt.endedAt = row.optionalMoment()
            attempt.exitCode = row.optionalInt()
            attempt.signal = row.optionalInt()
            attempt.outputBytes = row.optionalInteger()
            return attempt
        }
    }

    private static func record(from row: inout Columns) throws(StoreFailure) -> RunRecord {
        let id = row.text()
        let job = row.text()
        let ordinal = row.int()
        var run = RunRecord(
            id: id, job: job, bot: row.text(), kind: try row.word(), cause: row.text(),
            slot: row.optionalMoment(), era: row.int(), state: try StoredState.state(of: row.integer()),
            queuedAt: .distantPast, revision: 0)
        run.ordinal = ordinal
        run.reason = try row.optionalWord()
        run.attempt = row.int()
        run.retryOf = row.optionalText()
        run.notBefore = row.optionalMoment()
        run.queuedAt = row.moment()
        run.startedAt = row.optionalMoment()
        run.endedAt = row.optionalMoment()
        run.exitCode = row.optionalInt()
        run.signal = row.optionalInt()
        run.lateness = row.optionalDuration()
        run.queueDelay = row.optionalDuration()
        run.outputBytes = row.optionalInteger()
        run.cpu = row.optionalDuration()
        run.maxRssKb = row.optionalInteger()
        run.process = process(from: &row)
        run.revision = row.int()
        if let spec = row.optionalText() { run.spec = try JSONText.decode(spec) }
        if let live = row.optionalText() { run.live = try JSONText.decode(live) }
        run.token = row.int()
        run.isForced = row.bool()
        run.endAsked = try row.optionalWord()
        if let survivors = row.optionalText() { run.survivors = try JSONText.decode(survivors) }
        return run
    }

    private static func process(from row: inout Columns) -> ProcessMark? {
        let pid = row.optionalInteger()
        let start = row.optionalInteger()
        let boot = row.optionalText()
        guard let pid, let start, let boot else { return nil }
        return ProcessMark(
            pid: Int32(truncatingIfNeeded: pid), startTime: UInt64(bitPattern: start), boot: boot)
    }
}
