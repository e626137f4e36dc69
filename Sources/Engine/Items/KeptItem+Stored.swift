import Delivery
import Grouping
import Timeline
import Tracking

extension KeptItem {
    /// What the row of an item holds, as JSON; read by `Codable`, and written with the same bytes without it.
    struct Stored: Codable {
        var decider: Decider
        var shown: ItemSnapshot?
        var only: [String]?
        var views: [String: View]?
        var event: Int64?
        var judged: Int64?
        var held: [String: Moment]?
        var informed: Set<String>?
        var isListed: Bool?
        var owed: [String: RingReason]?
        var shownOn: Set<String>?
        var labels: [String: String]?
        var alertAfter: Int?
        var heldBy: [String: DispatchReason]?
        var waiting: [String: Moment]?
        var acknowledgement: Acknowledgement?

        /// Writes it.
        ///
        /// - Throws: `EncodingError` for a number that is not one.
        func write(to writer: inout JSONWriter) throws {
            try writer.object { writer in
                try writer.member("decider", decider.write)
                if let shown { try writer.member("shown", shown.write) }
                writer.member("only", only)
                try writer.member("views", encoding: views)
                writer.member("event", event)
                writer.member("judged", judged)
                writer.member("held", held)
                writer.member("informed", informed)
                writer.member("isListed", isListed)
                writer.member("owed", owed?.mapValues(\.rawValue))
                writer.member("shownOn", shownOn)
                writer.member("labels", labels)
                writer.member("alertAfter", alertAfter)
                writer.member("heldBy", heldBy?.mapValues(\.rawValue))
                writer.member("waiting", waiting)
                try writer.member("acknowledgement", encoding: acknowledgement)
            }
        }
    }
}

extension KeptItem.Decider {
    /// Writes the members of its object.
    fileprivate func write(to writer: inout JSONWriter) throws {
        switch self {
        case .thread(let item): writer.member("thread") { $0.member("_0", item) }
        case .job(let item): writer.member("job") { $0.member("_0", item) }
        case .storm(let item): try writer.member("storm") { try $0.member("_0", encoding: item) }
        case .question(let item): try writer.member("question") { try $0.member("_0", encoding: item) }
        }
    }
}
