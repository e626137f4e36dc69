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
    /// The JSON that ``JSONText`` writes of it, written by hand: one is stored for every run that ends.
    var text: String {
        var json = FlatText()
        json.put("attempt", attempt)
        json.put("blockedKind", blockedKind?.rawValue)
        json.put("etaAt", etaAt?.microseconds)
        json.put("etaHigh", etaHigh?.microseconds)
        json.put("etaLow", etaLow?.microseconds)
        json.put("message", message)
        json.put("phase", phase)
        json.put("progress", progress)
        json.put("reason", reason?.rawValue)
        json.put("seq", seq)
        json.put("staleAt", staleAt?.microseconds)
        json.put("startedAt", startedAt?.microseconds)
        json.put("state", state.rawValue)
        json.open("task")
        json.put("botID", task.botID)
        json.put("botName", task.botName)
        json.put("id", task.id)
        json.put("name", task.name)
        json.put("run", task.run)
        json.close()
        json.put("updatedAt", updatedAt.microseconds)
        return json.finish()
    }
}
