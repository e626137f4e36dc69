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

/// Values that are kept as JSON because nothing asks for their parts.
enum JSONText {
    /// Where a run is, which is written at each of its ends.
    static func encode(_ live: LiveState) throws(StoreFailure) -> String {
        var writer = JSONWriter()
        do { try live.write(to: &writer) } catch {
            throw .unreadable("a live state can't be written: \(error)")
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func encode(_ value: some Encodable) throws(StoreFailure) -> String {
        do {
            return String(decoding: try JSON.encode(value, sorted: true), as: UTF8.self)
        } catch {
            throw .unreadable("a \(type(of: value)) can't be written: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ text: String, as _: Value.Type = Value.self) throws(StoreFailure)
        -> Value
    {
        do {
            return try JSON.decode(from: text.utf8)
        } catch {
            throw .unreadable("a stored \(Value.self) can't be read: \(error)")
        }
    }
}
