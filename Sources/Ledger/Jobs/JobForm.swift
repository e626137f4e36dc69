import Timeline

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
    case botName
    /// An absolute path.
    case path
    /// A file mode mask, written in octal.
    case mask
    /// A number of bytes, such as `512M`.
    case size
    /// A duration in whole seconds.
    case seconds
    /// A program and its arguments.
    case words
    /// Variables of the environment.
    case variables
    /// What is read on standard input.
    case input

    package var isDuration: Bool { if case .duration = self { true } else { false } }

    /// Reads a text that is not empty.
    package func read(_ text: String) throws(JobFault) -> JobValue {
        guard !text.isEmpty else { throw JobFault("can't be empty") }
        try Self.checkBytes(text)
        switch self {
        case .flag: return .flag(try Self.choose(text, of: ["true", "false"]) == "true")
        case .choice(let words): return .text(try Self.choose(text, of: words))
        case .number(let limits):
            guard let number = Int(text), limits.contains(number) else {
                throw JobFault(
                    "\"\(text)\" is not a whole number from \(limits.lowerBound) to \(limits.upperBound)")
            }
            return .number(number)
        case .duration: return try check(try Self.duration(text))
        case .interval:
            let interval = try Self.duration(text)
            guard interval >= .seconds(1) else { throw JobFault("an interval is at least 1s") }
            return .duration(interval)
        case .seconds:
            let time = try Self.duration(text)
            _ = try check(time)
            // The kernel counts whole seconds, and none at all would end it at once.
            return .number(Int(max(1, time / .seconds(1))))
        case .mask:
            guard text.utf8.count <= 4, let mask = Int(text, radix: 8), (0...0o777).contains(mask) else {
                throw JobFault("\"\(text)\" is not a file mode mask", hint: "write one in octal, as 027")
            }
            return .number(mask)
        case .size: return .number(try Self.bytes(text))
        case .text(let longest):
            guard text.utf8.count <= longest else { throw JobFault("has more than \(longest) bytes") }
        case .botName: if let fault = JobName.fault(in: text) { throw JobFault("\"\(text)\": \(fault)") }
        case .path: if !text.hasPrefix("/") { throw JobFault("must be an absolute path") }
        case .words, .variables, .input: throw .wrongKind
        }
        return .text(text)
    }

    /// Reads the JSON of a draft.
    package func read(json value: JobValue) throws(JobFault) -> JobValue {
        switch (self, value) {
        case (.flag, .flag): return value
        case (.number, .number(let number)): return try read("\(number)")
        case (.duration, .number(let milliseconds)): return try check(.milliseconds(milliseconds))
        case (.text, .text(let text)), (.choice, .text(let text)), (.botName, .text(let text)),
            (.path, .text(let text)):
            return try read(text)
        case (.words, .texts(let words)):
            guard let program = words.first else { throw JobFault("a command has at least one word") }
            _ = try JobForm.text().read(program)
            for word in words { try Self.checkBytes(word) }
            return value
        case (.variables, .map(let members)):
            for (name, value) in members {
                try Self.checkVariable(name)
                if case .map(let file) = value, let path = file["file"]?.text, file.count == 1 {
                    _ = try JobForm.path.read(path)
                    continue
                }
                guard let text = value.text else {
                    var fault = JobFault.wrongKind
                    fault.key = name
                    throw fault
                }
                try Self.checkBytes(text)
            }
            return value
        default: throw .wrongKind
        }
    }

    /// A value as a person writes it: `30s`.
    package func words(_ json: JobValue) -> String {
        switch (self, json) {
        case (.duration, .number(let number)): Duration.milliseconds(number).text
        case (.seconds, .number(let number)): Duration.seconds(number).text
        case (_, .number(let number)): "\(number)"
        case (_, .duration(let duration)): duration.text
        case (_, .flag(let flag)): "\(flag)"
        default: json.text ?? ""
        }
    }

    private func check(_ duration: Duration) throws(JobFault) -> JobValue {
        if duration < .zero || duration == .zero && self != .duration(orZero: true) {
            throw JobFault("must be more than 0s")
        }
        guard duration <= ScheduleSpec.longestWait else { throw JobFault("is longer than 100 years") }
        // The API counts milliseconds: less would be lost there.
        guard duration.microseconds % 1000 == 0 else { throw JobFault("must be whole milliseconds") }
        return .duration(duration)
    }

    /// The system's calls would end a text with a zero byte early.
    private static func checkBytes(_ text: String) throws(JobFault) {
        if text.utf8.contains(0) { throw JobFault("a text holds no zero byte") }
    }

    private static func duration(_ text: String) throws(JobFault) -> Duration {
        do throws(TimelineError) {
            return try Duration(text: text)
        } catch {
            guard error.problem == .outOfRange else {
                throw JobFault("\"\(text)\" is not a duration", hint: "write one as 90s, 15m, 2h or 7d")
            }
            var fault = JobFault("\"\(text)\" is longer than 100 years")
            fault.bytes = error.range
            throw fault
        }
    }

    private static func choose(_ text: String, of words: [String]) throws(JobFault) -> String {
        if words.contains(text) { return text }
        var fault = JobFault("\"\(text)\" is not known here")
        let list = words.dropLast().joined(separator: ", ")
        fault.advice = "it is \(list) or \(words.last ?? "")"
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
