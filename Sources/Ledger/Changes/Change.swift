package import Delivery
package import Grouping
package import Timeline
package import Tracking

// A table: every way the ledger can change, with the guard beside it.

/// One change of the ledger, with its guard.
///
/// A list of them is one transaction. Indirect, so that a list of ten thousand is small to hand around.
package indirect enum Change: Sendable {
    // MARK: Jobs

    /// Inserts the job or makes `job` its new revision, and keeps the revision's spec for its runs.
    /// Guard: the stored revision is `replacing` (nil: no such job, or a removed one), and the name never had
    /// the new revision; only with the very same spec may a revision be put again, to move the job's place.
    /// A stored pause stays: pausing is not editing.
    case putJob(JobRecord, replacing: Int?)
    /// Removes the job; its runs and its ordinals stay. Guard: the stored revision is `revision`.
    case removeJob(name: String, revision: Int)
    /// Pauses the job, or resumes it with nil. Guard: the job exists.
    case pauseJob(name: String, Pause?)

    // MARK: Slots

    /// Moves the watermark. Guard: it is `from` now; a new ledger has none and accepts the first.
    case moveWatermark(from: Watermark, to: Watermark)
    /// Records slots that did not run. Joins the span of the same job, era, state and reason whose last slot is
    /// `follows`; else a new row. A span that begins at the same slot is there already: ignored.
    /// Spans of a job and era do not overlap.
    case recordSpan(SlotSpan, follows: Moment?)

    // MARK: Runs

    /// Inserts a run under the next ordinal of its job. A run of the same (job, cause) is there already:
    /// ignored when `orIgnore`, else the guard fails.
    case insertRun(RunRecord, orIgnore: Bool)
    /// Moves a run. Guard: its state is one of `move.from` and no end, its attempt is `move.attempt`, its token
    /// is `move.token`; and to `starting` only while nobody wants it ended.
    case moveRun(RunMove)
    /// Ends a run that waits and was never started as skipped, superseded by a newer one, and appends the event
    /// of it. One that was started, or has ended: left as it is, and nothing is appended.
    case passOver(run: String, NewEvent)
    /// Asks for the run's end; the first reason stays. One that has ended: ignored.
    case askEnd(run: String, RunReason)
    /// Inserts or replaces the attempt (run, n). Guard: the run exists.
    case putAttempt(AttemptRecord)
    /// Saves where a run is. Older than what is stored (by attempt and `seq`), or no such run: ignored.
    case saveLive(run: String, LiveState)

    // MARK: Bots

    /// Adds what an attempt used to the bot's month, and keeps how it ended as the last one of its kind.
    case recordReply(BotReply)
    /// Inserts a bot, or makes the entry its new revision. Guard: the stored revision is `replacing` (nil: no such bot).
    case putBot(BotEntry, replacing: Int?)
    /// Removes a bot; what is known of it stays. Guard: the stored revision is `revision`.
    case removeBot(name: String, revision: Int)
    /// Replaces what was reported of a bot.
    case noteBot(String, BotNote)

    // MARK: Talk

    /// Inserts a message. A message of that id is there already: ignored.
    case insertMessage(MessageRecord)
    /// Marks every message of the thread up to `through` as read.
    case markRead(bot: String, thread: String, through: Moment)
    /// Pins a message, or no longer does. No such message: ignored.
    case pinMessage(id: String, Bool)
    /// Gives the messages of people in the thread up to row `through` to a run that answers them.
    case giveMessages(bot: String, thread: String, run: String, through: Int64, at: Moment)
    /// Notes that the messages, and the reactions, that a run was given last are answered.
    case answerMessages(bot: String, thread: String)
    /// Keeps what resumes the conversation, which knows all that was said in the thread so far; or forgets it. No such
    /// conversation, or its session began after the newest run was given messages: ignored.
    case keepSession(SessionOutcome, bot: String, thread: String)
    /// Keeps the bot's summary of what was said in the thread up to row `through`. Its session began after that, or a
    /// summary of more is kept: ignored.
    case keepSummary(String, bot: String, thread: String, through: Int64)
    /// Begins a new session in every thread of the bot; what a run was given and has not answered is not asked again.
    case beginSession(bot: String)
    /// Notes a person's reaction to a message. The same word again, or no such message: ignored.
    case react(ReactionRecord)
    /// Keeps a file that came with a message. The message has one already, or no such message: ignored.
    case insertAttachment(message: String, AttachmentNote, [UInt8])
    /// Inserts or replaces an item. Guard: the stored revision is `replacing` (nil: no such item).
    case putItem(ItemRecord, replacing: Int64?)

    // MARK: Questions

    /// Inserts a question, which is open whatever the record holds. Guard: there is none of that id.
    case insertQuestion(QuestionRecord)
    /// Closes a question. Guard: it is open; the first end stays.
    case closeQuestion(id: String, QuestionEnd)

    // MARK: Outbox

    /// Inserts an outbox entry. An entry of the same cause is there already: ignored.
    case insertOutbox(OutboxRecord)
    /// Moves an entry. Guard: its state is `move.from` and it was attempted `move.attempts` times before.
    case moveOutbox(OutboxMove)
    /// Makes entries of a channel due, or moves them to another channel. None of them: nothing happens.
    case releaseOutbox(OutboxRelease)
    /// Makes the pending entries of a channel wait, and old ones expire. None of them: nothing happens.
    case parkOutbox(OutboxPark)
    /// Gives up the entries of a channel that are pending, that wait or that a rule holds. None of them: nothing happens.
    case discardOutbox(channel: String, at: Moment)
    /// Takes the entries of an item out of line that wait for other channels. None of them: nothing happens.
    case supersedeHeld(item: String, at: Moment)
    /// Makes the settled entries of a channel due again that were made since a moment, but for those that another one took
    /// the place of. None of them: nothing happens.
    case replayOutbox(channel: String, since: Moment, at: Moment)
    /// Replaces type, reason and body of an entry that was never tried. Guard: it is pending with 0 attempts.
    case rewriteOutbox(id: String, reason: String, body: [UInt8], item: String?, nextAt: Moment)
    /// Notes why an attempt failed; behind all others where its number is taken, since an entry that is sent once more
    /// counts its attempts from the beginning.
    case insertOutboxAttempt(OutboxAttempt)
    /// Keeps what another channel is sent when an entry fails, in the place of what was kept before; of the two moments
    /// the earlier one counts.
    case putFallback(FallbackRecord)
    /// The entry has arrived, or was sent elsewhere. Guard: something is kept of it.
    case removeFallback(outbox: String)
    /// Sets what a channel should show for an item. The row is made when absent.
    /// A ring that was not shown yet outlives a silent revision after it; a new ring ends a dismissal.
    case wantSurface(channel: String, item: String, revision: Int64, ring: Bool, at: Moment)
    /// Records what a channel shows now (nil remote: nothing), and that every ring up to that revision is done.
    /// Ends a refusal.
    /// Guard: the row exists.
    case showSurface(channel: String, item: String, revision: Int64, remote: RemoteID?, at: Moment)
    /// A person closed it there (true), or it was asked for again (false). Guard: the row exists.
    /// A dismissal counts for what was on the screen: while another revision is wanted, it changes nothing.
    case dismissSurface(channel: String, item: String, Bool)
    /// The far end refused this revision for good, for this reason; it is not behind again before another revision
    /// is wanted. Revision 0 without a reason forgets a refusal. Guard: the row exists.
    case refuseSurface(channel: String, item: String, revision: Int64, reason: String?)
    /// Forgets every remote id of a channel whose server closed the connection, or came back as another generation:
    /// what it showed counts as not shown, without a new ring.
    case forgetRemotes(channel: String)
    /// Records what is known of a delivery.
    case insertReceipt(ReceiptRecord)
    /// Inserts or replaces the state of a channel (its circuit).
    case putChannel(ChannelRecord)
    /// Inserts a channel that was made on the command line. Guard: there is none of that name.
    case putChannelEntry(ChannelEntry)
    /// Removes such a channel; its state stays. Guard: there is one.
    case removeChannelEntry(name: String)

    /// Inserts a silence, and forgets those that ended before a moment. Guard: there is none of that id.
    case putSilence(Silence, endedBefore: Moment)
    /// Ends a silence at this moment; one that has not begun never does. Guard: it had not ended by then.
    case endSilence(id: String, at: Moment)

    // MARK: The door

    /// Inserts a token. Guard: there is none of that name, nor of that digest.
    case putToken(TokenRecord)
    /// Notes when the token of that id was used last; never an earlier moment. No such token: ignored.
    case noteToken(id: String, usedAt: Moment)
    /// Removes a token. Guard: there is one of that name.
    case removeToken(name: String)
    /// Inserts what must report in time, or replaces it. Guard: the stored revision is `replacing` (nil: none has the
    /// name, nor the digest).
    case putExpectation(ExpectationRecord, replacing: Int64?)
    /// Removes it. Guard: there is one of that name.
    case removeExpectation(name: String)

    // MARK: Events

    /// Appends a fact under the next number.
    case append(NewEvent)
    /// Moves a consumer's cursor. Guard: it stands at `from` now (0 when it never read).
    case moveConsumer(name: String, from: Int64, to: Int64)
    /// Records what was decided; of an event and a channel the last decision stays.
    case recordVerdicts([VerdictRecord])

    // MARK: History

    /// Removes a run with its attempts; its ordinal is not given again. One that does not exist is ignored.
    /// Guard: it has ended.
    case removeRun(id: String)
    /// Removes up to `limit` each of: events that every consumer has read, verdicts, settled entries, receipts, and
    /// spans that ended and closed questions, all from before that moment, and of the items and surfaces of questions that
    /// were removed. Only the oldest `10 * limit` of each kind are looked at; the newest event is never removed.
    case removeHistory(before: Moment, limit: Int)

    // MARK: The store itself

    /// Keeps a small named value (the host's zone, the boot of the last start), or removes it with nil.
    case setFact(name: String, value: String?)
}

