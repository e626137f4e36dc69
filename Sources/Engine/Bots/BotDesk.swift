import Delivery
package import Ledger
package import Performing
package import Prompting
import Synchronization
package import Timeline
import Tracking

/// The bots as they are configured now: whether one may be asked, and what is known of each.
package final class BotDesk: Sendable {
    /// A bot's provider as it was read, and since when it is configured so.
    private struct Reading {
        var contact: SharedContact
        var since: Moment
        var mark: String
        /// Whether it is the first one since the daemon began, so that it may have been the same before.
        var isFirst: Bool
    }

    private let ledger: any Ledger
    private let activeConfiguration: ActiveConfiguration
    private let zones: ZoneLookup
    private let clock: any WallClock
    /// How the connections of bots are that keep one.
    package let links: BotLinks
    private let readings = Mutex<[String: Reading]>([:])

    package init(
        ledger: any Ledger, activeConfiguration: ActiveConfiguration, zones: @escaping ZoneLookup,
        clock: any WallClock, links: BotLinks = BotLinks()
    ) {
        self.links = links
        self.ledger = ledger
        self.activeConfiguration = activeConfiguration
        self.zones = zones
        self.clock = clock
        _ = read()
    }

    // MARK: Months

    /// The zone that months are counted in: the one of the configuration.
    package var zone: ZoneRules { zones(activeConfiguration.configuration.zone) ?? .utc }

    /// The month that `moment` lies in.
    package func month(of moment: Moment) -> CalendarMonth { CalendarMonth(moment, in: zone) }

    // MARK: Asking

    /// The bot of that name, to be asked now; nil: nobody described it.
    ///
    /// - Throws: why it must not be asked: its budget is used up, or nobody can know.
    package func bot(_ name: String) async throws(AttemptFault) -> BotInUse? {
        guard let contact = activeConfiguration.configuration.bots[name]?.contact else { return nil }
        guard let budget = contact.budget else { return contact }
        let month = month(of: clock.now)
        let used: BotUsage
        do throws(LedgerError) {
            used = try await ledger.months(of: name).first { $0.month == month.text }?.usage ?? BotUsage()
        } catch {
            throw AttemptFault(
                .botUnavailable, "\(name): what it has used can't be read: \(error)", mayPass: true,
                wasTried: false)
        }
        let use = BudgetUse(budget, used: used)
        guard use.level < .reached else {
            throw AttemptFault(.budget, use.refusal(of: name, in: month), wasTried: false)
        }
        return contact
    }

    // MARK: Knowing

    /// What is known of each bot that has a provider, by name, but for whether it is at work.
    package func survey() async throws(LedgerError) -> [String: BotSurvey] {
        let readings = read()
        guard !readings.isEmpty else { return [:] }
        let records = try await ledger.bots().reduce(into: [:]) { $0[$1.name] = $1 }
        let months = Dictionary(grouping: try await ledger.months(of: nil), by: \.bot)
        let now = month(of: clock.now).text
        return readings.reduce(into: [:]) { surveys, entry in
            let (name, reading) = entry
            var survey = BotSurvey(record: records[name] ?? BotRecord(name: name))
            let own = months[name] ?? []
            survey.month = own.first { $0.month == now } ?? BotMonth(bot: name, month: now)
            survey.total = own.reduce(BotMonth(bot: name, month: "")) { sum, month in
                var sum = sum
                sum.replies += month.replies
                sum.usage = sum.usage + month.usage
                return sum
            }
            survey.knowledge.fault = reading.contact.value.fault
            survey.knowledge.link = links[name]
            survey.knowledge.budget = reading.contact.value.budget.map {
                BudgetUse($0, used: survey.month.usage)
            }
            let note = survey.record.note
            let isKnown = reading.isFirst && note.configuration == reading.mark
            let configuredSince = isKnown ? note.configuredSince ?? reading.since : reading.since
            survey.configured = BotSurvey.Configured(mark: reading.mark, since: configuredSince)
            survey.knowledge.lastSuccess = survey.record.lastSuccess?.at
            // A failure from before it was configured as it is now shows nothing.
            survey.knowledge.lastFailure = survey.record.lastFailure.flatMap {
                $0.at >= configuredSince ? $0 : nil
            }
            surveys[name] = survey
        }
    }

    /// The bots with a provider as they are now; one whose provider was changed is so since now.
    private func read() -> [String: Reading] {
        let bots = activeConfiguration.configuration.bots
        let now = clock.now
        return readings.withLock { readings in
            let old = readings
            readings = bots.compactMapValues { bot in
                bot.shared.map { contact in
                    if let last = old[bot.name], last.contact == contact { return last }
                    return Reading(
                        contact: contact, since: now, mark: contact.value.mark(of: bot.name),
                        isFirst: old[bot.name] == nil)
                }
            }
            return readings
        }
    }
}

