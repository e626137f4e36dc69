/// Reads the progress that a job sends to the terminal it believes to have: OSC 9;4 and OSC 7501.
///
/// Everything in a sequence is untrusted: one that is not whole, too long or of another form is ignored.
/// - Source: ConEmu, OSC 9;4; Program Status Protocol, revision 0.4, OSC 7501.
public struct StatusSequences: Sendable {
    /// The most bytes of a sequence.
    public static let limit = 4096
    /// The most reports that one piece of output leads to; the newest count.
    static let most = 50

    private enum Place: Hashable {
        case outside, escape, inside, end
    }

    private var place = Place.outside
    private var text: [UInt8] = []

    /// A reader that has seen nothing.
    public init() {}

    /// Takes the next bytes of the output and gives what the sequences in them report, in order.
    public mutating func receive(_ piece: ArraySlice<UInt8>) -> [ProgressReport] {
        var reports: [ProgressReport] = []
        var rest = piece
        while true {
            if place == .outside {
                guard let start = rest.firstIndex(of: 0x1B) else { break }
                rest = rest[(start + 1)...]
                place = .escape
            }
            guard let byte = rest.popFirst() else { break }
            if let report = take(byte) { reports.append(report) }
        }
        return reports.suffix(Self.most)
    }

    private mutating func take(_ byte: UInt8) -> ProgressReport? {
        switch place {
        case .outside: break
        case .escape:
            text.removeAll(keepingCapacity: true)
            place = byte == UInt8(ascii: "]") ? .inside : byte == 0x1B ? .escape : .outside
        case .inside where byte == 0x07: return finish()
        case .inside where byte == 0x1B: place = .end
        // A sequence holds nothing but text.
        case .inside where byte < 0x20 || text.count >= Self.limit: place = .outside
        case .inside: text.append(byte)
        case .end:
            if byte == UInt8(ascii: "\\") { return finish() }
            place = byte == UInt8(ascii: "]") ? .inside : .outside
            text.removeAll(keepingCapacity: true)
        }
        return nil
    }

    private mutating func finish() -> ProgressReport? {
        place = .outside
        defer { text.removeAll(keepingCapacity: true) }
        let parts = text.split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        switch String(decoding: parts[0], as: UTF8.self) {
        case "9": return Self.taskbar(parts[1])
        case "7501": return Self.status(String(decoding: parts[1], as: UTF8.self))
        default: return nil
        }
    }

    /// `4;1;42`, a state and a percentage; a removal means that nothing is known, and is not 0 %.
    private static func taskbar(_ text: ArraySlice<UInt8>) -> ProgressReport? {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0] == [UInt8(ascii: "4")] else { return nil }
        let percent = parts.count == 3 ? ReportNumber.percent(parts[2]) : nil
        switch String(decoding: parts[1], as: UTF8.self) {
        case "1", "4": return percent
        // An error without a number, and one whose progress is not known, are signs of life.
        case "2": return percent ?? ProgressReport()
        case "3": return ProgressReport()
        default: return nil
        }
    }

    /// Reads `state=working:progress=42:id=build/linux:msg=...`.
    private static func status(_ text: String) -> ProgressReport? {
        var values: [Substring: String] = [:]
        for pair in text.split(separator: ":", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, (1...16).contains(parts[0].utf8.count),
                parts[0].utf8.allSatisfy({ (0x61...0x7A).contains($0) }), isValue(parts[1])
            else { return nil }
            values[parts[0]] = String(parts[1])
        }
        guard let state = values["state"] else { return nil }
        let message = words(values["msg"], limit: 2048) ?? words(values["title"], limit: 192)
        let percent = values["progress"].flatMap { ReportNumber.percent(Array($0.utf8)[...])?.fraction }
        if let id = values["id"] { return part(id, state, percent, message) }
        return whole(state, kind: values["kind"], percent, message)
    }

    private static func whole(
        _ state: String, kind: String?, _ percent: Double?, _ message: String?
    ) -> ProgressReport? {
        switch state {
        case "working": ProgressReport(fraction: percent, message: message, word: .working)
        case "blocked":
            ProgressReport(
                fraction: percent, message: message,
                word: .blocked(kind.flatMap { BlockedKind(rawValue: $0) } ?? .question))
        case "done": ProgressReport(fraction: 1, message: message, word: .working)
        case "idle", "error": ProgressReport(message: message, word: .working)
        default: nil
        }
    }

    /// What it says of a part; of a path of at most eight names.
    private static func part(
        _ id: String, _ state: String, _ percent: Double?, _ message: String?
    ) -> ProgressReport? {
        let names = id.split(separator: "/", omittingEmptySubsequences: false)
        guard id.utf8.count <= 128, names.count <= 8, names.allSatisfy({ (1...32).contains($0.utf8.count) }),
            let word = ReportedPart.Word(state == "idle" ? "working" : state)
        else { return nil }
        var report = ProgressReport(message: message)
        report.part = ReportedPart(path: id, progress: percent, word: word)
        return report
    }

    /// Letters, digits and `_.,+/=-`.
    private static func isValue(_ text: Substring) -> Bool {
        text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "_.,+/=-".utf8.contains($0)
        }
    }

    /// One line of text that is written in base64.
    private static func words(_ value: String?, limit: Int) -> String? {
        guard let bytes = value.flatMap(Base64.decode), (1...limit).contains(bytes.count) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
