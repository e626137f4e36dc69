/// The beginning of an id, or of its last eight digits: what a person types instead of all of it.
///
/// Ids begin with the time, so that those of one minute share their first eight digits. The last eight are random:
/// listings show them, as they differ for what was made in the same second and do not depend on what else is listed.
package struct ShortID: Hashable, Sendable {
    /// How many digits of an id listings show.
    package static let shownDigits = 8
    /// Fewer digits are no short id.
    package static let leastDigits = 4

    /// Lowercase hexadecimal digits and dashes.
    package let text: String

    /// Reads what a person typed; nil: it is too short, or no part of an id.
    package init?(_ text: String) {
        let digits = text.lowercased()
        guard digits.utf8.count >= Self.leastDigits,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || $0 == 0x2D })
        else { return nil }
        self.text = digits
    }

    /// What sorts right after every id that begins with it.
    package var upperBound: String { text + "g" }

    /// The short form of each of `ids` in a listing: its last digits, or all of it where two of them share those.
    package static func shown(_ ids: [String]) -> [String] {
        let ends = ids.map { String($0.suffix(shownDigits)) }
        let counts = Dictionary(zip(ends, ids).map { ($0, Set([$1])) }) { $0.union($1) }
        return zip(ends, ids).map { counts[$0]?.count == 1 ? $0 : $1 }
    }
}

/// What has an id that can be shortened.
package enum IDKind: String, Hashable, Sendable, CaseIterable {
    case run, message, outbox, question
}

/// What is read to find the thing that a person means by a short id.
package protocol IDReading: Sendable {
    /// The ids of that kind that begin as `short` does, or, if there are none, whose last eight digits do; the newest
    /// `limit`, newest first.
    ///
    /// - Complexity: O(log n) by the beginning of an id, O(n) by its last digits. Those have no index: every write
    ///   would pay for it, and no keeper asks for them.
    func ids(of kind: IDKind, matching short: ShortID, limit: Int) async throws(LedgerError) -> [String]
}
