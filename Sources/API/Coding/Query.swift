/// The part of a request's target after `?`.
package struct Query: Hashable, Sendable {
    /// Names and values, decoded, in order.
    package private(set) var pairs: [Pair]

    /// A name with its value.
    package struct Pair: Hashable, Sendable {
        /// Decoded.
        package var name: String
        /// Decoded; empty when there is no `=`.
        package var value: String
    }

    /// An empty query.
    package init() {
        pairs = []
    }

    /// Reads `a=1&b=2`; a pair that can't be decoded is left out.
    package init(_ text: some StringProtocol) {
        pairs = text.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0]),
                let value = parts.count > 1 ? PercentCoding.decode(parts[1]) : ""
            else { return nil }
            return Pair(name: name, value: value)
        }
    }

    /// The first value of `name`; setting nil removes it.
    package subscript(name: String) -> String? {
        get { pairs.first { $0.name == name }?.value }
        set {
            pairs.removeAll { $0.name == name }
            if let newValue { pairs.append(Pair(name: name, value: newValue)) }
        }
    }

    /// `?a=1&b=2`, or nothing when there is nothing in it.
    package var suffix: String {
        guard !pairs.isEmpty else { return "" }
        return "?"
            + pairs.map { PercentCoding.encode($0.name) + "=" + PercentCoding.encode($0.value) }
            .joined(separator: "&")
    }
}
