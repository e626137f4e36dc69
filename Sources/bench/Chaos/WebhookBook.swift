import CronBench
import FoundationEssentials
import Synchronization

/// Every webhook that arrived, kept by a service that is somewhat unreliable.
///
/// Of a hundred it meets for the first time it refuses one, and hangs up on another after it has read it.
final class WebhookBook: Sendable {
    /// What arrived under one webhook-id.
    struct Delivery: Sendable {
        var type: String
        /// The id of the run it tells of.
        var run: String?
        /// The thread it tells of.
        var thread: String?
        /// How often it arrived.
        var times = 1
        /// Whether it came again with other bytes.
        var isAltered = false
        fileprivate var body: [UInt8]
    }

    private struct State {
        var deliveries: [String: Delivery] = [:]
        var unreadable = 0
        var random: SeededNumbers
    }

    private struct Body: Decodable {
        struct Objects: Decodable {
            var run: Run?
            var item: Item?
        }
        struct Run: Decodable { var id: String? }
        struct Item: Decodable { var thread: String? }
        var type: String
        var data: Objects
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SeededNumbers(seed: seed)))
    }

    /// What arrived, by webhook-id.
    var deliveries: [String: Delivery] { state.withLock(\.deliveries) }

    /// How many requests were no webhooks.
    var unreadable: Int { state.withLock(\.unreadable) }

    /// Takes a request in; see ``BareReceiver``.
    func take(_ request: ArraySlice<UInt8>) -> BareReceiver.Reply {
        guard let (id, body) = Self.parts(of: request),
            let read = try? JSONDecoder().decode(Body.self, from: Data(body))
        else {
            state.withLock { $0.unreadable += 1 }
            return .status("400 Bad Request")
        }
        return state.withLock { state in
            if var known = state.deliveries[id] {
                known.times += 1
                if known.body != body { known.isAltered = true }
                state.deliveries[id] = known
                return .status("204 No Content")
            }
            state.deliveries[id] = Delivery(
                type: read.type, run: read.data.run?.id, thread: read.data.item?.thread, body: body)
            switch Int.random(in: 0..<100, using: &state.random) {
            case 0: return .status("503 Service Unavailable")
            case 1: return .hangUp
            default: return .status("204 No Content")
            }
        }
    }

    private static func parts(of request: ArraySlice<UInt8>) -> (id: String, body: [UInt8])? {
        let text = String(decoding: request, as: UTF8.self)
        guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        let name = "webhook-id:"
        for line in text[..<end.lowerBound].split(separator: "\r\n")
        where line.lowercased().hasPrefix(name) {
            let id = line.dropFirst(name.count).drop { $0 == " " }
            return (String(id), Array(text.utf8[end.upperBound...]))
        }
        return nil
    }
}
