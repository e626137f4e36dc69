import Timeline

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
    /// Its option of `job add` and `job edit`, without the dashes; nil: it has none.
    package var option: String?
    /// Its name among the policies that the API shows; nil: it is none of them.
    package var policy: String?
    /// Its name in a draft, which the API takes; nil: only a file sets it.
    package var draft: String?
    /// Whether 0 or an empty text in a draft removes its value.
    package var isRemovable: Bool
    /// What is wrong with a value that was given, beside those of other fields.
    package var check: @Sendable (JobSpec) -> JobFault?
    /// Its part of the policies in `job show`, made from all of them.
    package var shown: @Sendable (JobValue) -> String?
    /// Its value in a spec; nil: it has none.
    package let get: @Sendable (JobSpec) -> JobValue?
    /// Sets its value in a spec to one of its form; nil removes it.
    package let set: @Sendable (inout JobSpec, JobValue?) -> Void

    /// A field, called in the API as in a file, but without `retry.`, and with `Ms` where it is a duration.
    package init(
        _ key: String, _ form: JobForm, _ place: JobPlace, _ doc: String, option: String? = nil,
        draft: String? = nil, isRemovable: Bool = false,
        check: @escaping @Sendable (JobSpec) -> JobFault? = { _ in nil },
        shown: (@Sendable (JobValue) -> String?)? = nil
    ) {
        let path = key.hasPrefix("retry.") ? String(key.dropFirst("retry.".count)) : key
        let name = form.isDuration ? path + "Ms" : path
        (self.key, self.form, self.doc, self.option) = (key, form, doc, option)
        (policy, self.draft) = (name, draft ?? name)
        (self.isRemovable, self.check, get, set) = (isRemovable, check, place.get, place.set)
        self.shown = shown ?? { policies in policies[name].map { "\(path) \(form.words($0))" } }
    }

    /// Its value where nobody sets it.
    package var standard: JobValue? {
        self.get(
            JobSpec(name: "", action: .command([]), schedule: ScheduleSpec(kind: .manual, text: "", zone: ""))
        )
    }

    /// Reads what a draft holds; nil: its value is to be removed.
    package func read(draft value: JobValue) throws(JobFault) -> JobValue? {
        if isRemovable, value == (form.isDuration ? .number(0) : .text("")) { return nil }
        return try form.read(json: value)
    }
}

/// Where the value of a field lies in a spec.
package struct JobPlace: Sendable {
    let get: @Sendable (JobSpec) -> JobValue?
    let set: @Sendable (inout JobSpec, JobValue?) -> Void

    /// A flag, number, text, duration or list of texts, also one that may be missing.
    package static func at<Value>(_ path: any WritableKeyPath<JobSpec, Value> & Sendable) -> JobPlace {
        JobPlace(
            get: { JobValue(holding: $0[keyPath: path]) },
            set: { if let value = $1?.held as? Value { $0[keyPath: path] = value } })
    }

    /// A word of a few.
    package static func word<Word: RawRepresentable<String> & SendableMetatype>(
        _ path: any WritableKeyPath<JobSpec, Word> & Sendable
    ) -> JobPlace {
        JobPlace(
            get: { .text($0[keyPath: path].rawValue) },
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

    /// A number stands where a text is wanted, or the like.
    package static let wrongKind = JobFault("has the wrong type")
}

/// A value of a field, and any JSON that fields are made of.
package enum JobValue: Hashable, Sendable {
    case flag(Bool)
    case number(Int)
    case text(String)
    /// In JSON a number of milliseconds.
    case duration(Duration)
    case texts([String])
    case map([String: JobValue])
    /// JSON that no field holds, such as a fraction.
    case other

    /// The value of what lies in a spec; nil: nothing does.
    init?(holding part: Any) {
        switch part {
        case let value as Bool: self = .flag(value)
        case let value as Int: self = .number(value)
        case let value as String: self = .text(value)
        case let value as Duration: self = .duration(value)
        case let value as [String]: self = .texts(value)
        default: return nil
        }
    }

    /// What lies in a spec with this value.
    var held: Any? {
        switch self {
        case .flag(let value): value
        case .number(let value): value
        case .text(let value): value
        case .duration(let value): value
        case .texts(let value): value
        case .map, .other: nil
        }
    }

    /// The same as it is read back from JSON.
    package var inJSON: JobValue {
        if case .duration(let value) = self { .number(Int(value.milliseconds)) } else { self }
    }

    package var number: Int? { held as? Int }
    package var text: String? { held as? String }
    package var duration: Duration? { held as? Duration }

    /// A member of a map; `catchUp.mode` is the member `mode` of its member `catchUp`.
    package subscript(name: String) -> JobValue? {
        get {
            guard case .map(let members) = self else { return nil }
            guard let (head, rest) = Self.parts(of: name) else { return members[name] }
            return members[head]?[rest]
        }
        set {
            var members = if case .map(let members) = self { members } else { [String: JobValue]() }
            if let (head, rest) = Self.parts(of: name) {
                members[head, default: .map([:])][rest] = newValue
            } else {
                members[name] = newValue
            }
            self = .map(members)
        }
    }

    private static func parts(of name: String) -> (String, String)? {
        name.firstIndex(of: ".").map { (String(name[..<$0]), String(name[$0...].dropFirst())) }
    }
}

extension JobValue: Codable {
    /// Reads whatever stands there; members that are `null` are left out.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let values = try? container.decode([String].self) {
            self = .texts(values)
        } else if let members = try? container.decode([String: JobValue?].self) {
            self = .map(members.compactMapValues(\.self))
        } else {
            self = .other
        }
    }

    /// Writes what it is.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .flag(let value): try value.encode(to: encoder)
        case .number(let value): try value.encode(to: encoder)
        case .text(let value): try value.encode(to: encoder)
        case .duration(let value): try value.milliseconds.encode(to: encoder)
        case .texts(let values): try values.encode(to: encoder)
        case .map(let members): try members.encode(to: encoder)
        case .other: try String?.none.encode(to: encoder)
        }
    }
}
