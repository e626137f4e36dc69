import API
import Host
import Prompting
import Timeline
import Tracking

/// The calls of tools that an attempt made, beside its output: a line of JSON for each.
package struct ToolLog: Sendable {
    /// One call.
    struct Entry {
        private let json: JSON

        /// How many bytes are kept of the arguments, and as many of the result.
        static let limit = 4096

        init(_ call: ToolCall, _ answer: ToolAnswer, attempt: Int, at start: Moment, elapsed: Duration) {
            let arguments = String(decoding: call.arguments.bytes, as: UTF8.self)
            json = .object([
                "at": .string(start.iso8601), "attempt": .int(attempt),
                "tool": .string(CleanText.line(call.name, limit: 60)),
                "arguments": .string(arguments.cut(toBytes: Self.limit)),
                "result": .string(answer.text.cut(toBytes: Self.limit)),
                "isError": answer.isError ? .bool(true) : nil, "elapsedMs": .int(elapsed.milliseconds),
            ])
        }

        fileprivate var line: [UInt8] { json.bytes + [0x0A] }
    }

    /// The most bytes of one log: what comes then is not recorded.
    private static let limit = 1 << 20
    private let path: String

    /// The log of the attempt whose output is at this path.
    package init(besides output: String) { path = output + ".calls" }

    /// Records a call.
    func append(_ entry: Entry) throws(HostError) {
        let folder = SmallFile.parent(of: path)
        try PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        try SmallFile.append(entry.line, to: path, limit: Self.limit)
    }

    /// The calls, oldest first; none where none were recorded.
    func calls() -> [WireToolCall] {
        guard let bytes = try? SmallFile.read(path, limit: Self.limit) else { return [] }
        return bytes.split(separator: 0x0A).compactMap { try? WireCoding.decode(WireToolCall.self, from: $0) }
    }

    /// Removes the log; nothing happens where there is none.
    package func remove() { SmallFile.remove(path) }
}
