import Cron
import Timeline
package import Tracking

/// A field of a job: its names, its type with limits, and its place in a ``JobSpec``.
///
/// Whatever reads or writes jobs uses these: files, the API and its description, the options of `job add`,
/// `job show`. How to add one stands at ``JobFields``.
package struct JobField: Sendable {
    /// Its name in a file; `retry.backoff` is the key `backoff` of the map `retry`.
    package var key: String
    /// Its type and limits.
    package var form: JobForm
    /// One sentence, for help and for the API's description.
    package var doc: String
    /// Where help lists its option.
    package var group = JobFieldGroup.process
    /// Its option of `job add` and `job edit`, without the dashes; nil: it has none.
    package var option: String?
    /// What help calls the value of its option; nil: as all values of its form are called.
    package var value: String?
    /// Its name among the policies that the API shows; nil: it is none of them.
    package var policy: String?
    /// Its name in a draft, which the API takes; nil: only a file sets it.
    package var draft: String?
    /// Whether it may have no value; see ``removal``.
    package var isRemovable: Bool
    /// What is wrong with a value that was given, beside those of other fields.
    package var check: @Sendable (JobSpec) -> JobFault?
    /// Its part of the policies in `job show`, made from all of them.
    package var shown: @Sendable (JSON) -> String?
    /// Its value in a spec; nil: it has none.
    package let get: @Sendable (JobSpec) -> JSON?
    /// Sets its value in a spec to one of its form; nil removes it.
    package let set: @Sendable (inout JobSpec, JSON?) -> Void

    /// A field, called in the API as in a file, but without `retry.`, and with `Ms` where it is a duration.
    package init(
        _ key: String, _ form: JobForm, _ place: JobPlace, _ doc: String, option: String? = nil,
        value: String? = nil, draft: String? = nil, isRemovable: Bool = false,
        check: @escaping @Sendable (JobSpec) -> JobFault? = { _ in nil },
        shown: (@Sendable (JSON) -> String?)? = nil
    ) {
        let path = key.hasPrefix("retry.") ? String(key.dropFirst("retry.".count)) : key
        let name = form.isDuration ? path + "Ms" : path
        (self.key, self.form, self.doc, self.option, self.value) = (key, form, doc, option, value)
        (policy, self.draft) = (name, draft ?? name)
        (self.isRemovable, self.check, get, set) = (isRemovable, check, place.get, place.set)
        self.shown = shown ?? { policies in policies[name].map { "\(path): \(form.shown($0))" } }
    }

    /// Its value where nobody sets it.
    package var standard: JSON? {
        self.get(
            JobSpec(name: "", action: .command([]), schedule: ScheduleSpec(kind: .manual, text: "", zone: ""))
        )
    }

    /// What a draft or an option holds to remove its value: `none` of a duration, else the empty text; nil: nothing does.
    package var removal: JSON? { isRemovable ? .string(form.isDuration ? "none" : "") : nil }

    /// Reads a text of a file or an option; nil: its value is to be removed.
    package func read(_ text: String) throws(JobFault) -> JSON? {
        if form.isDuration, removal == .string(text) { return nil }
        do { return try form.read(text) } catch { throw explained(error) }
    }

    /// Reads what a draft holds; nil: its value is to be removed.
    package func read(draft value: JSON) throws(JobFault) -> JSON? {
        if removal == value { return nil }
        do { return try form.read(json: value) } catch { throw explained(error) }
    }

    /// The fault, with what to write where no length was meant.
    private func explained(_ fault: JobFault) -> JobFault {
        guard isRemovable, fault == .noLength else { return fault }
        return JobFault(fault.message, hint: "leave \(key) out", advice: "write none for no \(key)")
    }
}

/// A part of the table of fields, under its title in help.
package enum JobFieldGroup: String, CaseIterable, Sendable {
    case action = "Command"
    case slots = "Missed and overlapping slots"
    case turns = "Time limit, retries, order"
    case notices = "Notifications"
    case process = "Process"
}

