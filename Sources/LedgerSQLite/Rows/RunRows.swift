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
            INSERT INTO attempt (run, n, state, reason, started_at, ended_at, exit_code, signal, output_bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (run, n) DO UPDATE SET state = excluded.state, reason = excluded.reason,
                started_at = excluded.started_at, ended_at = excluded.ended_at,
                exit_code = excluded.exit_code, signal = excluded.signal,
                output_bytes = excluded.output_bytes
            """, in: database)
    }

    /// Returns the ordinal the run was given; nil when its cause has one already.
    func insert(_ run: RunRecord, orIgnore: Bool) throws(StoreFailure) -> Int? {
        let ordinal = try ordinals.next(of: run.job)
        let spec = if let spec = run.spec { try JSONText.encode(spec) } else { String?.none }
        let live = if let live = run.live { try JSONText.encode(live) } else { String?.none }
        let survivors = try Self.text(of: run.survivors)
        let inserted = try insert.run {
            Self.bind(run, ordinal: ordinal, spec: spec, live: live, survivors: survivors, to: &$0)
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
        let changed = try move.run { Self.bind(step, from: from, survivors: survivors, to: &$0) }
        if changed == 0 { throw .fenced }
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
        }
    }
}

extension RunRows {
    private static let insertion = """
        INSERT INTO run (
            id, job, ordinal, bot, kind, cause, slot, era, state, reason, attempt, retry_of, not_before,
            queued_at, lateness, revision, token, forced,
            started_at, ended_at, exit_code, signal, queue_delay, output_bytes, cpu, max_rss_kb, pid,
            pid_start, pid_boot, spec, live, live_attempt, live_seq, end_asked, survivors)
        VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (cause, job) DO NOTHING
        """

    private static func bind(
        _ run: RunRecord, ordinal: Int, spec: String?, live: String?, survivors: String?,
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
        row.put(run.process.map { Int64($0.pid) })
        row.put(run.process.map { Int64(bitPattern: $0.startTime) })
        row.put(run.process?.boot)
        row.put(spec)
        row.put(live)
        row.put(run.live?.attempt)
        row.put(run.live?.seq)
        row.put(run.endAsked)
        row.put(survivors)
    }

    /// `?16` has one bit for each state it may come from.
    private static let step = """
        UPDATE run SET state = ?1, reason = ?2, attempt = coalesce(?3, attempt), not_before = ?4,
            started_at = coalesce(?5, started_at), ended_at = coalesce(?6, ended_at),
            exit_code = coalesce(?7, exit_code), signal = coalesce(?8, signal),
            queue_delay = coalesce(?9, queue_delay), output_bytes = coalesce(?10, output_bytes),
            cpu = coalesce(?11, cpu), max_rss_kb = coalesce(?12, max_rss_kb), pid = coalesce(?13, pid),
            pid_start = coalesce(?14, pid_start), pid_boot = coalesce(?15, pid_boot),
            token = coalesce(?20, token), survivors = coalesce(?21, survivors)
        WHERE id = ?17 AND attempt = ?18 AND token = ?19 AND (?16 >> state) & 1
            AND (end_asked IS NULL OR ?1 <> \(StoredState.code(of: .starting)))
        """

    private static func bind(
        _ step: RunMove, from: Int64, survivors: String?, to row: inout Binder
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
        row.put(step.process.map { Int64($0.pid) })
        row.put(step.process.map { Int64(bitPattern: $0.startTime) })
        row.put(step.process?.boot)
        row.put(from)
        row.put(step.run)
        row.put(step.attempt)
        row.put(step.token)
        row.put(step.nextToken)
        row.put(survivors)
    }

    private static func text(of survivors: [LeftProcess]?) throws(StoreFailure) -> String? {
        guard let survivors else { return nil }
        return try JSONText.encode(survivors)
    }
}

extension RunRecord {
    /// Whether nothing is known of it but that it is to be done.
    fileprivate var isOnlyDecided: Bool {
        switch state {
        case .scheduled, .queued:
            startedAt == nil && endedAt == nil && exitCode == nil && signal == nil && queueDelay == nil
                && outputBytes == nil && cpu == nil && maxRssKb == nil && !$process && !$spec && !$live
                && endAsked == nil && survivors == nil
        default: false
        }
    }
}
