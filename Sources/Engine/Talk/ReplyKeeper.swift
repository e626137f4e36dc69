import Cron
import Delivery
import Grouping
package import Ledger
package import Logging
import Performing
import Prompting
package import Timeline
import Tracking

/// Hands over what mentions another bot, and makes a run for each conversation in which a person said something that no run was given.
///
/// The rows say what is due: after a crash nothing is lost, and by the run's cause nothing is asked twice.
package actor ReplyKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let slots: SlotKeeper
    private let census: RunCensus
    /// Whether a conversation waits for the end of a run.
    private let heldUp = Flag(false)
    /// Whether a run was refused: it is asked for again with whatever happens in a conversation.
    private let refused = Flag(false)
    private var handOff: HandOff

    /// A keeper that has its runs made by `slots`, and finds those that have not ended in `census`; `speakers` are the
    /// bots that answer, to whom others may hand over.
    package init(
        ledger: any Ledger, clock: any WallClock, slots: SlotKeeper, census: RunCensus,
        makeID: @escaping @Sendable () -> String, speakers: @escaping @Sendable () -> Set<String>,
        logger: Logger
    ) {
        self.ledger = ledger
        handOff = HandOff(ledger: ledger, makeID: makeID, speakers: speakers)
        self.slots = slots
        self.census = census
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "replies can't be asked for")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] {
        let (bell, heldUp, refused) = (loop.bell, heldUp, refused)
        // Runs end and messages come all the time; only what a conversation waits for matters.
        let others = ledger.observeCommits { stations in
            let isAwaited =
                stations.contains(.runs) && heldUp.isSet || stations.contains(.talk) && refused.isSet
            if isAwaited { bell.ring() }
        }
        return [commitsThatTouch(.replies), .observing(others)]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        var handOff = handOff
        try await handOff.advance(at: loop.clock.now)
        self.handOff = handOff
        // Before the look: a run that ends during it rings.
        heldUp.set(true)
        refused.set(false)
        var isHeldUp = false
        for thread in try await ledger.unaskedThreads() {
            if try await isUnderWay(thread) {
                isHeldUp = true
            } else {
                try await ask(thread)
            }
        }
        heldUp.set(isHeldUp)
        return .whenRung
    }

    /// Whether a run of the conversation has not ended: it takes up what was said, or the next one does.
    private func isUnderWay(_ thread: UnaskedThread) async throws(LedgerError) -> Bool {
        let open = census.runs(of: ReplyRun.job(of: thread.bot))
        guard !open.isEmpty else { return false }
        return try await ledger.runs(ids: open)
            .contains { !$0.state.isEnded && $0.spec?.thread == thread.thread }
    }

    private func ask(_ thread: UnaskedThread) async throws(LedgerError) {
        let spec = JobSpec(replyIn: thread.thread, of: thread.bot)
        // Neither alone: of many messages the first run answers only the oldest.
        let cause = RunCause.reply(thread.newest, from: thread.first)
        do throws(EngineError) {
            _ = try await slots.request(
                RequestedRun(job: spec.name, kind: .reply, cause: cause, spec: spec))
        } catch {
            if case .ledger(let failure) = error { throw failure }
            refused.set(true)
            loop.logger.debug("no run was made for a reply", metadata: ["reason": "\(error)"])
        }
    }
}

/// The runs that answer people.
package enum ReplyRun {
    /// The first attempt counts: five more follow after 5, 10, 20, 40 and 80 s.
    static let attempts = 6
    /// Before the second attempt; doubled for each one after it.
    static let backoff = Duration.seconds(5)
    /// A provider that can't be reached is tried again no later than this.
    static let longestWait = Duration.seconds(300)
    /// A message that could not be given to its bot for so long expires.
    package static let messageExpiry = Duration.seconds(24 * 3600)

    /// Whether the run's bot could not be reached, which it may be later; an attempt that ended with the daemon before
    /// its bot said anything shows no more of it.
    static func isAway(_ run: RunRecord, _ fault: AttemptFault?, isCutBeforeOutput: Bool = false) -> Bool {
        guard run.kind == .reply else { return false }
        return isCutBeforeOutput || fault?.reason == .botUnavailable && fault?.mayPass == true
    }

    /// Whether that is so for too long: since the run was queued it has `waited` so long.
    static func hasExpired(
        _ run: RunRecord, _ fault: AttemptFault?, isCutBeforeOutput: Bool = false, waited: Duration
    ) -> Bool {
        isAway(run, fault, isCutBeforeOutput: isCutBeforeOutput) && waited >= messageExpiry
    }

    /// Whether a run that ended so settles what it was to answer without a reply: it is neither asked again, nor shown
    /// to its bot later.
    ///
    /// A provider that finds a prompt too long, or declines it, does so each time, and each later prompt of the thread
    /// would hold it; what expired was said too long ago.
    static func isSettled(by outcome: RunOutcome) -> Bool {
        guard outcome.state == .failed else { return false }
        return [.promptTooLong, .refused, .expired].contains(outcome.reason)
    }

    /// The name that the runs of a bot's conversations have.
    package static func job(of bot: String) -> String { bot.prefix(57) + ".reply" }
}

