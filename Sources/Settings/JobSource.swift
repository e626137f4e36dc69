import Cron
package import Ledger
import Timeline
import Tracking

/// A job as a configuration file has it: a map `jobs:` with it alone, what is by default left out.
///
/// ``ConfigurationReader/readJob(_:)`` reads the same job from it. Whatever the table of fields holds is written.
package struct JobSource {
    /// The YAML, which ends with a line end.
    package private(set) var text: String

    /// The text of `spec`.
    ///
    /// - Parameters:
    ///   - spec: a job.
    ///   - reader: finds out whether a file may hold the phrase that its schedule was read from.
    package init(_ spec: JobSpec, by reader: ConfigurationReader) {
        if spec.schedule.phrase != nil {
            text = Self.text(spec, reader.fields, Self.words(spec.schedule))
            let again = try? reader.readJob(SourceText(name: "job", text: text))
            if again?.schedule.isWritten(as: spec.schedule) == true { return }
        }
        text = Self.text(spec, reader.fields, Self.schedule(spec.schedule))
    }

    private static func text(_ spec: JobSpec, _ fields: JobFields, _ schedule: String) -> String {
        var lines = ["jobs:", "  \(YAMLText.key(spec.name)):"]
        for key in fields.keys {
            if key == "schedule" {
                lines.append("    schedule: \(schedule)")
                continue
            }
            let rows = fields.rows.filter { $0.key == key || $0.key.hasPrefix(key + ".") }
            let members = rows.compactMap { row -> (name: String, text: String)? in
                let isWritten = row.key == "retry.attempts" && spec.isTriedOnce
                guard let value = row.get(spec), isWritten || value != row.standard else { return nil }
                let name = row.key == key ? "" : String(row.key.dropFirst(key.count + 1))
                return (name, written(value, row.form, spec, indent: name.isEmpty ? 6 : 8))
            }
            guard let first = members.first else { continue }
            let isAlone = first.name.isEmpty || members.count == 1 && first.name == JobFields.shorthands[key]
            let value = isAlone ? first.text : map(members)
            lines.append("    \(key):" + (value.hasPrefix("\n") ? value : " " + value))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The members of a map, one a line where one of them has several.
    private static func map(_ members: [(name: String, text: String)]) -> String {
        guard members.contains(where: { $0.text.contains("\n") }) else {
            return "{ " + members.map { "\($0.name): \($0.text)" }.joined(separator: ", ") + " }"
        }
        return members.map { "\n      \($0.name):" + ($0.text.hasPrefix("\n") ? "" : " ") + $0.text }.joined()
    }

    /// The value of a field, whose further lines are indented by `indent`; one of several lines begins with a line end, or
    /// with the mark of a block.
    private static func written(_ value: JSON, _ form: JobForm, _ spec: JobSpec, indent: Int) -> String {
        let blank = "\n" + String(repeating: " ", count: indent)
        switch (form, value) {
        case (.input, _):
            switch spec.rules.input {
            case .text(let text) where YAMLText.isBlock(text):
                return "\n      text: " + YAMLText.value(text, indent: 8)
            case .text(let text): return "{ text: \(YAMLText.scalar(text)) }"
            case .file(let path): return "{ file: \(YAMLText.scalar(path)) }"
            case nil: return "none"
            }
        case (.choices, .array([])): return "none"
        case (_, .array(let elements)):
            let words = elements.compactMap(\.text)
            guard words.contains(where: YAMLText.isBlock) else {
                return "[" + words.map(YAMLText.scalar).joined(separator: ", ") + "]"
            }
            return words.map { "\(blank)- " + YAMLText.value($0, indent: indent + 2) }.joined()
        case (_, .members(let members)):
            return members.map { member in
                let key = YAMLText.key(member.name)
                let file = member.value["file"]?.text.map { "{ file: \(YAMLText.scalar($0)) }" }
                return "\(blank)\(key)\(key.hasSuffix("\n") ? blank.dropFirst() : ""): "
                    + (file ?? YAMLText.value(member.value.text ?? "", indent: indent + 2))
            }.joined()
        case (_, .string(let text)): return YAMLText.value(text, indent: indent)
        default: return form.words(value)
        }
    }
}

// When it runs.
extension JobSource {
    private static func map(_ members: [(String, String?)]) -> String {
        let written = members.compactMap { name, text in text.map { "\(name): \(YAMLText.scalar($0))" } }
        return "{ " + written.joined(separator: ", ") + " }"
    }

    /// As the phrase that it was read from.
    private static func words(_ spec: ScheduleSpec) -> String {
        map([("words", spec.phrase), ("zone", spec.zone), ("gap", spec.gap), ("fold", spec.fold)])
    }

    private static func schedule(_ spec: ScheduleSpec) -> String {
        let rules = [("gap", spec.gap), ("fold", spec.fold)]
        switch spec.kind {
        case .manual: return "manual"
        case .startup: return spec.text.isEmpty ? "startup" : "{ startup: true, delay: \(spec.text) }"
        case .several: return "[" + (spec.members ?? []).map(schedule).joined(separator: ", ") + "]"
        case .cron: return map([("cron", spec.text), ("zone", spec.zone)] + rules)
        case .every: return map([("every", spec.text), ("from", spec.anchor?.iso8601)])
        case .after: return map([("after", spec.text)])
        case .at: return map([("at", spec.text), ("zone", spec.zone)])
        case .calendar:
            let parts = spec.text.split(separator: " ").map(String.init)
            return map(
                [
                    ("every", parts.first), ("weekday", parts.dropFirst().first { $0.count == 3 }),
                    ("time", parts.first { $0.contains(":") }),
                    ("from", parts.last { $0.contains("-") }), ("zone", spec.zone),
                ] + rules)
        }
    }
}

/// Texts as YAML that every reader takes for the same texts, never for numbers, truths or times.
///
/// The one exception is a mark of the encoding (U+FEFF) at the beginning of a text, which the parser drops.
enum YAMLText {
    /// On one line: as it is where that is safe, else in double quotes.
    static func scalar(_ text: String) -> String { isPlain(text) || isDuration(text) ? text : quoted(text) }

    /// A key of a map; one too long for YAML's simple form is marked as a key.
    static func key(_ text: String) -> String {
        let written = scalar(text)
        return written.utf8.count > longestSimpleKey ? "? \(written)\n" : written
    }

    /// The value behind a key or a dash: several lines as a block that is indented by `indent`, where YAML can hold it.
    static func value(_ text: String, indent: Int) -> String {
        guard isBlock(text) else { return scalar(text) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let blank = String(repeating: " ", count: indent)
        var mark = "|-"
        var written = lines[...]
        if text.hasSuffix("\n") {
            written.removeLast()
            mark = text.hasSuffix("\n\n") ? "|+" : "|"
        }
        return mark + written.map { $0.isEmpty ? "\n" : "\n\(blank)\($0)" }.joined()
    }

    /// Whether the text is better read as several lines.
    static func isBlock(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !"\n \t".unicodeScalars.contains(first),
            text.unicodeScalars.contains("\n")
        else { return false }
        return text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !needsEscape($0) }
    }

    /// YAML's limit is 1024 characters.
    private static let longestSimpleKey = 1000

    /// Words that some readers take for a truth or for nothing.
    private static let words: Set<String> = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]

    private static func isPlain(_ text: String) -> Bool {
        let rest = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard text.utf8.count - rest.count <= 2, let first = rest.first,
            isLetter(first) || first == UInt8(ascii: "/"),
            !words.contains(text.lowercased())
        else { return false }
        return rest.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_./@%+=-".utf8.contains($0) }
    }

    /// `90s`, `1h30m`: no reader takes that for a number.
    private static func isDuration(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x30...0x39).contains(first), let last = text.utf8.last else {
            return false
        }
        return isLetter(last)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "wdhmsu".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    private static func quoted(_ text: String) -> String {
        var written = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": written += "\\\""
            case "\\": written += "\\\\"
            case "\n": written += "\\n"
            case "\t": written += "\\t"
            case _ where needsEscape(scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                written += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }

    /// What YAML does not let stand in a file, or takes for a line end or a mark of the encoding.
    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: true
        default: false
        }
    }
}
