import Tracking

/// Reads the output of any program as text, line by line.
///
/// The last line may be Belfry's own object, `{"notify": true, "text": "...", "title": "...", "priority": "low"}`: its text is
/// the reply's last paragraph, and with `"notify": false` nobody is notified of the reply. The exit code 75 asks to try again
/// later.
struct TextLines: LineReader {
    private var text = ""
    /// A line that looks like the object, and the blank ones before it: whether it is the last one shows at the end.
    private var held: (line: String, blanks: Int)?
    private var blanks = 0

    mutating func read(_ line: ArraySlice<UInt8>) -> [LineStep] {
        guard let first = line.first(where: { $0 > 0x20 }) else {
            if held != nil || !text.isEmpty { blanks += 1 }
            return []
        }
        var steps = held.map { [add($0.line, after: $0.blanks)] } ?? []
        held = nil
        let words = String(decoding: line, as: UTF8.self)
        if first == UInt8(ascii: "{") {
            held = (words, blanks)
        } else {
            steps.append(add(words, after: blanks))
        }
        blanks = 0
        return steps
    }

    mutating func end(_ end: BotProgramEnd) -> [LineStep] {
        var steps: [LineStep] = []
        let object = held.flatMap { Self.object($0.line) }
        if let held, let last = object.map({ $0["text"]?.text }) ?? held.line {
            steps.append(add(last, after: held.blanks))
        }
        held = nil
        guard end == .code(0) else { return steps }
        let parts: [SpokenTurn.Part] = text.isEmpty ? [] : [.text(text)]
        let title = object?["title"]?.text.map { CleanText.line($0, limit: Self.titleLimit) }
        var finish = Finish(
            .end, turn: SpokenTurn(.assistant, parts), title: title?.isEmpty == true ? nil : title,
            priority: object?["priority"]?.text.flatMap { Self.priorities[$0.lowercased()] })
        finish.isQuiet = object?["notify"] == .bool(false)
        return steps + [.finish(finish)]
    }

    /// Adds a line, with the line ends before it.
    private mutating func add(_ line: String, after blanks: Int) -> LineStep {
        let ends = text.isEmpty ? "" : String(repeating: "\n", count: 1 + min(blanks, 2))
        let piece = ends + line
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
}
