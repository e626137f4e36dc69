/// What resumes a conversation that a bot's provider keeps: opaque, and of use to that provider alone.
package struct Continuation: Hashable, Sendable, Codable {
    /// The provider, so that no id of one ever reaches another.
    package var provider: String
    /// Its session, thread or conversation.
    package var id: String
    /// What the whole conversation used so far, of a provider that reports nothing else; nil: not known.
    package var used: BotUsage?

    /// The conversation `id` of a provider.
    package init(provider: String, id: String, used: BotUsage? = nil) {
        self.provider = provider
        self.id = id
        self.used = used
    }

    /// The conversation that a program of a `provider` reported; nil: it reported none, or one that must not be resumed.
    package init?(reported id: String?, by provider: String) {
        guard let id else { return nil }
        self.init(provider: provider, id: id)
        guard isSafe else { return nil }
    }

    /// Whether its id may stand in a command line: no option, no path, nothing but the characters of ids.
    ///
    /// A program prints the id, and what it prints may be another's text.
    package var isSafe: Bool {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: false
            }
        }
        let marks: [UInt8] = [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")]
        return id.utf8.first.map(isPlain) == true && id.utf8.count <= 128
            && id.utf8.allSatisfy { isPlain($0) || marks.contains($0) }
    }
}

/// What happened to the session of a bot's provider in one attempt.
package enum SessionOutcome: Hashable, Sendable {
    /// The next prompt may resume it.
    case kept(Continuation)
    /// The provider does not know it any more: the next prompt begins another one.
    case lost
}

/// What replies of a bot used: tokens, and what they cost.
package struct BotUsage: Hashable, Sendable, Codable {
    /// Tokens that were read, those of a cache included.
    package var inputTokens: Int
    /// Of those, the tokens found in the provider's cache.
    package var cachedTokens: Int
    /// Tokens that were written.
    package var outputTokens: Int
    /// The cost in millionths of a USD; nil: no price is known.
    package var costMicros: Int64?

    /// Nothing used, and nothing known of a cost, unless given.
    package init(
        inputTokens: Int = 0, cachedTokens: Int = 0, outputTokens: Int = 0, costMicros: Int64? = nil
    ) {
        self.inputTokens = inputTokens
        self.cachedTokens = cachedTokens
        self.outputTokens = outputTokens
        self.costMicros = costMicros
    }

    /// The tokens of both directions.
    package var tokens: Int { Self.sum(inputTokens, outputTokens) }

    /// The cost in USD; nil: no price is known.
    package var costUSD: Double? { costMicros.map { Double($0) / 1_000_000 } }

    /// Both together; the cost is that of what has a price.
    package static func + (left: BotUsage, right: BotUsage) -> BotUsage {
        let costs = [left.costMicros, right.costMicros].compactMap(\.self)
        return BotUsage(
            inputTokens: sum(left.inputTokens, right.inputTokens),
            cachedTokens: sum(left.cachedTokens, right.cachedTokens),
            outputTokens: sum(left.outputTokens, right.outputTokens),
            costMicros: costs.isEmpty ? nil : costs.reduce(0, sum))
    }

    /// The sum, or the largest number there is: what was stored of hostile counts ends nobody.
    private static func sum<Number: FixedWidthInteger>(_ left: Number, _ right: Number) -> Number {
        let (sum, isBeyond) = left.addingReportingOverflow(right)
        return !isBeyond ? sum : left < 0 ? .min : .max
    }
}

/// Amounts of money and tokens in words.
package enum UsageWords {
    /// `$5.00`; below ten cents `$0.0123`.
    package static func dollars(micros: Int64) -> String {
        let size = micros.magnitude
        let digits = size < 100_000 && micros != 0 ? 4 : 2
        let unit: UInt64 = digits == 4 ? 100 : 10_000
        // Rounded to the nearest unit, away from zero.
        let units = (size + unit / 2) / unit
        let whole = digits == 4 ? units / 10_000 : units / 100
        let part = String(digits == 4 ? units % 10_000 : units % 100)
        let sign = micros < 0 ? "-" : ""
        return "\(sign)$\(grouped(Int64(whole))).\(String(repeating: "0", count: digits - part.count))\(part)"
    }

    /// `1 token`, `12,345 tokens`, `12,345 input tokens`.
    package static func tokens(_ count: Int, _ kind: String? = nil) -> String {
        "\(grouped(Int64(count))) \(kind.map { $0 + " " } ?? "")token\(count == 1 ? "" : "s")"
    }

    /// `1,200 input tokens (200 cached), 34 output tokens`.
    package static func tokens(read: Int, cached: Int? = nil, written: Int) -> String {
        let cached = cached.map { " (\(grouped(Int64($0))) cached)" } ?? ""
        return "\(tokens(read, "input"))\(cached), \(tokens(written, "output"))"
    }

    /// `12,345`.
    package static func grouped(_ number: Int64) -> String {
        var text = ""
        for (place, digit) in String(number.magnitude).reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }
}
