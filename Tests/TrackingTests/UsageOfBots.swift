import Testing
import Tracking

@Suite struct `the usage of a bot` {
    @Test func `adds up, and costs what has a price`() {
        let priced = BotUsage(inputTokens: 10, cachedTokens: 4, outputTokens: 3, costMicros: 70)
        let free = BotUsage(inputTokens: 1, outputTokens: 2)
        #expect(
            priced + free == BotUsage(inputTokens: 11, cachedTokens: 4, outputTokens: 5, costMicros: 70))
        #expect((free + free).costMicros == nil)
        let most = BotUsage(inputTokens: .max, cachedTokens: .max, outputTokens: .max, costMicros: .max)
        #expect(most + priced == most && most.tokens == .max)
        #expect(priced.tokens == 13 && priced.costUSD == 0.00007)
    }

    @Test(arguments: [
        (0, "$0.00"), (5_000_000, "$5.00"), (5_034_999, "$5.03"), (5_035_000, "$5.04"), (99_999, "$0.1000"),
        (100_000, "$0.10"), (12_340, "$0.0123"), (49, "$0.0000"), (50, "$0.0001"),
        (1_234_567_890_000, "$1,234,567.89"), (-12_340, "-$0.0123"),
        (.max, "$9,223,372,036,854.78"), (.min, "-$9,223,372,036,854.78"),
    ])
    func `is shown in dollars, small amounts more exactly`(micros: Int64, text: String) {
        #expect(UsageWords.dollars(micros: micros) == text)
    }

    @Test func `is shown in grouped tokens`() {
        #expect(UsageWords.tokens(1) == "1 token" && UsageWords.tokens(999) == "999 tokens")
        #expect(UsageWords.tokens(1_234_567) == "1,234,567 tokens")
        #expect(UsageWords.grouped(-1000) == "-1,000" && UsageWords.grouped(.min).hasPrefix("-9,223,"))
    }
}
