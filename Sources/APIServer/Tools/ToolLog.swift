import API
import Glibc
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

    /// Records a call; a disk that is full loses the record, and not the call.
    func append(_ entry: Entry) {
        let folder = SmallFile.parent(of: path)
        try? PrivateFolder.make(folder, within: SmallFile.parent(of: folder))
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
        guard let file = try? Descriptor.open(path, flags, mode: 0o600) else { return }
        let line = entry.line
        guard Int(lseek(file.raw, 0, SEEK_END)) + line.count <= Self.limit else { return }
        try? file.writeAll(line[...])
    }

    /// The calls, oldest first; none where none were recorded.
    func calls() -> [WireToolCall] {
        guard let bytes = try? SmallFile.read(path, limit: Self.limit) else { return [] }
        return bytes.split(separator: 0x0A).compactMap { try? WireCoding.decode(WireToolCall.self, from: $0) }
    }

    /// Removes the log; nothing happens where there is none.
    package func remove() { unsafe unlink(path) }
}