extension RunCause {
    /// What a person said, up to a message and from a row.
    static func reply(_ message: String, from row: Int64) -> String { "reply:\(message):\(row)" }
}

extension JobSpec {
    /// What a run does that answers what was said in a thread of a bot.
    init(replyIn thread: String, of bot: String) {
        self.init(
            name: ReplyRun.job(of: bot), bot: bot, action: .prompt(""),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        self.thread = thread
        // Each conversation has one run at a time; the bot's lane has them one by one, and one that waits for another
        // attempt holds up no other conversation.
        overlap = .allow
        attempts = ReplyRun.attempts
        backoff = ReplyRun.backoff
        retriesLost = true
    }
}

/// Hands what mentions another bot over to it: `@name` in something that a person says, or a bot.
///
/// The copy is a message in the other bot's thread of the same name, which it answers there.
struct HandOff {
    /// Up to which row messages were looked at, kept in the ledger.
    static let fact = "talk.handedOver"
    /// Bots that mention each other go back and forth no more often than this.
    static let mostHops = 3
    /// So many messages are looked at in one commit.
    private static let batch = 50
    /// The most messages between a person's and the reply to it.
    private static let reach = 100

    let ledger: any Ledger
    let makeID: @Sendable () -> String
    /// The bots that answer, by name.
    let speakers: @Sendable () -> Set<String>
    /// Up to which row messages were looked at; nil: that is not read yet.
    private var cursor: Int64?

    init(
        ledger: any Ledger, makeID: @escaping @Sendable () -> String,
        speakers: @escaping @Sendable () -> Set<String>
    ) {
        self.ledger = ledger
        self.makeID = makeID
        self.speakers = speakers
    }

    /// Looks at the messages since the last time, and hands over those that mention a bot, in one commit with the row
    /// up to which that was done.
    mutating func advance(at now: Moment) async throws(LedgerError) {
        while true {
            guard let start = try await begin() else { return }
            let found = try await ledger.mentions(after: start, limit: Self.batch)
            guard let last = found.messages.last else {
                cursor = max(start, found.last)
                return
            }
            var changes: [Change] = [.setFact(name: Self.fact, value: String(last.number))]
            for message in found.messages { changes += try await copies(of: message.record, at: now) }
            try await ledger.commit(changes)
            cursor = last.number
        }
    }

    /// Where to begin; nil: in a ledger that nobody looked at yet, behind what was said before.
    private mutating func begin() async throws(LedgerError) -> Int64? {
        if let cursor { return cursor }
        if let stored = try await ledger.fact(named: Self.fact).flatMap({ Int64($0) }) {
            cursor = stored
            return stored
        }
        let last = try await ledger.mentions(after: .max, limit: 1).last
        try await ledger.commit([.setFact(name: Self.fact, value: String(last))])
        cursor = last
        return nil
    }

    private func copies(of record: MessageRecord, at now: Moment) async throws(LedgerError) -> [Change] {
        let message = record.message
        // A copy was handed over already to all that it mentions.
        guard message.author == .bot || record.sender == nil else { return [] }
        let names = Mentions.names(in: message.text, among: speakers()).filter { $0 != message.bot }
        guard !names.isEmpty else { return [] }
        let hops = try await hops(of: record)
        guard hops < Self.mostHops else { return [] }
        return names.flatMap { name -> [Change] in
            let copy = Message(
                id: makeID(), bot: name, thread: message.thread, author: .user, text: message.text, at: now)
            var handed = MessageRecord(message: copy, read: true, replyTo: message.id)
            handed.sender = message.author == .bot ? message.bot : nil
            handed.hops = hops + 1
            return [
                .insertMessage(handed),
                .append(NewEvent(.messagePosted(Fact.Post(copy.id, bot: name)), at: now)),
            ]
        }
    }

    /// How many bots handed over what this message answers.
    private func hops(of record: MessageRecord) async throws(LedgerError) -> Int {
        guard record.message.author == .bot, let run = record.run else { return record.hops }
        let thread = try await ledger.messages(
            bot: record.message.bot, thread: record.message.thread, after: 0, limit: Self.reach)
        return thread.filter { $0.record.askedRun == run }.map(\.record.hops).max() ?? 0
    }
}
