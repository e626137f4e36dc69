import Synchronization
package import Timeline
package import Tracking

/// The live states that were written last, each as the event that every reader of the stream gets.
///
/// Fifty watchers of a thousand runs get the same bytes: each state is written as JSON once, not once for each of them.
package final class LiveTexts: Sendable {
    private struct Entry {
        var order: LiveOrder
        var madeAt: Moment
        var bytes: [UInt8]
    }

    private let texts = Mutex<[String: Entry]>([:])
    /// So many are kept at most.
    private static let limit = 4096
    /// The seconds that are left, and whether it is old, are of the moment at which it was written.
    private static let fresh = Duration.milliseconds(500)

    /// Nothing was written yet.
    package init() {}

    /// The event of a state as it is to be seen at `now`.
    ///
    /// - Throws: ``APIError`` as ``WireCoding/encode(_:)`` does.
    package func event(of state: LiveState, at now: Moment) throws(APIError) -> [UInt8] {
        let order = state.order
        let known = texts.withLock { $0[state.task.id] }
        if let known, known.order == order, !state.state.isEnded, now >= known.madeAt,
            now - known.madeAt < Self.fresh
        {
            return known.bytes
        }
        let data = try WireCoding.text(WireLive(state, at: now))
        let bytes = ServerSentEvent(name: "live", data: data).bytes
        texts.withLock { texts in
            if state.state.isEnded {
                texts[state.task.id] = nil
                return
            }
            if texts.count >= Self.limit { texts.removeAll(keepingCapacity: true) }
            texts[state.task.id] = Entry(order: order, madeAt: now, bytes: bytes)
        }
        return bytes
    }
}