// Tables: who reads what a change touched, whether it begins something, and its name in a refusal.

extension Change {
    /// Whose rows it touches; nil for what nobody waits for: the watermark, the facts, verdicts, and history that goes.
    package var station: Station? {
        switch self {
        case .putJob, .removeJob, .pauseJob: .jobs
        case .moveWatermark, .setFact, .recordVerdicts, .removeRun, .removeHistory: nil
        case .recordSpan, .insertRun, .moveRun, .passOver, .askEnd, .putAttempt, .saveLive: .runs
        case .recordReply, .noteBot, .putBot, .removeBot: .bots
        case .insertMessage, .markRead, .pinMessage, .giveMessages, .answerMessages, .keepSession,
            .keepSummary, .beginSession, .react, .insertAttachment, .putItem:
            .talk
        case .insertQuestion, .closeQuestion: .questions
        case .insertOutbox, .moveOutbox, .releaseOutbox, .parkOutbox, .discardOutbox, .supersedeHeld,
            .replayOutbox, .insertOutboxAttempt, .putFallback, .removeFallback,
            .rewriteOutbox, .wantSurface, .showSurface, .dismissSurface, .refuseSurface, .forgetRemotes,
            .insertReceipt,
            .putChannel, .putChannelEntry, .removeChannelEntry:
            .outbox
        case .putSilence, .endSilence: .outbox
        case .append, .moveConsumer: .events
        case .putToken, .noteToken, .removeToken: nil
        case .putExpectation, .removeExpectation: .expectations
        }
    }

