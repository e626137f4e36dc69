import Delivery
import Timeline
import Tracking

/// A live state as it is stored.
///
/// The names are the file format; a field may be added, none may change its meaning.
struct StoredLive: Codable {
    var task: LiveTask
    var attempt: Int
    var seq: Int64
    var state: RunState
    var reason: RunReason?
    var blockedKind: BlockedKind?
    var progress: Double?
    var phase: String?
    var message: String?
    var startedAt: Moment?
    var etaAt: Moment?
    var etaLow: Moment?
    var etaHigh: Moment?
    var updatedAt: Moment
    var staleAt: Moment?

    init(_ live: LiveState) {
        task = live.task
        attempt = live.attempt
        seq = live.seq
        state = live.state
        reason = live.reason
        blockedKind = live.blockedKind
        progress = live.progress
        phase = live.phase
        message = live.message
        startedAt = live.startedAt
        etaAt = live.finish?.at
        etaLow = live.finish?.low
        etaHigh = live.finish?.high
        updatedAt = live.updatedAt
        staleAt = live.staleAt
    }

    var live: LiveState {
        var live = LiveState(
            task: task, attempt: attempt, seq: seq, state: state, reason: reason, updatedAt: updatedAt)
        live.blockedKind = blockedKind
        live.progress = progress
        live.phase = phase
        live.message = message
        live.startedAt = startedAt
        live.finish = etaAt.map { FinishTime(at: $0, low: etaLow, high: etaHigh) }
        live.staleAt = staleAt
        return live
    }
}

extension StoredLive {
    /// The JSON that ``JSONText`` writes of it, without the encoder's search for what it is: one is stored for every run
    /// that ends.
    var text: String {
        func words(_ value: String?) -> JSON? { value.map { .string($0) } }
        func moment(_ value: Moment?) -> JSON? { value.map { .int($0.microseconds) } }
        let json = JSON.object([
            "attempt": .int(attempt), "blockedKind": words(blockedKind?.rawValue), "etaAt": moment(etaAt),
            "etaHigh": moment(etaHigh), "etaLow": moment(etaLow), "message": words(message),
            "phase": words(phase), "progress": progress.map { .double($0) },
            "reason": words(reason?.rawValue), "seq": .int(seq), "staleAt": moment(staleAt),
            "startedAt": moment(startedAt), "state": .string(state.rawValue),
            "task": JSON.object([
                "botID": words(task.botID), "botName": words(task.botName), "id": words(task.id),
                "name": words(task.name), "run": words(task.run),
            ]),
            "updatedAt": moment(updatedAt),
        ])
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
