/// Marks where the output of a wrapped command begins and ends, for terminals that keep commands apart.
///
/// - Source: UAPI.15, "OSC 3008: Hierarchical Context Signalling".
package struct CommandContext: Hashable, Sendable {
    /// How a command ended.
    package enum End: Hashable, Sendable {
        /// By itself, with this code.
        case code(Int)
        /// By a signal.
        case signal(Int)
        /// It did not start, or nobody knows.
        case unknown
    }

    private let id: String

    /// The context with this id, of which at most 64 characters count.
    package init(id: String) {
        self.id = String(
            id.unicodeScalars.filter { (0x21..<0x7F).contains($0.value) && $0 != ";" }.prefix(64).map(
                Character.init))
    }

    /// The bytes before the first output of the command.
    package func begin(_ command: [String], folder: String) -> [UInt8] {
        let line = Self.escaped(command.joined(separator: " "), limit: 255)
        return bytes("start=\(id);type=command;cwd=\(Self.escaped(folder, limit: 255));cmdline=\(line)")
    }

    /// The bytes behind the last output of the command.
    package func finish(_ end: End) -> [UInt8] {
        switch end {
        case .code(0): bytes("end=\(id);exit=success")
        case .code(let code): bytes("end=\(id);exit=failure;status=\(code)")
        case .signal(let number):
            bytes("end=\(id);exit=crash" + (Self.signals[number].map { ";signal=SIG\($0)" } ?? ""))
        case .unknown: bytes("end=\(id)")
        }
    }

    private func bytes(_ text: String) -> [UInt8] { Array("\u{1B}]3008;\(text)\u{1B}\\".utf8) }

    /// A value: what can't stand in one is written as `\x3b`.
    private static func escaped(_ text: String, limit: Int) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8.prefix(limit) {
            if (0x20..<0x7F).contains(byte), byte != UInt8(ascii: ";"), byte != UInt8(ascii: "\\") {
                bytes.append(byte)
            } else {
                bytes += [
                    UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)],
                ]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let signals = [
        1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1",
        11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM",
    ]
}
