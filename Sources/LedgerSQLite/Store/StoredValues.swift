import Delivery
import FoundationEssentials
import Timeline
import Tracking

/// How a run's state is stored: a small number, so that "has not ended" is one comparison an index can use.
///
/// The numbers are the file format; none may change its meaning.
///
/// The ends begin at 20: `state < 20` is "has not ended" in the schema and in every query.
enum StoredState {
    /// One bit for each of `states`, at the place of its number.
    static func mask(of states: Set<RunState>) -> Int64 {
        states.reduce(0) { $0 | 1 << code(of: $1) }
    }

    static func code(of state: RunState) -> Int64 {
        switch state {
        case .scheduled: 0
        case .queued: 1
        case .starting: 2
        case .running: 3
        case .blocked: 4
        case .paused: 5
        case .stalled: 6
        case .completed: 20
        case .failed: 21
        case .canceled: 22
        case .timedOut: 23
        case .lost: 24
        case .skipped: 25
        case .missed: 26
        }
    }

    static func state(of code: Int64) throws(StoreFailure) -> RunState {
        switch code {
        case 0: return .scheduled
        case 1: return .queued
        case 2: return .starting
        case 3: return .running
        case 4: return .blocked
        case 5: return .paused
        case 6: return .stalled
        case 20: return .completed
        case 21: return .failed
        case 22: return .canceled
        case 23: return .timedOut
        case 24: return .lost
        case 25: return .skipped
        case 26: return .missed
        default: throw .unreadable("\(code) is no state of a run")
        }
    }
}

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

/// Values that are kept as JSON because nothing asks for their parts.
enum JSONText {
    static func encode(_ value: some Encodable) throws(StoreFailure) -> String {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            throw .unreadable("a \(type(of: value)) can't be written: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ text: String, as _: Value.Type = Value.self) throws(StoreFailure)
        -> Value
    {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw .unreadable("a stored \(Value.self) can't be read: \(error)")
        }
    }
}
