import API
import TerminalView
import Tracking

/// Bots in words.
enum BotText {
    /// `1,234 tokens read (1,000 cached), 56 written, $0.0123`.
    static func usage(_ usage: WireUsage) -> String {
        let cached = usage.cachedTokens.map { " (\(UsageWords.grouped(Int64($0))) cached)" } ?? ""
        let tokens =
            "\(UsageWords.tokens(usage.inputTokens)) read\(cached), "
            + "\(UsageWords.grouped(Int64(usage.outputTokens))) written"
        return usage.costUsd.map { "\(tokens), \(dollars($0))" } ?? tokens
    }

    /// `$5.00`.
    static func dollars(_ usd: Double) -> String {
        UsageWords.dollars(micros: Int64((min(max(usd, -1e9), 1e9) * 1_000_000).rounded()))
    }
}
