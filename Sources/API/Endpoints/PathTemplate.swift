/// A path whose variable parts are named, such as `/v1/jobs/{job}/pause`.
package struct PathTemplate: Hashable, Sendable, ExpressibleByStringLiteral {
    /// A part between two slashes.
    package enum Segment: Hashable, Sendable {
        /// Stands as it is.
        case literal(String)
        /// A value of this name.
        case variable(String)
    }

    /// The path as it is written.
    package let text: String
    /// Its parts in order.
    package let segments: [Segment]

    /// The path `text`, which begins with a slash.
    package init(stringLiteral text: String) {
        self.text = text
        segments = text.split(separator: "/").map { part in
            part.first == "{" && part.last == "}"
                ? .variable(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    /// The names of the variable parts, in order.
    package var names: [String] {
        segments.compactMap { if case .variable(let name) = $0 { name } else { nil } }
    }

    /// The path with `values` in place of the variable parts, escaped.
    package func filled(with values: [String]) -> String {
        var rest = values[...]
        return segments.map { segment in
            switch segment {
            case .literal(let text): "/" + text
            case .variable: "/" + PercentCoding.encode(rest.popFirst() ?? "")
            }
        }.joined()
    }

    /// The values of the variable parts in `parts`, which are decoded; nil when the path is another one.
    func values(in parts: [String]) -> [String]? {
        guard parts.count == segments.count else { return nil }
        var values: [String] = []
        for (segment, part) in zip(segments, parts) {
            switch segment {
            case .literal(let text): guard text == part else { return nil }
            case .variable: values.append(part)
            }
        }
        return values
    }
}

/// What a variable part of a path looks like.
package enum PathKind: Hashable, Sendable {
    /// Any text.
    case text
    /// A whole number from 1, without leading zeros.
    case ordinal
    /// The same, or the word `newest`; see ``RunTarget``.
    case ordinalOrNewest

    /// Whether `value` looks like it.
    func admits(_ value: String) -> Bool {
        switch self {
        case .text: true
        case .ordinal: Int(value).map { $0 > 0 && String($0) == value } ?? false
        case .ordinalOrNewest: RunTarget.isWord(value) || PathKind.ordinal.admits(value)
        }
    }
}

/// The variable parts of a path, as a value.
package protocol PathParameters: Hashable, Sendable {
    /// What the parts look like, in order.
    static var kinds: [PathKind] { get }

    /// The value of `segments`, each of which has the form in ``kinds``.
    init?(segments: [String])

    /// The parts in order, not escaped.
    var segments: [String] { get }
}

extension Nothing: PathParameters {
    /// A path without variable parts.
    package static var kinds: [PathKind] { [] }

    /// Nothing.
    package init?(segments: [String]) {}

    /// No parts.
    package var segments: [String] { [] }
}

extension String: PathParameters {
    /// One text.
    package static var kinds: [PathKind] { [.text] }

    /// The only part.
    package init?(segments: [String]) {
        guard let text = segments.first else { return nil }
        self = text
    }

    /// The text itself.
    package var segments: [String] { [self] }
}

/// A run by its job and its number: `JOB#N`.
package struct RunName: Hashable, Sendable, CustomStringConvertible {
    /// The job's name.
    package let job: String
    /// From 1.
    package let ordinal: Int

    /// The run `ordinal` of `job`.
    package init(job: String, ordinal: Int) {
        self.job = job
        self.ordinal = ordinal
    }

    /// Reads `JOB#N`; nil when `text` is anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let ordinal = Int(parts[1]), ordinal > 0 else {
            return nil
        }
        self.init(job: String(parts[0]), ordinal: ordinal)
    }

    /// `JOB#N`.
    package var description: String { "\(job)#\(ordinal)" }
}

extension RunName: PathParameters {
    /// A name and a number.
    package static var kinds: [PathKind] { [.text, .ordinal] }

    /// The run of a name and a number.
    package init?(segments: [String]) {
        guard segments.count == 2, let ordinal = Int(segments[1]) else { return nil }
        self.init(job: segments[0], ordinal: ordinal)
    }

    /// The name and the number.
    package var segments: [String] { [job, String(ordinal)] }
}

/// Finds the row of a request.
package struct EndpointRouter: Sendable {
    /// The rows, in the order of their table.
    package let rows: [EndpointRow]
    /// The places of rows in ``rows``, by the number of their path's segments.
    private let places: [Int: [Int]]
    /// The rows whose path has no variable part, by path and method: found without taking the path apart.
    private var plain: [String: [String: Match]] = [:]

    /// A row with the values of a request's path.
    package struct Match: Sendable {
        /// The row.
        package let row: EndpointRow
        /// The values of the path's variable parts, decoded.
        package let path: [String]
    }

    /// A router over `rows`.
    package init(_ rows: [EndpointRow]) {
        self.rows = rows
        places = Dictionary(grouping: rows.indices) { rows[$0].path.segments.count }
        for row in rows where row.path.names.isEmpty {
            let method = row.method.rawValue
            plain[row.path.text, default: [:]][method] = try? search(method: method, path: row.path.text)
        }
    }

    /// The row of a request's method and path (without the query).
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/noSuchPath``, or ``ErrorCode/badMethod`` when the path exists.
    package func match(method: String, path: some StringProtocol) throws(APIError) -> Match {
        if let match = plain[String(path)]?[method] { return match }
        return try search(method: method, path: path)
    }

    private func search(method: String, path: some StringProtocol) throws(APIError) -> Match {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let segments = parts.dropFirst().compactMap { $0.isEmpty ? nil : PercentCoding.decode($0) }
        guard parts.first == "", segments.count == parts.count - 1 else { throw APIError(.noSuchPath) }
        var methods: [String] = []
        for place in places[segments.count] ?? [] {
            let row = rows[place]
            guard let values = row.path.values(in: segments),
                zip(row.pathKinds, values).allSatisfy({ $0.admits($1) })
            else { continue }
            if row.method.rawValue == method { return Match(row: row, path: values) }
            methods.append(row.method.rawValue)
        }
        guard !methods.isEmpty else { throw APIError(.noSuchPath) }
        throw APIError(.badMethod, hint: "It takes \(methods.joined(separator: ", ")).")
    }
}

/// A run as people name it: `JOB#N`, or `JOB` alone for a run of the job that the daemon chooses.
///
/// Which one that is, each endpoint says: the newest one, or for a cancellation the active one. In a path it is the
/// word `newest` in place of the number.
package enum RunTarget: Hashable, Sendable, CustomStringConvertible {
    /// This run.
    case run(RunName)
    /// The run that the job's name stands for.
    case newest(of: String)

    private static let word = "newest"

    /// Reads `JOB#N` or `JOB`; nil when `text` is anything else.
    package init?(_ text: String) {
        if let name = RunName(text) {
            self = .run(name)
        } else if !text.isEmpty, !text.contains("#") {
            self = .newest(of: text)
        } else {
            return nil
        }
    }

    /// The job.
    package var job: String {
        switch self {
        case .run(let name): name.job
        case .newest(let job): job
        }
    }

    /// `JOB#N` or `JOB`.
    package var description: String {
        switch self {
        case .run(let name): "\(name)"
        case .newest(let job): job
        }
    }

    /// Whether the number of a path means the run that the job's name stands for.
    static func isWord(_ segment: String) -> Bool { segment == word }
}

extension RunTarget: PathParameters {
    /// A name, and a number or `newest`.
    package static var kinds: [PathKind] { [.text, .ordinalOrNewest] }

    /// The run of a name and a number, or of a name alone.
    package init?(segments: [String]) {
        guard segments.count == 2 else { return nil }
        if Self.isWord(segments[1]) {
            self = .newest(of: segments[0])
        } else if let name = RunName(segments: segments) {
            self = .run(name)
        } else {
            return nil
        }
    }

    /// The name, and the number or `newest`.
    package var segments: [String] {
        switch self {
        case .run(let name): name.segments
        case .newest(let job): [job, Self.word]
        }
    }
}

extension Endpoint where Path == RunTarget, Body == Nothing {
    /// The call for one run.
    package func callAsFunction(_ run: RunName, query: Query = Query()) -> Call<Answer> {
        self(.run(run), query: query)
    }
}