    /// Whether entries that are in the outbox already may have to be sent, or not any more, because of it.
    package var movesOutbox: Bool {
        switch self {
        case .moveOutbox, .releaseOutbox, .parkOutbox, .discardOutbox, .supersedeHeld, .replayOutbox,
            .rewriteOutbox, .putChannel, .putChannelEntry, .removeChannelEntry, .putSilence, .endSilence:
            true
        default: false
        }
    }

    /// Whether a bot may have to reply: a person says something, or a bot may be mentioned.
    package var mayAskForReply: Bool {
        guard case .insertMessage(let record) = self else { return false }
        return record.message.author == .user || record.message.text.utf8.contains(UInt8(ascii: "@"))
    }

    /// Whether it begins something: refused while the disk is full, so that what began can still be ended.
    package var takesOnWork: Bool {
        switch self {
        case .putJob, .moveWatermark, .recordSpan, .insertRun, .insertMessage, .react,
            .insertAttachment, .insertQuestion:
            true
        case .removeJob, .pauseJob, .moveRun, .passOver, .askEnd, .putAttempt, .saveLive, .recordReply,
            .noteBot, .putBot, .removeBot, .markRead, .pinMessage, .giveMessages, .answerMessages,
            .keepSession, .keepSummary, .beginSession, .putItem, .closeQuestion,
            .insertOutbox, .moveOutbox, .releaseOutbox, .parkOutbox, .discardOutbox, .supersedeHeld,
            .replayOutbox, .insertOutboxAttempt, .putFallback, .removeFallback,
            .rewriteOutbox, .wantSurface, .showSurface, .dismissSurface, .refuseSurface, .forgetRemotes,
            .insertReceipt,
            .putChannel, .putChannelEntry, .removeChannelEntry, .putSilence, .endSilence, .append,
            .moveConsumer, .recordVerdicts,
            .setFact, .removeRun, .removeHistory, .putToken, .noteToken, .removeToken, .putExpectation,
            .removeExpectation:
            false
        }
    }

