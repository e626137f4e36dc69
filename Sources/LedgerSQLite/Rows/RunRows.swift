import GRDB
import Ledger
import Timeline
import Tracking

/// Runs: how they are inserted, moved and saved.
struct RunRows {
    private let ordinals: Ordinals
    private let insert: Prepared
    private let move: Prepared
    private let passOver: Prepared
    private let askEnd: Prepared
    private let saveLive: Prepared
    private let putAttempt: Prepared

    init(in database: Database, ordinals: Ordinals) throws(StoreFailure) {
        self.ordinals = ordinals
        insert = try Prepared(Self.insertion, in: database)
        move = try Prepared(Self.step, in: database)
        passOver = try Prepared(
            """
            UPDATE run SET state = \(StoredState.code(of: .skipped)), reason = ?1, ended_at = ?2
            WHERE id = ?3 AND attempt = 1 AND started_at IS NULL AND state IN (
                \(StoredState.code(of: .scheduled)), \(StoredState.code(of: .queued)))
            """, in: database)
        askEnd = try Prepared(
            "UPDATE run SET end_asked = ?1 WHERE id = ?2 AND state < 20 AND end_asked IS NULL", in: database)
        saveLive = try Prepared(
            """
            UPDATE run SET live = ?1, live_attempt = ?2, live_seq = ?3 WHERE id = ?4
            AND (live IS NULL OR (live_attempt, live_seq) <= (?2, ?3))
            """, in: database)
        putAttempt = try Prepared(
            """
            INSERT INTO attempt (run, n, state, reason, started_at, ended_at, exit_code, signal, output_bytes,
                usage)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (run, n) DO UPDATE SET state = excluded.state, reason = excluded.reason,
                started_at = excluded.started_at, ended_at = excluded.ended_at,
                exit_code = excluded.exit_code, signal = excluded.signal,
                output_bytes = excluded.output_bytes, usage = excluded.usage
            """, in: database)
    }

    /// Returns the ordinal the run was given; nil when its cause has one already.
    func insert(_ run: RunRecord, orIgnore: Bool) throws(StoreFailure) -> Int? {
        let ordinal = try ordinals.next(of: run.job)
        let spec = if let spec = run.spec { try JSONText.encode(spec) } else { String?.none }
        let live = if let live = run.live { try JSONText.encode(live) } else { String?.none }
        let survivors = try Self.text(of: run.survivors)
        let usage = try Self.text(of: run.usage)
        let inserted = try insert.run {
            Self.bind(run, ordinal: ordinal, spec: spec, live: live, survivors: survivors, usage, to: &$0)
        }
        if inserted == 0 {
            if orIgnore { return nil }
            throw .fenced
        }
        ordinals.give(ordinal, to: run.job)
        return ordinal
    }

    func move(_ step: RunMove) throws(StoreFailure) {
        let from = StoredState.mask(of: step.from.filter { !$0.isEnded })
        let survivors = try Self.text(of: step.survivors)
        let usage = try Self.text(of: step.usage)
        try move.change { Self.bind(step, from: from, survivors: survivors, usage, to: &$0) }
    }

    /// Returns whether it waited still, and was never started.
    func passOver(_ run: String, at moment: Moment) throws(StoreFailure) -> Bool {
        let changed = try passOver.run {
            $0.put(RunReason.superseded)
            $0.put(moment)
            $0.put(run)
        }
        return changed > 0
    }

    func askEnd(of run: String, _ reason: RunReason) throws(StoreFailure) {
        try askEnd.run {
            $0.put(reason)
            $0.put(run)
        }
    }

    func saveLive(_ live: LiveState, of run: String) throws(StoreFailure) {
        let text = try JSONText.encode(live)
        try saveLive.run {
            $0.put(text)
            $0.put(live.attempt)
            $0.put(live.seq)
            $0.put(run)
        }
    }

    func put(_ attempt: AttemptRecord) throws(StoreFailure) {
        let usage = try Self.text(of: attempt.usage)
        try putAttempt.run {
            $0.put(attempt.run)
            $0.put(attempt.n)
            $0.put(StoredState.code(of: attempt.state))
            $0.put(attempt.reason)
            $0.put(attempt.startedAt)
            $0.put(attempt.endedAt)
            $0.put(attempt.exitCode)
            $0.put(attempt.signal)
            $0.put(attempt.outputBytes)
            $0.put(usage)
        }
    }
}

extension RunRows {
    private static let insertion = """
        INSERT INTO run (
            id, job, ordinal, bot, kind, cause, slot, era, state, reason, attempt, retry_of, not_before,
            queued_at, lateness, revision, token, forced,
            started_at, ended_at, exit_code, signal, queue_delay, output_bytes, cpu, max_rss_kb, pid,
            pid_start, pid_boot, spec, live, live_attempt, live_seq, end_asked, survivors,
            output_tail, usage)
        VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            ?, ?)
        ON CONFLICT (cause, job) DO NOTHING
        """

