import Tracking

/// Reads the output of any program as text, line by line.
///
/// The last line may be Belfry's own object, `{"notify": true, "text": "...", "title": "...", "priority": "low"}`: its text is
/// the reply's last paragraph, and `"notify": false` shows that there is nothing to say. The exit code 75 asks to try again
/// later.
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
        let object = held.flatMap { Self.object($0) }
        if let last = object == nil ? held : object.flatMap({ Self.words($0) }) {
            steps.append(add(last, blanks: 0))
        }
        held = nil
        guard end == .code(0) else { return steps }
        let parts: [Turn.Part] = text.isEmpty ? [] : [.text(text)]
        let title = object?["title"]?.text.map { CleanText.line($0, limit: Self.titleLimit) }
        let finish = Finish(
            .end, turn: Turn(.assistant, parts), title: title?.isEmpty == true ? nil : title,
            priority: object?["priority"]?.text.flatMap { Self.priorities[$0.lowercased()] })
        return steps + [.finish(finish)]
    }

    /// Adds a line, with the line ends before it.
    private mutating func add(_ line: String, blanks: Int) -> LineStep {
        let piece = (text.isEmpty ? "" : "\n") + line + String(repeating: "\n", count: min(blanks, 2))
        text += piece
        return .event(.text(piece))
    }

    /// The longest title, in characters.
    private static let titleLimit = 200
    /// How much a reply disturbs, by the words that are in use for it.
    private static let priorities = [
        "low": "low", "min": "low", "normal": "normal", "default": "normal", "high": "critical",
        "urgent": "critical", "critical": "critical",
    ]

    /// Belfry's own object; nil where a last line is another text.
    private static func object(_ line: String) -> JSON? {
        guard let json = JSON(parsing: Array(line.utf8)[...], repairing: true), case .members = json,
            json["notify"] != nil || json["text"] != nil
        else { return nil }
        return json
    }

    /// What the object says; nil where there is nothing to say.
    private static func words(_ object: JSON) -> String? {
        object["notify"] == .bool(false) ? nil : object["text"]?.text
    }
}
