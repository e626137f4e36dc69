import Tracking

/// The tool calls of a reply, merged from deltas by their index.
///
/// Servers differ: some leave the index out, repeat the id, send the arguments whole, or as an object.
struct ChatCalls {
    /// The most calls of one reply.
    static let limit = 1000

    private struct Call {
        var id = ""
        var name = ""
        var arguments = ""
    }

    private var order: [Int] = []
    private var calls: [Int: Call] = [:]

    /// No call was begun.
    var isEmpty: Bool { order.isEmpty }

    /// A delta has the wrong type, or there are too many calls.
    struct Fault: Error, Hashable {
        let text: String
    }

    /// Merges one delta; returns the name of a call that it begins, and how many bytes of arguments it has.
    mutating func merge(_ delta: JSON) throws(Fault) -> (begun: String?, size: Int) {
        guard case .members = delta else { throw Fault(text: "a tool call is not an object") }
        let id = delta["id"]?.text ?? ""
        let index = delta["index"]?.int ?? self.index(ofCall: id)
        if calls[index] == nil {
            guard order.count < Self.limit else {
                throw Fault(text: "the reply has more than \(Self.limit) tool calls")
            }
            order.append(index)
            calls[index] = Call()
        }
        if !id.isEmpty { calls[index]?.id = id }
        var begun: String?
        if let name = delta["function"]?["name"]?.text, !name.isEmpty, calls[index]?.name.isEmpty == true {
            calls[index]?.name = name
            begun = name
        }
        var more = ""
        switch delta["function"]?["arguments"] {
        case nil, .null: break
        case .string(let text): more = text
        case .members(let members)?:
            more = String(decoding: JSON.members(members).bytes, as: UTF8.self)
        default: throw Fault(text: "the arguments of a tool call are not a text")
        }
        calls[index]?.arguments += more
        return (begun, more.utf8.count)
    }

    /// A delta without an index belongs to the call of its id, to a new one where the id is new, else to the last.
    private func index(ofCall id: String) -> Int {
        if !id.isEmpty {
            if let known = calls.first(where: { $0.value.id == id })?.key { return known }
            // A server may have sent the largest index there is: no call comes after that one.
            let (next, isBeyond) = (order.max() ?? -1).addingReportingOverflow(1)
            return isBeyond ? order.last ?? 0 : next
        }
        return order.last ?? 0
    }

    /// The complete calls in order, and the name of one whose arguments are no JSON object.
    func finished() -> (calls: [ToolCall], broken: String?) {
        var broken: String?
        let finished: [ToolCall] = order.sorted().compactMap { index in
            guard let call = calls[index] else { return nil }
            let arguments =
                call.arguments.allSatisfy(\.isWhitespace)
                ? JSON.members([]) : JSON(parsing: Array(call.arguments.utf8)[...])
            guard let arguments, case .members = arguments, !call.name.isEmpty else {
                broken = CleanText.line(call.name.isEmpty ? "?" : call.name, limit: 64)
                return nil
            }
            // The result is returned by the id: one that the server left out is made from the place.
            return ToolCall(
                id: call.id.isEmpty ? "call_\(index)" : call.id, name: call.name, arguments: arguments)
        }
        return (finished, broken)
    }
}