    /// Its name and the row it is about, for ``LedgerError/fenced(index:change:)``: `moveRun ID to running`.
    package var label: String {
        switch self {
        case .putJob(let job, _): "putJob \(job.name)"
        case .removeJob(let name, _): "removeJob \(name)"
        case .pauseJob(let name, _): "pauseJob \(name)"
        case .moveWatermark: "moveWatermark"
        case .recordSpan(let span, _): "recordSpan \(span.job)"
        case .insertRun(let run, _): "insertRun \(run.job) \(run.cause)"
        case .moveRun(let move): "moveRun \(move.run) to \(move.to.rawValue)"
        case .passOver(let run, _): "passOver \(run)"
        case .askEnd(let run, let reason): "askEnd \(run) \(reason.rawValue)"
        case .putAttempt(let attempt): "putAttempt \(attempt.run)/\(attempt.n)"
        case .saveLive(let run, _): "saveLive \(run)"
        case .recordReply(let reply): "recordReply \(reply.bot)"
        case .putBot(let bot, _): "putBot \(bot.name)"
        case .removeBot(let name, _): "removeBot \(name)"
        case .putChannelEntry(let channel): "putChannelEntry \(channel.name)"
        case .removeChannelEntry(let name): "removeChannelEntry \(name)"
        case .noteBot(let name, _): "noteBot \(name)"
        case .insertMessage(let record): "insertMessage \(record.message.id)"
        case .markRead(let bot, let thread, _): "markRead \(bot)/\(thread)"
        case .pinMessage(let id, _): "pinMessage \(id)"
        case .giveMessages(let bot, let thread, let run, _, _): "giveMessages \(bot)/\(thread) to \(run)"
        case .answerMessages(let bot, let thread): "answerMessages \(bot)/\(thread)"
        case .keepSession(_, let bot, let thread): "keepSession \(bot)/\(thread)"
        case .keepSummary(_, let bot, let thread, _): "keepSummary \(bot)/\(thread)"
        case .beginSession(let bot): "beginSession \(bot)"
        case .react(let reaction): "react \(reaction.message)"
        case .insertAttachment(let message, _, _): "insertAttachment \(message)"
        case .putItem(let item, _): "putItem \(item.key)"
        case .insertQuestion(let record): "insertQuestion \(record.id)"
        case .closeQuestion(let id, let end): "closeQuestion \(id) \(end.state.rawValue)"
        case .insertOutbox(let entry): "insertOutbox \(entry.cause)"
        case .moveOutbox(let move): "moveOutbox \(move.id) to \(move.to.rawValue)"
        case .releaseOutbox(let release): "releaseOutbox \(release.channel)"
        case .parkOutbox(let park): "parkOutbox \(park.channel)"
        case .discardOutbox(let channel, _): "discardOutbox \(channel)"
        case .supersedeHeld(let item, _): "supersedeHeld \(item)"
        case .replayOutbox(let channel, _, _): "replayOutbox \(channel)"
        case .rewriteOutbox(let id, _, _, _, _): "rewriteOutbox \(id)"
        case .insertOutboxAttempt(let attempt): "insertOutboxAttempt \(attempt.outbox)/\(attempt.number)"
        case .putFallback(let fallback): "putFallback \(fallback.outbox)"
        case .removeFallback(let id): "removeFallback \(id)"
        case .wantSurface(let channel, let item, _, _, _): "wantSurface \(channel)/\(item)"
        case .showSurface(let channel, let item, _, _, _): "showSurface \(channel)/\(item)"
        case .dismissSurface(let channel, let item, _): "dismissSurface \(channel)/\(item)"
        case .refuseSurface(let channel, let item, _, _): "refuseSurface \(channel)/\(item)"
        case .forgetRemotes(let channel): "forgetRemotes \(channel)"
        case .insertReceipt(let record): "insertReceipt \(record.outbox)"
        case .putChannel(let channel): "putChannel \(channel.name)"
        case .putSilence(let silence, _): "putSilence \(silence.id)"
        case .endSilence(let id, _): "endSilence \(id)"
        case .append(let event): "append \(event.type.rawValue)"
        case .moveConsumer(let name, _, _): "moveConsumer \(name)"
        case .recordVerdicts(let verdicts): "recordVerdicts \(verdicts.first?.event ?? 0)"
        case .setFact(let name, _): "setFact \(name)"
        case .removeRun(let id): "removeRun \(id)"
        case .removeHistory: "removeHistory"
        case .putToken(let token): "putToken \(token.name)"
        case .noteToken(let id, _): "noteToken \(id)"
        case .removeToken(let name): "removeToken \(name)"
        case .putExpectation(let expectation, _): "putExpectation \(expectation.name)"
        case .removeExpectation(let name): "removeExpectation \(name)"
        }
    }
}
