package import Timeline

/// A query as a value: one description of each parameter reads it on the server and writes it in the client.
package protocol QueryParameters: Hashable, Sendable {
    /// The query without parameters: every value is its default.
    init()

    /// Its parameters, in the order in which they are read.
    static var parameters: [QueryParameter<Self>] { get }
}

extension QueryParameters {
    /// Reads a request's query; unknown parameters are ignored, and of a repeated one the first value counts.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/badValue`` for the first value that is refused.
    package init(_ query: Query) throws(APIError) {
        self.init()
        for parameter in Self.parameters {
            if let text = query[parameter.row.name] { try parameter.read(text, &self) }
        }
    }

    /// `?a=1&b=2`, or nothing when every value is its default.
    package var suffix: String {
        var query = Query()
        for parameter in Self.parameters { query[parameter.row.name] = parameter.write(self) }
        return query.suffix
    }
}

extension Nothing: QueryParameters {
    /// A query without parameters.
    package static var parameters: [QueryParameter<Nothing>] { [] }
}

/// One parameter of a query.
package struct QueryParameter<Values: QueryParameters>: Sendable {
    /// Its description.
    package let row: QueryRow
    /// Reads the decoded text into the values.
    let read: @Sendable (String, inout Values) throws(APIError) -> Void
    /// The text of the value; nil where it is the default.
    let write: @Sendable (Values) -> String?
}

/// The description of a parameter.
package struct QueryRow: Hashable, Sendable {
    /// What a value looks like.
    package enum Kind: Hashable, Sendable {
        /// Any text.
        case text
        /// `1` or `true`; anything else is no.
        case flag
        /// A whole number; greater ones than `atMost` count as that.
        case number(atLeast: Int64, atMost: Int64, initial: Int64?)
        /// A time in ISO 8601.
        case time
        /// Words from this list, separated by commas.
        case words([String])
    }

    /// The name in the query.
    package let name: String
    /// What a value looks like.
    package let kind: Kind
    /// What it does; a sentence.
    package let doc: String
}

extension QueryParameter {
    /// A text.
    package static func text(
        _ name: String, _ path: any WritableKeyPath<Values, String?> & Sendable, _ doc: String
    ) -> Self {
        Self(
            row: QueryRow(name: name, kind: .text, doc: doc),
            read: { (text, values) throws(APIError) in values[keyPath: path] = text },
            write: { $0[keyPath: path] })
    }

    /// A flag, not set by default.
    package static func flag(
        _ name: String, _ path: any WritableKeyPath<Values, Bool> & Sendable, _ doc: String
    ) -> Self {
        Self(
            row: QueryRow(name: name, kind: .flag, doc: doc),
            read: { (text, values) throws(APIError) in
                values[keyPath: path] = text == "1" || text == "true"
            },
            write: { $0[keyPath: path] ? "true" : nil })
    }

    /// A number with a default, which is that of the query's type; greater ones than `most` count as that.
    package static func number(
        _ name: String, _ path: any WritableKeyPath<Values, Int> & Sendable, atLeast least: Int = 1,
        atMost most: Int = .max, _ doc: String
    ) -> Self {
        let initial = Values()[keyPath: path]
        return Self(
            row: QueryRow(
                name: name,
                kind: .number(atLeast: Int64(least), atMost: Int64(most), initial: Int64(initial)), doc: doc),
            read: { (text, values) throws(APIError) in
                values[keyPath: path] = min(Int(clamping: try whole(text, name, from: Int64(least))), most)
            },
            write: { $0[keyPath: path] == initial ? nil : String($0[keyPath: path]) })
    }

    /// A number that may be absent.
    package static func number(
        _ name: String, _ path: any WritableKeyPath<Values, Int64?> & Sendable, atLeast least: Int64,
        _ doc: String
    ) -> Self {
        Self(
            row: QueryRow(name: name, kind: .number(atLeast: least, atMost: .max, initial: nil), doc: doc),
            read: { (text, values) throws(APIError) in
                values[keyPath: path] = try whole(text, name, from: least)
            },
            write: { $0[keyPath: path].map { String($0) } })
    }

    /// A time.
    package static func time(
        _ name: String, _ path: any WritableKeyPath<Values, Moment?> & Sendable, _ doc: String
    ) -> Self {
        Self(
            row: QueryRow(name: name, kind: .time, doc: doc),
            read: { (text, values) throws(APIError) in
                do throws(TimelineError) {
                    values[keyPath: path] = try Moment(iso8601: text)
                } catch {
                    throw APIError(.badValue, "\(name): \(error.message)")
                }
            },
            write: { $0[keyPath: path]?.iso8601 })
    }

    /// Words of a list.
    package static func words<Word: QueryWord>(
        _ name: String, _ path: any WritableKeyPath<Values, [Word]> & Sendable, _ doc: String
    ) -> Self {
        Self(
            row: QueryRow(name: name, kind: .words(Word.allCases.map(\.rawValue)), doc: doc),
            read: { (text, values) throws(APIError) in
                values[keyPath: path] = try Word.read(
                    text.split(separator: ",").map { String($0) }, parameter: name)
            },
            write: {
                let words = $0[keyPath: path].map(\.rawValue)
                return words.isEmpty ? nil : words.joined(separator: ",")
            })
    }

    private static func whole(_ text: String, _ name: String, from least: Int64) throws(APIError) -> Int64 {
        guard let number = Int64(text), number >= least else {
            throw APIError(.badValue, "\(name) is not a whole number from \(least) up: \"\(text)\"")
        }
        return number
    }
}

/// A word that a query may list.
package protocol QueryWord: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == String {}

extension QueryWord {
    /// The values of `words`, of which one is called `parameter`.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/badValue`` for the first that is unknown.
    package static func read(_ words: [String], parameter: String) throws(APIError) -> [Self] {
        var values: [Self] = []
        for word in words {
            guard let value = Self(rawValue: word) else {
                let known = allCases.map(\.rawValue).joined(separator: " ")
                let plural = parameter.prefix(1).uppercased() + parameter.dropFirst() + "s"
                throw APIError(.badValue, "no \(parameter) \"\(word)\"", hint: "\(plural) are \(known).")
            }
            values.append(value)
        }
        return values
    }
}
