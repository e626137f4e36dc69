import Delivery
package import Ledger
package import Logging
package import Timeline

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
