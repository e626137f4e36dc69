import Tracking

/// Reads the output of any program as text, line by line.
///
/// The last line may be Belfry's own object, `{"notify": true, "text": "..."}`: its text is the reply's last paragraph,
/// and `"notify": false` shows that there is nothing to say. The exit code 75 asks to try again later.
struct TextLines: LineReader {
    private var text = ""
    /// The last line that is not blank: whether it is the reply or the object shows at the end.
    private var held: String?
    private var blanks = 0

    mutating func read(_ line: ArraySlice<UInt8>) -> [LineStep] {
        guard line.contains(where: { $0 > 0x20 }) else {
            if held != nil || !text.isEmpty { blanks += 1 }
            return []
        }
        let before = held
        held = String(decoding: line, as: UTF8.self)
        defer { blanks = 0 }
        return before.map { [add($0, blanks: blanks)] } ?? []
    }

    mutating func end(_ end: ProgramEnd) -> [LineStep] {
        var steps: [LineStep] = []
        if let held, let last = Self.words(held) { steps.append(add(last, blanks: 0)) }
        held = nil
        guard end == .code(0) else { return steps }
        let parts: [Turn.Part] = text.isEmpty ? [] : [.text(text)]
        return steps + [.finish(Finish(.end, turn: Turn(.assistant, parts)))]
    }

    /// Adds a line, with the line ends before it.
    private mutating func add(_ line: String, blanks: Int) -> LineStep {
        let piece = (text.isEmpty ? "" : "\n") + line + String(repeating: "\n", count: min(blanks, 2))
        text += piece
        return .event(.text(piece))
    }

    /// What a last line says: nil where there is nothing to say.
    private static func words(_ line: String) -> String? {
        guard let json = JSON(parsing: Array(line.utf8)[...], repairing: true), case .members = json,
            json["notify"] != nil || json["text"] != nil
        else { return line }
        return json["notify"] == .bool(false) ? nil : json["text"]?.text
    }
}
