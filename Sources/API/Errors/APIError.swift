import Tracking

/// An error as the wire carries it and as people read it.
///
/// On the wire: `{"error":{"code","kind","message","hint"}}`; for a configuration with `faults`, `warnings` and
/// `notes`, for an expression
/// with `field`, `start`, `end` and `fix` of its first fault, and all of them in `errors`.
package struct APIError: Error, Hashable, Sendable {
    /// Its line in the table.
    package var code: ErrorCode
    /// One sentence; begins small, ends without a full stop.
    package var message: String
    /// How to fix it, where that is known; a sentence of its own with its full stop.
    package var hint: String?
    /// Every fault of a configuration that is refused, where they are known one by one.
    package var faults: [WireFault] = []
    /// What is allowed but perhaps not meant in a configuration that is refused.
    package var warnings: [WireFault] = []
    /// What could not be checked of a configuration that is refused, and how its phrases are understood.
    package var notes: [String] = []
    /// Every fault of an expression that is refused, the first one first.
    package var errors: [WireRemark] = []
    /// What people read instead of the message, with lines under the places at fault; begins as a sentence does.
    package var drawing: String?

    /// The error `code`, in the table's words unless better ones are given.
    ///
    /// Without a hint, one is made of the table's command where it has one.
    package init(_ code: ErrorCode, _ message: String? = nil, hint: String? = nil) {
        self.code = code
        self.message = message ?? code.row.sentence
        self.hint = hint ?? code.row.command.map { "See: \($0)" }
    }

    /// `belfry: no job "bakcup". Did you mean "backup"?`, without the `belfry: `.
    package var sentence: String {
        if let drawing { return drawing }
        guard let hint else { return message }
        return message + (message.last.map("?!.".contains) == true ? " " : ". ") + hint
    }
}

extension APIError: Codable {
    private enum Envelope: String, CodingKey { case error }
    private enum Key: String, CodingKey {
        case code, kind, message, hint, faults, warnings, notes, field, start, end, fix, errors, drawing
    }

    /// Reads the wire's form.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Envelope.self)
            .nestedContainer(keyedBy: Key.self, forKey: .error)
        code = try container.decode(ErrorCode.self, forKey: .code)
        message = try container.decode(String.self, forKey: .message)
        hint = try container.decodeIfPresent(String.self, forKey: .hint)
        faults = try container.decodeIfPresent([WireFault].self, forKey: .faults) ?? []
        warnings = try container.decodeIfPresent([WireFault].self, forKey: .warnings) ?? []
        notes = try container.decodeIfPresent([String].self, forKey: .notes) ?? []
        errors = try container.decodeIfPresent([WireRemark].self, forKey: .errors) ?? []
        drawing = try container.decodeIfPresent(String.self, forKey: .drawing)
    }

    /// Writes the wire's form.
    package func encode(to encoder: any Encoder) throws {
        var envelope = encoder.container(keyedBy: Envelope.self)
        var container = envelope.nestedContainer(keyedBy: Key.self, forKey: .error)
        try container.encode(code, forKey: .code)
        try container.encode(code.row.kind, forKey: .kind)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(hint, forKey: .hint)
        if !faults.isEmpty { try container.encode(faults, forKey: .faults) }
        if !warnings.isEmpty { try container.encode(warnings, forKey: .warnings) }
        if !notes.isEmpty { try container.encode(notes, forKey: .notes) }
        try container.encodeIfPresent(drawing, forKey: .drawing)
        guard let first = errors.first else { return }
        try container.encodeIfPresent(first.field, forKey: .field)
        try container.encode(first.start, forKey: .start)
        try container.encode(first.end, forKey: .end)
        try container.encodeIfPresent(first.fix, forKey: .fix)
        try container.encode(errors, forKey: .errors)
    }
}

/// The messages of the argument parser, in the form of our own sentences.
package enum UsageSentence {
    /// `message` on one line; it begins small and ends without a full stop.
    package static func of(_ message: String) -> String {
        let line = message.split(separator: "\n").joined(separator: " ")
        let text = withoutPlaceholder(line.last == "." ? String(line.dropLast()) : line)
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// `is invalid for '--every': ...` without the ` <duration>` behind the name of the option.
    private static func withoutPlaceholder(_ text: String) -> String {
        let lead = "is invalid for '-"
        guard let start = text.firstRange(of: lead),
            let end = text[start.upperBound...].firstIndex(of: "'"),
            let blank = text[start.upperBound..<end].firstRange(of: " <")
        else { return text }
        return String(text[..<blank.lowerBound] + text[end...])
    }
}

/// What a person wrote, in quotes.
package enum Quoted {
    /// `text` in quotes, cut where it is longer than 60 characters and without what would act on a terminal: a sentence
    /// stays one.
    package static func of(_ text: String) -> String {
        let row = CleanText.row(text)
        return row.count > 60 ? "\"\(row.prefix(59))…\"" : "\"\(row)\""
    }
}

/// Counts with their nouns.
package enum Plural {
    /// `1 job`, `2 jobs`: the noun with an s unless there is exactly one.
    package static func of(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}
