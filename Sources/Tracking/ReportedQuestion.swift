import Timeline

/// A question that a job asks by a datagram: the keys `X_QUESTION`, `X_QUESTION_KEY`, `X_CHOICES`, `X_DEFAULT` and
/// `X_AFTER`.
///
/// The job goes on meanwhile; it reads the answer by asking under the same key again, as `belfry confirm --key` does.
public struct ReportedQuestion: Hashable, Sendable {
    /// What to ask; not only blanks, at most ``longestText`` characters.
    public var text: String
    /// What names the question within its run; the text where the job gives none.
    public var key: String
    /// The answers to choose from; empty: any text is an answer.
    public var choices: [String]
    /// What counts as the answer at the deadline; one of the choices, where there are any.
    public var fallback: String?
    /// How long it can be answered; `nil`: as long as its run lasts.
    public var openFor: Duration?

    /// The id of the question under a key of a run, always the same.
    package static func id(of key: String, in run: String) -> String { NamedID.of("question \(run) \(key)") }

    /// The most characters of a question, and of its key.
    public static let (longestText, longestKey) = (4000, 200)
    /// The most characters of a choice, and the most choices.
    public static let (longestChoice, mostChoices) = (60, 10)

    /// A question; `nil`: it can't be asked as it stands.
    ///
    /// - Parameters:
    ///   - text: what to ask.
    ///   - key: what names it; empty: the text does.
    ///   - choices: separated by commas; absent: `yes,no`; empty: any text is an answer.
    ///   - fallback: what counts as the answer at the deadline; it needs one.
    ///   - after: the deadline, as `30m`.
    public init?(text: String, key: String, choices: String?, fallback: String?, after: String?) {
        guard !text.allSatisfy(\.isWhitespace), text.count <= Self.longestText,
            key.count <= Self.longestKey
        else { return nil }
        let list = (choices ?? "yes,no").split(separator: ",").map { CleanText.line(String($0), limit: 100) }
        guard list.count <= Self.mostChoices,
            list.allSatisfy({ !$0.isEmpty && $0.count <= Self.longestChoice }),
            Set(list.map { $0.lowercased() }).count == list.count
        else { return nil }
        if let after {
            guard let duration = try? Duration(text: after), duration > .zero else { return nil }
            openFor = duration
        }
        if let fallback, !fallback.isEmpty {
            guard openFor != nil, list.isEmpty || list.contains(fallback) else { return nil }
            self.fallback = fallback
        }
        (self.text, self.choices) = (text, list)
        self.key = key.isEmpty ? text : key
    }
}

/// Ids that are always the same for one name: whoever asks again after a crash asks under it.
package enum NamedID {
    /// A version 8 id in the form of RFC 9562.
    ///
    /// - Source: RFC 9562, section 5.8; two FNV-1a hashes.
    package static func of(_ name: String) -> String {
        func hash(_ start: UInt64) -> UInt64 {
            name.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
        let high = hash(0xCBF2_9CE4_8422_2325) & ~0xF000 | 0x8000
        let low = hash(0x9E37_79B9_7F4A_7C15) & ~(0b11 << 62) | 0b10 << 62
        let digits = [high, low].map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