    private static func bind(
        _ run: RunRecord, ordinal: Int, spec: String?, live: String?, survivors: String?, _ usage: String?,
        to row: inout Binder
    ) {
        row.put(run.id)
        row.put(run.job)
        row.put(ordinal)
        row.put(run.bot)
        row.put(run.kind)
        row.put(run.cause)
        row.put(run.slot)
        row.put(run.era)
        row.put(StoredState.code(of: run.state))
        row.put(run.reason)
        row.put(run.attempt)
        row.put(run.retryOf)
        row.put(run.notBefore)
        row.put(run.queuedAt)
        row.put(run.lateness)
        row.put(run.revision)
        row.put(run.token)
        row.put(run.isForced)
        // The rest stays NULL in a run that only waits: nearly every one that is inserted.
        if run.isOnlyDecided { return }
        row.put(run.startedAt)
        row.put(run.endedAt)
        row.put(run.exitCode)
        row.put(run.signal)
        row.put(run.queueDelay)
        row.put(run.outputBytes)
        row.put(run.cpu)
        row.put(run.maxRssKb)
        row.put(run.process)
        row.put(spec)
        row.put(live)
        row.put(run.live?.attempt)
        row.put(run.live?.seq)
        row.put(run.endAsked)
        row.put(survivors)
        row.put(run.outputTail)
        row.put(usage)
    }

    /// `?16` has one bit for each state it may come from.
    private static let step = """
        UPDATE run SET state = ?1, reason = ?2, attempt = coalesce(?3, attempt), not_before = ?4,
            started_at = coalesce(?5, started_at), ended_at = coalesce(?6, ended_at),
            exit_code = coalesce(?7, exit_code), signal = coalesce(?8, signal),
            queue_delay = coalesce(?9, queue_delay), output_bytes = coalesce(?10, output_bytes),
            cpu = coalesce(?11, cpu), max_rss_kb = coalesce(?12, max_rss_kb), pid = coalesce(?13, pid),
            pid_start = coalesce(?14, pid_start), pid_boot = coalesce(?15, pid_boot),
            token = coalesce(?20, token), survivors = coalesce(?21, survivors),
            profile = coalesce(?22, profile), output_tail = coalesce(?23, output_tail),
            usage = coalesce(?24, usage)
        WHERE id = ?17 AND attempt = ?18 AND token = ?19 AND (?16 >> state) & 1
            AND (end_asked IS NULL OR ?1 <> \(StoredState.code(of: .starting)))
        """

    private static func bind(
        _ step: RunMove, from: Int64, survivors: String?, _ usage: String?, to row: inout Binder
    ) {
        row.put(StoredState.code(of: step.to))
        row.put(step.reason)
        row.put(step.nextAttempt)
        row.put(step.notBefore)
        row.put(step.startedAt)
        row.put(step.endedAt)
        row.put(step.exitCode)
        row.put(step.signal)
        row.put(step.queueDelay)
        row.put(step.outputBytes)
        row.put(step.cpu)
        row.put(step.maxRssKb)
        row.put(step.process)
        row.put(from)
        row.put(step.run)
        row.put(step.attempt)
        row.put(step.token)
        row.put(step.nextToken)
        row.put(survivors)
        row.put(step.profile?.bytes)
        row.put(step.outputTail)
        row.put(usage)
    }

    private static func text(of value: (some Encodable)?) throws(StoreFailure) -> String? {
        guard let value else { return nil }
        return try JSONText.encode(value)
    }
}

extension Binder {
    /// The three columns of a process.
    fileprivate mutating func put(_ process: ProcessMark?) {
        put(process.map { Int64($0.pid) })
        put(process.map { Int64(bitPattern: $0.startTime) })
        put(process?.boot)
    }
}

extension RunRecord {
    /// Whether nothing is known of it but that it is to be done.
    fileprivate var isOnlyDecided: Bool {
        switch state {
        case .scheduled, .queued:
            startedAt == nil && endedAt == nil && exitCode == nil && signal == nil && queueDelay == nil
                && outputBytes == nil && cpu == nil && maxRssKb == nil && !$process && !$spec && !$live
                && endAsked == nil && survivors == nil && !$outputTail && !$usage
        default: false
        }
    }
}

extension RunRows {
    private static let columns = """
        id, job, ordinal, bot, kind, cause, slot, era, state, reason, attempt, retry_of, not_before,
        queued_at, started_at, ended_at, exit_code, signal, lateness, queue_delay, output_bytes, cpu,
        max_rss_kb, pid, pid_start, pid_boot, revision, spec, live, token, forced, end_asked,
        survivors, output_tail, usage
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
            SELECT run, n, state, reason, started_at, ended_at, exit_code, signal, output_bytes, usage
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
            if let usage = row.optionalText() { attempt.usage = try JSONText.decode(usage) }
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
        run.outputTail = row.optionalText()
        if let usage = row.optionalText() { run.usage = try JSONText.decode(usage) }
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
