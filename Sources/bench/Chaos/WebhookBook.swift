import CronBench
import Synchronization
import Tracking

/// Every webhook that arrived, kept by a service that is somewhat unreliable.
///
/// Of a hundred it sees for the first time it refuses one, and hangs up on another after it has read it. While it has
/// an outage it refuses all of them.
final class WebhookBook: Sendable {
    /// What arrived under one webhook-id.
    struct Delivery: Sendable {
        var type: String
        /// The id of the run it is about.
        var run: String?
        /// The thread it is about.
        var thread: String?
        /// How often it arrived.
        var times = 1
        /// Whether it was answered with success at least once.
        var isAccepted = false
        /// Whether it came again with other bytes.
        var isAltered = false
        fileprivate var body: [UInt8]
    }

    /// How the service fails for a while.
    enum Outage: CaseIterable, Sendable {
        case refuses, hangsUp
    }

    private struct State {
        var deliveries: [String: Delivery] = [:]
        var outage: Outage?
        var refused = 0
        var unreadable = 0
        var random: SeededNumbers

        /// How a delivery is answered.
        mutating func reply(isFirst: Bool) -> BareReceiver.Reply {
            if let outage {
                refused += 1
                return outage == .refuses ? .status("503 Service Unavailable") : .hangUp
            }
            switch isFirst ? Int.random(in: 0..<100, using: &random) : 100 {
            case 0: return .status("503 Service Unavailable")
            case 1: return .hangUp
            default: return .status("204 No Content")
            }
        }
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

    /// How many requests were not webhooks.
    var unreadable: Int { state.withLock(\.unreadable) }

    /// How many deliveries an outage refused.
    var refused: Int { state.withLock(\.refused) }

    /// Begins an outage, or ends it with nil.
    func set(_ outage: Outage?) { state.withLock { $0.outage = outage } }

    /// Receives a request; see ``BareReceiver``.
    func take(_ request: ArraySlice<UInt8>) -> BareReceiver.Reply {
        guard let (id, body) = Self.parts(of: request),
            let read = try? JSON.decode(Body.self, from: body)
        else {
            state.withLock { $0.unreadable += 1 }
            return .status("400 Bad Request")
        }
        return state.withLock { state in
            var delivery =
                state.deliveries[id]
                ?? Delivery(
                    type: read.type, run: read.data.run?.id, thread: read.data.item?.thread, body: body)
            let isFirst = state.deliveries[id] == nil
            if !isFirst { delivery.times += 1 }
            if delivery.body != body { delivery.isAltered = true }
            let reply = state.reply(isFirst: isFirst)
            if case .status("204 No Content") = reply { delivery.isAccepted = true }
            state.deliveries[id] = delivery
            return reply
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
