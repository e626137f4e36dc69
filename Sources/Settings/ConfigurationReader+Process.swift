import Ledger
import Timeline

extension ConfigurationReader {
    /// Reads what a job's processes are given.
    func readProcess(_ fields: [String: Field], into spec: inout JobSpec) {
        var rules = ProcessRules()
        rules.user = fields["user"]?.word()
        if let field = fields["umask"] { rules.umask = mask(field) }
        rules.nice = fields["nice"]?.number(in: -20...19)
        if let field = fields["stdin"] { rules.input = readInput(field) }
        if let field = fields["limits"] { rules.limits = readLimits(field) }
        if !rules.areNone { spec.process = rules }
    }

    private func mask(_ field: Field) -> Int? {
        guard let text = field.word() else { return nil }
        guard text.utf8.count <= 4, let mask = Int(text, radix: 8), (0...0o777).contains(mask) else {
            field.fault("\"\(text)\" is not a file mode mask", hint: "write one in octal, as 027")
            return nil
        }
        return mask
    }

    private func readInput(_ field: Field) -> JobInput? {
        if field.scalar != nil {
            _ = field.choice(of: ["none"])
            return nil
        }
        guard let fields = field.record(keys: ["text", "file"]) else { return nil }
        switch (fields["text"], fields["file"]) {
        case (let text?, nil): return text.text().map(JobInput.text)
        case (nil, let file?):
            guard let path = file.word() else { return nil }
            if !path.hasPrefix("/") { file.fault("must be an absolute path") }
            return .file(path)
        default:
            field.fault("a text or a file is expected", hint: "write stdin: { file: /path }")
            return nil
        }
    }

    private func readLimits(_ field: Field) -> [JobLimit: Int]? {
        guard let fields = field.record(keys: JobLimit.allCases.map(\.rawValue)) else { return nil }
        var limits: [JobLimit: Int] = [:]
        for limit in JobLimit.allCases {
            guard let field = fields[limit.rawValue] else { continue }
            switch limit.unit {
            case .bytes: limits[limit] = bytes(field)
            case .seconds:
                guard let time = field.positiveDuration() else { continue }
                // The kernel counts whole seconds, and none at all would end it at once.
                limits[limit] = Int(max(1, time / .seconds(1)))
            case .pieces: limits[limit] = field.number(in: 1...1 << 30)
            }
        }
        return limits.isEmpty ? nil : limits
    }

    /// A size such as `512M`: units of 1,024.
    private func bytes(_ field: Field) -> Int? {
        guard let text = field.word() else { return nil }
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int(unit == nil ? text : String(text.dropLast())), number >= 0,
            number <= Int.max / (unit ?? 1)
        else {
            field.fault("\"\(text)\" is not a size", hint: "write one as 4096, 512K, 200M or 2G")
            return nil
        }
        return number * (unit ?? 1)
    }
}
