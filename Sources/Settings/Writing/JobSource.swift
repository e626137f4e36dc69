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
