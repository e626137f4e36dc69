import API
import Ledger
import Timeline
import Tracking

extension WireRun {
    /// The run as the API shows it; `live` is where it is now, when it is under way.
    init(_ record: RunRecord, live: LiveState?, at now: Moment) {
        self.init(job: record.job, state: record.state, reason: record.reason)
        id = record.id
        name = record.name
        bot = record.bot
        kind = record.kind.rawValue
        cause = record.cause
        slot = Timestamp(record.slot)
        attempt = record.attempt
        retryOf = record.retryOf
        notBefore = Timestamp(record.notBefore)
        queuedAt = Timestamp(record.queuedAt)
        startedAt = Timestamp(record.startedAt)
        endedAt = Timestamp(record.endedAt)
        exitCode = record.exitCode
        signal = record.signal
        latenessMs = record.lateness?.milliseconds
        queueDelayMs = record.queueDelay?.milliseconds
        self.live = (live ?? record.live).map { WireLive($0, at: now) }
        outputBytes = record.outputBytes
        cpuMs = record.cpu?.milliseconds
        maxRssKb = record.maxRssKb
        survivors = record.survivors?.map { WireSurvivor(pid: $0.pid, name: $0.name) }
    }

    /// Slots that did not run, as one row.
    init(_ span: SlotSpan) {
        self.init(job: span.job, state: span.state, reason: span.reason)
        slot = Timestamp(span.first)
        lastSlot = Timestamp(span.last)
        count = span.count
    }
}

extension WireAttempt {
    /// The attempt as the API shows it.
    init(_ record: AttemptRecord) {
        self.init(n: record.n, state: record.state, reason: record.reason)
        startedAt = Timestamp(record.startedAt)
        endedAt = Timestamp(record.endedAt)
        exitCode = record.exitCode
        signal = record.signal
    }
}
