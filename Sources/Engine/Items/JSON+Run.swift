import Delivery
import Ledger
import Timeline
import Tracking

extension JSON {
    /// The `run` of webhooks, in the words of the API.
    init(_ run: RunRecord) {
        self = .object([
            "id": .string(run.id),
            "name": .string(run.name),
            "job": .string(run.job),
            "bot": .string(run.bot),
            "kind": .string(run.kind.rawValue),
            "cause": .string(run.cause),
            "slot": run.slot.map { .string($0.iso8601) },
            "state": .string(run.state.rawValue),
            "reason": run.reason.map { .string($0.rawValue) },
            "attempt": .int(run.attempt),
            "retryOf": run.retryOf.map(JSON.string),
            "queuedAt": .string(run.queuedAt.iso8601),
            "startedAt": run.startedAt.map { .string($0.iso8601) },
            "endedAt": run.endedAt.map { .string($0.iso8601) },
            "exitCode": run.exitCode.map { .int($0) },
            "signal": run.signal.map { .int($0) },
            "latenessMs": run.lateness.map { .int($0.milliseconds) },
            "queueDelayMs": run.queueDelay.map { .int($0.milliseconds) },
            "outputBytes": run.outputBytes.map { .int($0) },
        ])
    }

    /// The `run` of a webhook about slots that never got one.
    init(_ slots: Fact.Slots, _ span: Fact.Slots.Span, state: RunState) {
        self = .object([
            "job": .string(slots.job),
            "bot": .string(slots.bot),
            "kind": .string("scheduled"),
            "slot": .string(span.first.iso8601),
            "lastSlot": .string(span.last.iso8601),
            "count": .int(span.count),
            "state": .string(state.rawValue),
            "reason": slots.reason.map { .string($0.rawValue) },
        ])
    }
}