/// What is known of one bot.
package struct BotSurvey: Sendable {
    /// How it is configured, and since when.
    struct Configured: Hashable {
        /// The same for the same configuration.
        var mark: String
        var since: Moment
    }

    /// What the ledger has of it.
    package var record: BotRecord
    /// How it is configured; nil: nobody noted it.
    var configured: Configured?
    /// What it used in this month.
    package var month: BotMonth
    /// What it used in all months.
    package var total: BotMonth
    /// What its status follows from.
    package var knowledge = BotKnowledge()

    init(record: BotRecord) {
        self.record = record
        month = BotMonth(bot: record.name, month: "")
        total = month
    }

    /// Its status now; of one that is not at work it is known since when.
    package var view: BotView {
        var view = knowledge.view
        if view.status.rawValue == record.note.status, view.reason == record.note.reason {
            view.since = record.note.since
        }
        return view
    }
}

extension BotInUse {
    /// The same text for the same configuration of the bot of that name, and too short to show anything of its key.
    fileprivate func mark(of name: String) -> String {
        let parts = [name, "\(self)"] + secrets.keys.flatMap { [$0] + secrets[$0] }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in parts.joined(separator: "\0").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(UInt32(truncatingIfNeeded: hash ^ hash >> 32), radix: 16)
    }
}

/// How the connections of bots are that keep one, as whoever makes them reports it.
package final class BotLinks: Sendable {
    private let known = Mutex<[String: BotLink]>([:])
    private let changes = Broadcast<Void>()

    /// Nothing is known.
    package init() {}

    /// Notes how the bot's connection is now; nil: it has none any more.
    package func note(_ bot: String, _ link: BotLink?) {
        let isNews = known.withLock { known in
            let old = known[bot]
            known[bot] = link
            // How long an answer took is shown to whoever asks, and is no news.
            var same = old
            same?.latency = link?.latency
            return same != link
        }
        if isNews { changes.publish(()) }
    }

    /// How the bot's connection is; nil: it keeps none.
    package subscript(bot: String) -> BotLink? { known.withLock { $0[bot] } }

    /// An element at once, and after each change.
    package func taps() -> AsyncStream<Void> { changes.values(first: ()) }
}

/// How the connection of a bot is that keeps one.
package struct BotLink: Hashable, Sendable {
    /// Why the bot can't be asked; nil: it is connected.
    package var trouble: BotView?
    /// Whether that is known: not before the first attempt to connect has ended.
    package var isSettled: Bool
    /// Since when it is so.
    package var since: Moment?
    /// How long the other side took to answer last; nil: not known.
    package var latency: Duration?

    /// A connection; one that is there unless `trouble` is given.
    package init(
        trouble: BotView? = nil, isSettled: Bool = true, since: Moment? = nil, latency: Duration? = nil
    ) {
        (self.trouble, self.isSettled) = (trouble, isSettled)
        (self.since, self.latency) = (since, latency)
    }
}
