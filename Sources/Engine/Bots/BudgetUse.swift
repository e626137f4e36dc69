import Delivery
package import Prompting
import Timeline
package import Tracking

/// How far a bot is in its budget of a month.
package struct BudgetUse: Hashable, Sendable {
    /// How near to its end.
    package enum Level: Int, Hashable, Sendable, Comparable {
        /// Far from it.
        case none
        /// Four fifths are used.
        case near
        /// Nothing is left: the bot is asked nothing more in this month.
        case reached

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much of it, in percent, is worth a warning.
    static let warningPercent = 80.0

    package var budget: Budget
    /// What was used in the month.
    package var used: BotUsage

    package init(_ budget: Budget, used: BotUsage) {
        self.budget = budget
        self.used = used
    }

    /// The share that is used of what is nearer to its end, in percent.
    package var percent: Double {
        let ofMoney = budget.micros.map { Double(used.costMicros ?? 0) / Double(max($0, 1)) }
        let ofTokens = budget.tokens.map { Double(used.tokens) / Double(max($0, 1)) }
        return 100 * max(ofMoney ?? 0, ofTokens ?? 0)
    }

    package var level: Level {
        percent >= 100 ? .reached : percent >= Self.warningPercent ? .near : .none
    }

    /// The most it may cost, in USD; nil: there is no such limit.
    package var limitUSD: Double? { budget.usd }

    /// The most tokens it may use; nil: there is no such limit.
    package var limitTokens: Int? { budget.tokens }

    /// What is left in USD; nil: there is no such limit.
    package var leftUSD: Double? {
        budget.micros.map { Double(max($0 - (used.costMicros ?? 0), 0)) / 1_000_000 }
    }

    /// The tokens that are left; nil: there is no such limit.
    package var leftTokens: Int? { budget.tokens.map { max($0 - used.tokens, 0) } }

    /// The budget as the ledger compares it: another one is reported again.
    var limit: String { "\(budget.micros.map(String.init) ?? "-")/\(budget.tokens.map(String.init) ?? "-")" }

    /// The fact that this level was reached in the month.
    func fact(of bot: String, in month: CalendarMonth) -> Fact {
        .botBudget(
            Fact.BotBudget(
                bot: bot, reason: level == .reached ? .budgetReached : .budgetNear,
                Fact.BotBudget.Payload(
                    month: month.text, costUsd: used.costUSD, limitUsd: budget.usd, tokens: used.tokens,
                    limitTokens: budget.tokens)))
    }

    /// Why the bot is asked nothing more, without a full stop.
    func refusal(of bot: String, in month: CalendarMonth) -> String {
        "\(bot): its budget for \(month.name) is used up (\(words)); raise bots.\(bot).budget, "
            + "or wait until 1 \(month.next.name)"
    }

    /// `$5.03 of $5.00`.
    package var words: String {
        let money = budget.micros.map {
            "\(UsageWords.dollars(micros: used.costMicros ?? 0)) of \(UsageWords.dollars(micros: $0))"
        }
        let tokens = budget.tokens.map {
            "\(UsageWords.grouped(Int64(used.tokens))) of \(UsageWords.tokens($0))"
        }
        return [money, tokens].compactMap(\.self).joined(separator: ", ")
    }
}
