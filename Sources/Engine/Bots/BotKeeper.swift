import Delivery
package import Ledger
package import Logging
package import Prompting
package import Timeline
package import Tracking

/// How a bot is doing.
package enum BotStatus: String, Hashable, Sendable, Codable, CaseIterable {
    /// It can be asked.
    case online
    /// It is being asked.
    case working
    /// It can't be asked before somebody changes something, or a month or a limit ends.
    case blocked
    /// It can't be reached.
    case offline
}

/// All that its status follows from.
package struct BotKnowledge: Hashable, Sendable {
    /// Why it can't be asked as it is configured; nil: it can.
    package var fault: String?
    /// How far it is in its budget; nil: it has none.
    package var budget: BudgetUse?
    /// The last reply it completed, and the last attempt that failed, since it is configured as it is.
    package var lastSuccess: Moment?
    package var lastFailure: BotRecord.Failure?
    /// How its connection is; nil: it keeps none.
    package var link: BotLink?
    /// Since when a run of it is under way; nil: none is.
    package var workingSince: Moment?

    package init() {}

    /// The status, and why.
    package var view: BotView {
        if let fault { return BotView(.offline, reason: Self.badSecret, text: fault) }
        if let trouble = link?.trouble { return trouble }
        if let workingSince { return BotView(.working, since: workingSince) }
        if let budget, budget.level == .reached {
            return BotView(
                .blocked, reason: RunReason.budget.rawValue, text: "its budget is used up: \(budget.words)")
        }
        // Its connection was made again since.
        let isPast = lastFailure.map { failure in (link?.since).map { failure.at <= $0 } ?? false } ?? true
        guard let failure = lastFailure, !isPast, failure.at > lastSuccess ?? .distantPast,
            let status = Self.status(after: failure.reason)
        else { return BotView(.online, since: link?.since) }
        return BotView(
            status, reason: failure.reason.rawValue, text: failure.text ?? failure.reason.words,
            since: failure.at)
    }

    private static let badSecret = "badSecret"

    /// What a failure shows of the bot; nil: nothing, it was the prompt's.
    private static func status(after reason: RunReason) -> BotStatus? {
        switch reason {
        // Somebody must do something, or wait.
        case .auth, .model, .budget, .rateLimited: .blocked
        case .botUnavailable, .overloaded, .providerFailed, .silent, .truncated, .malformed, .notFound,
            .notExecutable:
            .offline
        default: nil
        }
    }
}

/// A bot's status as people see it.
package struct BotView: Hashable, Sendable {
    package var status: BotStatus
    /// Why, as a word for programs; nil: it can be asked.
    package var reason: String?
    /// Why, as a sentence without a full stop.
    package var text: String?
    /// Since when; nil: not known.
    package var since: Moment?

    package init(_ status: BotStatus, reason: String? = nil, text: String? = nil, since: Moment? = nil) {
        self.status = status
        self.reason = reason
        self.text = text
        self.since = since
    }
}

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

/// Names the month of the calendar that a moment lies in: `2026-11`.
package typealias MonthLookup = @Sendable (Moment) -> String

/// A month of the calendar in a zone: what budgets are counted by.
package struct CalendarMonth: Hashable, Sendable {
    private let first: CivilDate

    /// The month that `moment` lies in, by the clocks of `zone`.
    package init(_ moment: Moment, in zone: ZoneRules) {
        var date = CivilTime(moment, in: zone).date
        date.day = 1
        first = date
    }

    /// `2026-11`.
    package var text: String { "\(first.year)-\(first.month < 10 ? "0" : "")\(first.month)" }

    /// `November`.
    package var name: String { Self.names[first.month - 1] }

    /// The month after it.
    package var next: CalendarMonth {
        CalendarMonth(
            first: first.month == 12
                ? CivilDate(year: first.year + 1, month: 1, day: 1)
                : CivilDate(year: first.year, month: first.month + 1, day: 1))
    }

    /// When it begins by the clocks of `zone`.
    package func start(in zone: ZoneRules) -> Moment { zone.instants(of: CivilTime(first)).first }

    private init(first: CivilDate) { self.first = first }

    private static let names = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    ]
}

/// Records, as events, how bots are doing and how far they are in their budgets.
package actor BotKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let desk: BotDesk
    private let activeConfiguration: ActiveConfiguration

    package init(
        ledger: any Ledger, desk: BotDesk, activeConfiguration: ActiveConfiguration, clock: any WallClock,
        logger: Logger
    ) {
        self.ledger = ledger
        self.desk = desk
        self.activeConfiguration = activeConfiguration
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "the state of bots can't be recorded")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] {
        [commitsThatTouch(.bots), .each(activeConfiguration.taps()), .each(desk.links.taps())]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        let surveys = try await desk.survey()
        guard !surveys.isEmpty else { return .whenRung }
        let now = loop.clock.now
        let month = desk.month(of: now)
        let changes = surveys.sorted { $0.key < $1.key }.flatMap { name, survey in
            BotNews(name: name, survey: survey, month: month).changes(at: now)
        }
        if !changes.isEmpty { try await ledger.commit(changes) }
        // A budget begins again with the month.
        return .at(month.next.start(in: desk.zone))
    }
}

/// What is new about a bot since it was reported last.
///
/// Pure: what is known of it in, what is written out.
struct BotNews {
    var name: String
    var survey: BotSurvey
    var month: CalendarMonth

    /// The events, with the note that keeps each from being written twice.
    func changes(at now: Moment) -> [Change] {
        var note = survey.record.note
        let facts = [budget(&note), status(&note, at: now)].compactMap(\.self)
        if let configured = survey.configured {
            (note.configuration, note.configuredSince) = (configured.mark, configured.since)
        }
        guard note != survey.record.note else { return [] }
        return [.noteBot(name, note)] + facts.map { .append(NewEvent($0, at: now)) }
    }

    /// Each level once a month and budget.
    private func budget(_ note: inout BotNote) -> Fact? {
        guard let use = survey.knowledge.budget, use.level > .none else { return nil }
        let isSame = note.budgetMonth == month.text && note.budgetLimit == use.limit
        guard !isSame || note.budgetLevel < use.level.rawValue else { return nil }
        (note.budgetMonth, note.budgetLimit, note.budgetLevel) = (month.text, use.limit, use.level.rawValue)
        return use.fact(of: name, in: month)
    }

    /// Whether it works makes no news: who asks it knows.
    private func status(_ note: inout BotNote, at now: Moment) -> Fact? {
        let view = survey.knowledge.view
        guard survey.knowledge.link?.isSettled ?? true else { return nil }
        guard note.status ?? BotStatus.online.rawValue != view.status.rawValue || note.reason != view.reason
        else { return nil }
        (note.status, note.reason, note.since) = (view.status.rawValue, view.reason, view.since ?? now)
        return .botStatus(
            Fact.BotStatus(
                bot: name, reason: view.reason,
                Fact.BotStatus.Payload(status: view.status.rawValue, message: view.text)))
    }
}