/// Where the value of a field lies in a spec.
package struct JobPlace: Sendable {
    let get: @Sendable (JobSpec) -> JSON?
    let set: @Sendable (inout JobSpec, JSON?) -> Void

    /// A flag, number, text, duration or list of texts, also one that may be missing.
    package static func at<Part: JobPart>(_ path: any WritableKeyPath<JobSpec, Part> & Sendable) -> JobPlace {
        JobPlace(
            get: { $0[keyPath: path].json },
            set: { if let part = Part(json: $1) { $0[keyPath: path] = part } })
    }

    /// A word of a few.
    package static func word<Word: RawRepresentable<String> & SendableMetatype>(
        _ path: any WritableKeyPath<JobSpec, Word> & Sendable
    ) -> JobPlace {
        JobPlace(
            get: { .string($0[keyPath: path].rawValue) },
            set: { if let word = ($1?.text).flatMap(Word.init) { $0[keyPath: path] = word } })
    }
}

/// What is wrong with the value of a field.
package struct JobFault: Error, Hashable, Sendable {
    /// The field's key.
    package var key = ""
    /// What is wrong, to stand behind the field's name.
    package var message: String
    /// What to write in a file instead; on the command line ``advice``, where there is one.
    package var hint: String?
    package var advice: String?
    /// The words that are allowed.
    package var words: [String] = []
    /// The part of the text that is wrong; nil: all of it.
    package var bytes: Range<Int>?

    package init(_ message: String, hint: String? = nil, advice: String? = nil) {
        (self.message, self.hint, self.advice) = (message, hint, advice)
    }

    /// Which of `words` was meant by a word of other programs or by a slip; nil: nobody knows.
    package static func meant(by word: String, among words: [String]) -> String? {
        let usual =
            switch word.lowercased() {
            case "success", "succeeded", "successful", "ok", "done", "finished", "complete": "completed"
            case "failure", "fail", "error", "errors", "timeout", "timedout", "crashed": "failed"
            case "start": "started"
            case "cancelled": "canceled"
            case "messages": "message"
            case "yes", "on", "y", "1": "true"
            case "no", "off", "n", "0": "false"
            default: ""
            }
        return words.contains(usual) ? usual : NearestName.of(word, among: words)
    }

    /// A number stands where a text is wanted, or the like.
    package static let wrongKind = JobFault("has the wrong type")

    /// A duration of nothing where one must be longer.
    package static let noLength = JobFault("must be more than 0s")
}

/// A part of a spec that a field can hold, and its JSON; a duration is a number of milliseconds there.
package protocol JobPart: SendableMetatype {
    /// The part with this JSON; nil where that is of another type.
    init?(json: JSON?)
    /// Its JSON; nil: there is no value.
    var json: JSON? { get }
}

extension Bool: JobPart {
    package init?(json: JSON?) { if case .bool(let value)? = json { self = value } else { return nil } }
    package var json: JSON? { .bool(self) }
}

extension Int: JobPart {
    package init?(json: JSON?) { if let value = json?.int { self = value } else { return nil } }
    package var json: JSON? { .int(self) }
}

extension String: JobPart {
    package init?(json: JSON?) { if let text = json?.text { self = text } else { return nil } }
    package var json: JSON? { .string(self) }
}

extension Duration: JobPart {
    package init?(json: JSON?) {
        if let count = json?.int { self = .milliseconds(count) } else { return nil }
    }
    package var json: JSON? { .int(milliseconds) }
}

extension [String]: JobPart {
    package init?(json: JSON?) {
        guard case .array(let values)? = json else { return nil }
        self = values.compactMap(\.text)
    }
    package var json: JSON? { .array(map { .string($0) }) }
}

extension Optional: JobPart where Wrapped: JobPart {
    package init?(json: JSON?) {
        guard let json else {
            self = .none
            return
        }
        guard let part = Wrapped(json: json) else { return nil }
        self = .some(part)
    }
    package var json: JSON? { flatMap(\.json) }
}

extension JSON {
    /// A member by its path: `catchUp.mode` is the member `mode` of the member `catchUp`; `null` counts as none.
    ///
    /// Setting it makes the objects on its way.
    package subscript(path path: String) -> JSON? {
        get {
            let parts = Self.parts(of: path)
            let value = parts.map { self[$0.head]?[path: $0.rest] } ?? self[path]
            return value == .null ? nil : value
        }
        set {
            guard let parts = Self.parts(of: path) else { return self[path] = newValue }
            var inner = self[parts.head] ?? .members([])
            inner[path: parts.rest] = newValue
            self[parts.head] = inner
        }
    }

    private static func parts(of path: String) -> (head: String, rest: String)? {
        path.firstIndex(of: ".").map { (head: String(path[..<$0]), rest: String(path[$0...].dropFirst())) }
    }
}
