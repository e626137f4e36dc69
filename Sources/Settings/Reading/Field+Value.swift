import Ledger
import Timeline
import Tracking
import Yams

extension Field {
    /// What stands here, as a value of `form`; nil after every fault in it was reported.
    func value(_ form: JobForm) -> JSON? {
        switch form {
        case .words:
            if let text = scalar, !text.isEmpty {
                let (message, hint) =
                    dashMistake ?? ("expected a list, found text", CommonMistakes.command(text))
                fault(message, hint: hint)
                return nil
            }
            guard let elements = list() else { return nil }
            if elements.isEmpty { fault("a command has at least one word") }
            let words = elements.enumerated().compactMap { $0 == 0 ? $1.word() : $1.text() }
            return .array(words.map { .string($0) })
        case .choices(let words) where isList: return choices(of: words)
        case .list where isList:
            guard let words = list().map({ $0.compactMap { $0.word() } }) else { return nil }
            if words.isEmpty { fault("can't be empty") }
            return .array(words.map { .string($0) })
        case .variables(let orFiles): return variables(orFiles: orFiles)
        case .input: return input()
        default:
            guard let text = text() else { return nil }
            do throws(JobFault) {
                return try form.read(text)
            } catch {
                fault(error)
                return nil
            }
        }
    }

    /// The same of a duration for which something is held back: not for so long that nobody can mean it.
    func hold(_ form: JobForm, upTo longest: Duration) -> JSON? {
        guard let value = value(form) else { return nil }
        guard let duration = Duration(json: value), duration > longest else { return value }
        fault("\"\(scalar ?? "")\" would hold it back for too long", hint: "write \(longest.text) at most")
        return nil
    }

    /// What stands here, as a value of a job's field.
    ///
    /// - Returns: nil after every fault in it was reported; the value inside is nil where the field shall have none.
    func value(of row: JobField) -> JSON?? {
        guard let text = scalar, row.form.isDuration else { return value(row.form).map { .some($0) } }
        do throws(JobFault) {
            return .some(try row.read(text))
        } catch {
            fault(error)
            return nil
        }
    }

    /// Reports a fault of the table of fields.
    func fault(_ fault: JobFault) {
        let near = fault.words.isEmpty ? nil : Self.meant(scalar ?? "", of: fault.words)
        self.fault(fault.message, hint: fault.hint ?? near, bytes: fault.bytes)
    }

    /// A duration such as `90s`, `15m`, `1h30m`.
    func duration() -> Duration? { Duration(json: value(.duration(orZero: true))) }

    /// One of a few words; those of `later` deserve another sentence than "unknown".
    func choice(of words: [String], later: [String] = []) -> String? {
        guard let text = word() else { return nil }
        guard later.contains(text) else { return value(.choice(words))?.text }
        fault("\"\(text)\" is not in this version", hint: Self.known(words))
        return nil
    }

    /// Those of a few words that a list holds.
    private func choices(of words: [String]) -> JSON? {
        guard let elements = list() else { return nil }
        let chosen = elements.map { $0.choice(of: words) }
        if chosen.contains(nil) { return nil }
        return try? JobForm.choices(words).read(json: .array(chosen.compactMap { $0.map { .string($0) } }))
    }

    private func variables(orFiles: Bool) -> JSON? {
        if !isMap, !isEmpty, let hint = CommonMistakes.variables(self) {
            fault("expected a map, found \(isList ? "a list" : "text")", hint: hint)
            return nil
        }
        var variables: [JSON.Member] = []
        for (key, value) in entries() ?? [] {
            guard let name = key.text(),
                let content = orFiles && value.isMap ? value.secretFile() : value.plainText()
            else { continue }
            if orFiles { do { try JobForm.checkVariable(name) } catch { key.fault(error) } }
            variables.append(JSON.Member(name, content))
        }
        return .members(variables)
    }

    private func plainText() -> JSON? { text().map { .string($0) } }

    /// The file that holds a variable's value.
    private func secretFile() -> JSON? {
        guard node.mapping?["file"] != nil else {
            fault("a text or a file is expected", hint: "write { file: PATH }")
            return nil
        }
        guard let file = record(keys: ["file"])?["file"] else { return nil }
        return file.value(.path).map { .members([JSON.Member("file", $0)]) }
    }

    private func input() -> JSON? {
        if scalar != nil {
            _ = choice(of: ["none"])
            return nil
        }
        guard let fields = record(keys: ["text", "file"]) else { return nil }
        switch (fields["text"], fields["file"]) {
        case (let text?, nil): return text.text().map { .object(["text": .string($0)]) }
        case (nil, let file?): return file.value(.path).map { .object(["file": $0]) }
        default:
            fault("a text or a file is expected", hint: "write stdin: { file: /path }")
            return nil
        }
    }
}
