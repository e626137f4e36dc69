import Delivery
import Timeline
package import Tracking

/// The type of a field with its limits; it reads texts of files and options, and JSON of drafts.
package enum JobForm: Hashable, Sendable {
    case flag
    case number(ClosedRange<Int>)
    /// At most 100 years, and longer than nothing unless it may be zero.
    case duration(orZero: Bool = false)
    /// What `every` and `after` count: a second or more.
    case interval
    /// At most so many bytes.
    case text(longest: Int = .max)
    case choice([String])
    /// Any of these words, or `none` of them.
    case choices([String])
    case botName
    /// The name of an icon, or an absolute path.
    case icon
    /// An absolute path.
    case path
    /// A file mode mask, written in octal.
    case mask
    /// A number of bytes, such as `512M`.
    case size(least: Int)
    /// A duration in whole seconds.
    case seconds
    /// A program and its arguments.
    case words
    /// One word or several, with commas between them where they stand in a text.
    case list
    /// Named texts, such as variables of the environment; `{ file: PATH }` in place of a text where that may be.
    case variables(orFiles: Bool = false)
    /// What is read on standard input.
    case input

    package var isDuration: Bool { if case .duration = self { true } else { false } }

    /// Reads a text that is not empty.
    package func read(_ text: String) throws(JobFault) -> JSON {
        guard !text.isEmpty else { throw JobFault("can't be empty") }
        try Self.checkBytes(text)
        switch self {
        case .flag: return .bool(try Self.choose(text, of: ["true", "false"]) == "true")
        case .choice(let words): return .string(try Self.choose(text, of: words))
        case .choices(let words):
            return text == "none"
                ? .array([]) : try Self.chooseSome(text.split(separator: ",").map(String.init), of: words)
        case .number(let limits):
            guard let number = Int(text), limits.contains(number) else {
                throw JobFault(
                    "\"\(text)\" is not a whole number from \(limits.lowerBound) to \(limits.upperBound)")
            }
            return .int(number)
        case .duration: return try check(try Self.duration(text))
        case .interval:
            let interval = try Self.duration(text)
            guard interval >= .seconds(1) else { throw JobFault("an interval is at least 1s") }
            return .string(interval.text)
        case .seconds:
            let time = try Self.duration(text)
            _ = try check(time)
            // The kernel counts whole seconds, and none at all would end it at once.
            return .int(Int(max(1, time / .seconds(1))))
        case .mask:
            guard text.utf8.count <= 4, let mask = Int(text, radix: 8), (0...0o777).contains(mask) else {
                throw JobFault("\"\(text)\" is not a file mode mask", hint: "write one in octal, as 027")
            }
            return .int(mask)
        case .size(let least):
            let bytes = try Self.bytes(text)
            guard bytes >= least else { throw JobFault("must be at least \(least)") }
            return .int(bytes)
        case .text, .botName, .icon, .path:
            try checkText(text)
            return .string(text)
        case .list:
            let words = text.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }
            guard !words.isEmpty, !words.contains("") else { throw JobFault("can't be empty") }
            return .array(words.map { .string($0) })
        case .words, .variables, .input: throw .wrongKind
        }
    }

    /// What may stand in a text of this form.
    private func checkText(_ text: String) throws(JobFault) {
        switch self {
        case .text(let longest) where text.utf8.count > longest:
            throw JobFault("has more than \(longest) bytes")
        case .botName: if let fault = JobName.fault(in: text) { throw JobFault("\"\(text)\": \(fault)") }
        case .icon:
            guard let fault = IconName.fault(in: text) else { return }
            throw JobFault(
                "\"\(text)\" \(fault)", hint: "write a name such as drive-harddisk, or a path from /")
        case .path where !text.hasPrefix("/"):
            throw JobFault(
                "must be an absolute path",
                hint: text.hasPrefix("~") ? "write it out, as /home/NAME\(text.dropFirst())" : nil)
        default: return
        }
    }

    /// Reads the JSON of a draft.
    package func read(json value: JSON) throws(JobFault) -> JSON {
        switch (self, value) {
        case (.flag, .bool): return value
        case (.number, .number), (.size, .number): return try read("\(try Self.whole(value))")
        case (.seconds, .number): return try read("\(try Self.whole(value))s")
        case (.duration, .number): return try check(.milliseconds(try Self.whole(value)))
        case (.text, .string(let text)), (.choice, .string(let text)), (.botName, .string(let text)),
            (.path, .string(let text)), (.mask, .string(let text)), (.size, .string(let text)),
            (.seconds, .string(let text)), (.icon, .string(let text)):
            return try read(text)
        case (.choices, .string(let text)), (.list, .string(let text)): return try read(text)
        case (.list, .number(let number)): return try read(number)
        case (.list, .array(let words)): return try Self.list(words)
        case (.choices(let words), .array(let chosen)):
            guard chosen.allSatisfy({ $0.text != nil }) else { throw .wrongKind }
            return try Self.chooseSome(chosen.compactMap(\.text), of: words)
        case (.input, .members(let members)):
            try Self.checkInput(members)
            return value
        case (.words, .array(let words)):
            guard let program = words.first?.text, words.allSatisfy({ $0.text != nil }) else {
                throw words.isEmpty ? JobFault("a command has at least one word") : .wrongKind
            }
            _ = try JobForm.text().read(program)
            for word in words { try Self.checkBytes(word.text ?? "") }
            return value
        case (.variables(let orFiles), .members(let members)):
            for member in members where member.value != .null {
                if orFiles { try Self.checkVariable(member.name) }
                if orFiles, case .members(let file) = member.value, file.count == 1,
                    let path = member.value["file"]?.text
                {
                    _ = try JobForm.path.read(path)
                    continue
                }
                guard let text = member.value.text else {
                    var fault = JobFault.wrongKind
                    fault.key = member.name
                    throw fault
                }
                try Self.checkBytes(text)
            }
            return value
        default: throw .wrongKind
        }
    }

    /// A number without a fraction, also one that is written `5.0`.
    private static func whole(_ value: JSON) throws(JobFault) -> Int {
        guard let number = value.int ?? value.double.flatMap({ Int(exactly: $0) }) else { throw .wrongKind }
        return number
    }

    /// A value as a person writes it: `30s`.
    package func words(_ json: JSON) -> String {
        switch (self, json) {
        case (.duration, .number): Duration(json: json)?.text ?? ""
        case (.seconds, .number): json.int.map { Duration.seconds($0).text } ?? ""
        case (.choices, .array(let words)), (.list, .array(let words)):
            words.isEmpty ? "none" : words.compactMap(\.text).joined(separator: ",")
        case (_, .number(let digits)): digits
        case (_, .bool(let flag)): "\(flag)"
        default: json.text ?? ""
        }
    }

    /// A value as `job show` has it: `30 s`, `2G`.
    package func shown(_ json: JSON) -> String {
        switch (self, json) {
        case (.duration, .number): Duration(json: json)?.limitWords ?? ""
        case (.seconds, .number): json.int.map { Duration.seconds($0).limitWords } ?? ""
        case (.size, .number): json.int.map(Self.sizeWords) ?? ""
        default: words(json)
        }
    }

    /// `2G`, in the largest unit that is not cut.
    private static func sizeWords(_ bytes: Int) -> String {
        let units = [("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)]
        guard bytes > 0, let unit = units.first(where: { bytes % $0.1 == 0 }) else { return "\(bytes)" }
        return "\(bytes / unit.1)\(unit.0)"
    }

    private func check(_ duration: Duration) throws(JobFault) -> JSON {
        if duration < .zero || duration == .zero && self != .duration(orZero: true) {
            throw .noLength
        }
        guard duration <= ScheduleSpec.longestWait else { throw JobFault("is longer than 100 years") }
        // The API counts milliseconds: less would be lost there.
        guard duration.microseconds % 1000 == 0 else { throw JobFault("must be whole milliseconds") }
        return duration.json ?? .null
    }

    /// The system's calls would end a text with a zero byte early.
    private static func checkBytes(_ text: String) throws(JobFault) {
        if text.utf8.contains(0) { throw JobFault("a text holds no zero byte") }
    }

    /// An input is a text or the path of a file.
    private static func checkInput(_ members: [JSON.Member]) throws(JobFault) {
        switch (members.first?.name, members.first?.value.text) {
        case ("text", let text?) where members.count == 1: try checkBytes(text)
        case ("file", let path?) where members.count == 1: _ = try JobForm.path.read(path)
        default: throw JobFault("a text or a file is expected")
        }
    }

    private static func duration(_ text: String) throws(JobFault) -> Duration {
        do throws(TimelineError) {
            return try Duration(text: text)
        } catch {
            guard error.problem == .outOfRange else {
                throw JobFault("\"\(text)\" is not a duration", hint: durationHint(text))
            }
            var fault = JobFault("\"\(text)\" is longer than 100 years")
            fault.bytes = error.range
            throw fault
        }
    }

    /// What was perhaps meant by a text that is no duration: `5`, `5 minutes`.
    private static func durationHint(_ text: String) -> String {
        let number = text.prefix { $0.isASCII && $0.isNumber }
        let word = text.dropFirst(number.count).filter { $0 != " " }.lowercased()
        if number.isEmpty || number.count > 9 { return "write one as 90s, 15m, 2h or 7d" }
        if word.isEmpty { return "add a unit: \(number)s, \(number)m or \(number)h" }
        let units = [
            "s": ["sec", "secs", "second", "seconds"], "m": ["min", "mins", "minute", "minutes"],
            "h": ["hr", "hrs", "hour", "hours"], "d": ["day", "days"], "w": ["week", "weeks"],
        ]
        let unit = units.first { $0.value.contains(word) || $0.key == word }?.key
        return unit.map { "write \(number)\($0)" } ?? "write one as 90s, 15m, 2h or 7d"
    }

    /// Words of a list, which may also be numbers.
    private static func list(_ words: [JSON]) throws(JobFault) -> JSON {
        let texts = words.map { word in word.text ?? word.int.map { "\($0)" } }
        guard !texts.isEmpty, !texts.contains("") else { throw JobFault("can't be empty") }
        guard !texts.contains(nil) else { throw .wrongKind }
        for text in texts { try checkBytes(text ?? "") }
        return .array(texts.compactMap { $0.map { .string($0) } })
    }

    /// The words that are among `chosen`, each once and in the order of the table.
    private static func chooseSome(_ chosen: [String], of words: [String]) throws(JobFault) -> JSON {
        for word in chosen { _ = try choose(word, of: words) }
        return .array(words.filter(chosen.contains).map { .string($0) })
    }

    private static func choose(_ text: String, of words: [String]) throws(JobFault) -> String {
        if words.contains(text) { return text }
        var fault = JobFault("\"\(text)\" is not known here")
        let list = words.dropLast().joined(separator: ", ")
        fault.advice =
            JobFault.meant(by: text, among: words).map { "did you mean \"\($0)\"?" }
            ?? "it is \(list) or \(words.last ?? "")"
        fault.words = words
        throw fault
    }

    /// A size in units of 1,024.
    private static func bytes(_ text: String) throws(JobFault) -> Int {
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int(unit == nil ? text : String(text.dropLast())), number >= 0,
            number <= Int.max / (unit ?? 1)
        else {
            throw JobFault("\"\(text)\" is not a size", hint: "write one as 4096, 512K, 200M or 2G")
        }
        return number * (unit ?? 1)
    }

    /// Whether the environment may have a variable of that name.
    package static func checkVariable(_ name: String) throws(JobFault) {
        if name.isEmpty || name.contains("=") || name.utf8.contains(0) {
            throw JobFault("\"\(name)\" is no name of an environment variable")
        }
    }
}
