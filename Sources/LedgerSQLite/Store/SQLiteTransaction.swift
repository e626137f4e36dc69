import GRDB
import GRDBSQLite
import Grouping
import Ledger
import Tracking

/// The writing connection, and its transaction.
///
/// Used on the connection's own queue only.
final class SQLiteTransaction: Transaction {
    /// Compiled once; released before the connection is closed.
    private struct Statements {
        let database: Database
        let rows: StationRows
        let ordinals: Ordinals
        let fresh: FreshRows
        let enterWords: Prepared
        let begin: Prepared
        let commit: Prepared
        let open: Prepared
        let release: Prepared
        let undo: Prepared
    }

    private let path: String
    private var statements: Statements?
    private var reserve: Reserve
    private var log: LogUpkeep
    private(set) var lastEvent: Int64
    /// What ``lastEvent`` was before the transaction.
    private var committedEvent: Int64
    /// The lists that the transaction holds, for as long as none was refused.
    private var accepted: [[Change]] = []
    /// Whether each list has a savepoint of its own: one was refused in this transaction.
    private var hasSavepoints = false
    private let words: WordNews

    /// Compiles every statement, and reserves space beside the file.
    init(path: String, words: WordNews, in database: Database) throws(StoreFailure) {
        (self.path, self.words) = (path, words)
        (reserve, log) = (Reserve(of: path), LogUpkeep(of: path))
        let (ordinals, fresh) = (try Ordinals(in: database), FreshRows())
        statements = Statements(
            database: database, rows: try StationRows(in: database, ordinals: ordinals, fresh: fresh),
            ordinals: ordinals, fresh: fresh, enterWords: try SearchRows.enter(in: database),
            begin: try Prepared("BEGIN IMMEDIATE", in: database),
            commit: try Prepared("COMMIT", in: database), open: try Prepared("SAVEPOINT list", in: database),
            release: try Prepared("RELEASE list", in: database),
            undo: try Prepared("ROLLBACK TO list", in: database))
        lastEvent = try EventRows.last(in: database)
        committedEvent = lastEvent
        words.add((try? SearchRows.missing(in: database)) ?? 0)
    }

    func begin() throws(LedgerError) {
        guard let statements else { throw .closed }
        do throws(StoreFailure) { try begin(statements) } catch { throw error.error(path: path) }
    }

    func commit() throws(LedgerError) {
        guard let statements else { throw .closed }
        do throws(StoreFailure) { try statements.commit.run() } catch { throw error.error(path: path) }
        committedEvent = lastEvent
        accepted.removeAll()
        statements.ordinals.keep()
        // While the disk is full the room is for what ends old work.
        if words.areDue, reserve.isThere { try enterWords(statements) }
    }

    /// Enters the words of messages in their index, in a transaction that holds nothing else: an index that is damaged
    /// ends it, and must keep nothing else from being written.
    private func enterWords(_ statements: Statements) throws(LedgerError) {
        do throws(StoreFailure) {
            try statements.begin.run()
            try statements.enterWords.run()
            try statements.commit.run()
            words.forget()
        } catch {
            try? statements.database.rollback()
            let error = error.error(path: path)
            if case .syncFailed = error { throw error }
            // These pass; whatever else it is, each commit would try again in vain.
            if ![.full, .locked(path: path)].contains(error) { words.giveUp() }
        }
    }

    func rollback() {
        guard let statements else { return }
        // Some failures end the transaction by themselves; then there is nothing to roll back.
        try? statements.database.rollback()
        lastEvent = committedEvent
        statements.ordinals.undo(to: 0)
    }

    private func begin(_ statements: Statements) throws(StoreFailure) {
        accepted.removeAll(keepingCapacity: true)
        hasSavepoints = false
        statements.fresh.forget()
        try statements.begin.run()
    }

    // MARK: Changes

    func apply(_ changes: [Change]) throws(TransactionFailure) -> Commit {
        guard let statements else { throw .lost(.closed) }
        let outcome: Result<Commit, LedgerError>
        do throws(StoreFailure) {
            outcome = try apply(changes, statements)
        } catch {
            throw .lost(error.error(path: path))
        }
        do throws(LedgerError) { return try outcome.get() } catch { throw .refused(error) }
    }

    /// One list, whole or not at all.
    ///
    /// A savepoint costs as much as some rows, and hardly ever is a list refused: then the transaction begins again
    /// with the lists before it, and each that follows has its savepoint.
    private func apply(
        _ changes: [Change], _ statements: Statements
    ) throws(StoreFailure) -> Result<Commit, LedgerError> {
        let ordinals = statements.ordinals
        var commit = Commit(lastEvent: lastEvent)
        let given = ordinals.given
        if changes.count > 64 {
            commit.inserted.reserveCapacity(changes.count)
            ordinals.expect(changes.count)
        }
        if hasSavepoints { try statements.open.run() }
        var index = 0
        do {
            while index < changes.count {
                try statements.rows.apply(changes[index], to: &commit)
                index += 1
            }
        } catch {
            guard error.concernsOneList else { throw error }
            if hasSavepoints {
                ordinals.undo(to: given)
                statements.fresh.forget()
                try statements.undo.run()
                try statements.release.run()
            } else {
                try beginAgain(statements)
            }
            return .failure(refusal(error, of: changes[index], at: index))
        }
        if hasSavepoints { try statements.release.run() } else { accepted.append(changes) }
        lastEvent = commit.lastEvent
        words.add(changes)
        return .success(commit)
    }

    /// Undoes the list that was refused: nobody else writes, so that the others come to the same once more.
    private func beginAgain(_ statements: Statements) throws(StoreFailure) {
        let lists = accepted
        try? statements.database.rollback()
        statements.ordinals.undo(to: 0)
        lastEvent = committedEvent
        try begin(statements)
        hasSavepoints = !lists.isEmpty
        for list in lists {
            var commit = Commit(lastEvent: lastEvent)
            for change in list { try statements.rows.apply(change, to: &commit) }
            lastEvent = commit.lastEvent
        }
    }

    private func refusal(_ failure: StoreFailure, of change: Change, at index: Int) -> LedgerError {
        if case .fenced = failure { return .fenced(index: index, change: change.label) }
        if failure.isConstraint { return .fenced(index: index, change: change.label) }
        return failure.error(path: path)
    }

    // MARK: What turns read

    func read(_ reads: TurnReads, into input: inout TurnInput) throws(LedgerError) {
        guard let statements else { throw .closed }
        do throws(StoreFailure) {
            try read(reads, into: &input, statements.fresh, in: statements.database)
        } catch {
            throw error.error(path: path)
        }
    }

    private func read(
        _ reads: TurnReads, into input: inout TurnInput, _ fresh: FreshRows, in database: Database
    ) throws(StoreFailure) {
        switch reads.events {
        case nil: break
        case .after(let seq, let limit)?:
            if let known = fresh.events(after: seq, limit: limit) {
                input.events = known
            } else {
                input.events = try EventRows.events(after: seq, limit: limit, in: database)
            }
        case .of(let consumer, let limit)?:
            input.cursor = try EventRows.cursor(of: consumer, in: database)
            input.events = try EventRows.events(after: input.cursor, limit: limit, in: database)
        }
        if reads.itemsToWake > 0 {
            input.itemsToWake = try TalkRows.itemsToWake(limit: reads.itemsToWake, in: database)
        }
        if !reads.runs.isEmpty {
            for run in try RunRows.runs(ids: reads.runs, in: database) { input.runs[run.id] = run }
            for (run, onlyWish) in input.runsWithSpec(of: reads) {
                input.specs[run.id] = try JobRows.spec(
                    of: run.job, revision: run.revision, onlyWish: onlyWish, in: database)
                if run.state.isFailure, try JobRows.isRemoved(run.job, in: database) {
                    input.removedJobs.insert(run.job)
                }
            }
            for run in reads.forecasts.compactMap({ input.runs[$0] }) {
                input.profiles[run.id] = try ProfileRows.last(
                    of: run.job, limit: reads.profileCount, in: database)
            }
        }
        for run in reads.arrivals where input.runs[run] != nil {
            input.arrivals[run] = try OutboxRows.failureArrivals(before: run, in: database)
        }
        for job in reads.jobs {
            input.jobSpecs[job] = try JobRows.spec(wishedBy: job, in: database)
        }
        for id in reads.messages { input.messages[id] = fresh.message(id) }
        let others = reads.messages.filter { input.messages[$0] == nil }
        for message in try TalkRows.messages(ids: others, in: database) {
            input.messages[message.message.id] = message
        }
        for item in try TalkRows.items(of: input.items(of: reads), in: database) {
            input.items[item.key] = item
        }
        let answered = reads.messages.compactMap { id -> String? in
            guard let message = input.messages[id]?.message, message.author == .user else { return nil }
            return "\(message.itemKey)"
        }
        if !answered.isEmpty { input.held += try OutboxRows.held(of: answered, in: database) }
        switch reads.held {
        case .none: break
        case .judgedAgain: input.held += try OutboxRows.held(of: nil, in: database)
        case .items(let items): input.held += try OutboxRows.held(of: items, in: database)
        }
        let threads = input.threads(of: reads)
        input.pinned.formUnion(try TalkRows.pinned(in: threads, database))
        for message in try TalkRows.unread(in: threads, limit: reads.unreadCount, database) {
            input.messages[message.message.id] = message
        }
        for (thread, entry) in try OutboxRows.untried(of: threads, channels: reads.channels, in: database) {
            input.untried[thread, default: [:]][entry.channel] = entry
        }
    }

    // MARK: Between transactions

    var hasReserve: Bool { reserve.isThere }

    func makeReserve() { reserve.make() }

    func freeReserve() -> Bool { reserve.free() }

    func maintain(isIdle: Bool, isShort: Bool) throws(LedgerError) {
        guard let database = statements?.database else { return }
        let failure = log.maintain(database, isIdle: isIdle, isShort: isShort)
        if let failure { throw failure.error(path: path) }
    }

    /// Closing syncs: a disk that failed to sync is not asked again.
    func finish(isSynced: Bool) {
        if isSynced, let database = statements?.database { LogUpkeep.truncate(database) }
        statements = nil
    }
}

/// Every statement that writes, by station.
final class StationRows {
    private let jobs: JobRows
    private let slots: SlotRows
    private let runs: RunRows
    private let bots: BotRows
    private let channels: ChannelEntryRows
    private let silences: SilenceRows
    private let tokens: TokenRows
    private let expectations: ExpectationRows
    private let talk: TalkRows
    private let conversations: ConversationRows
    private let questions: QuestionRows
    private let outbox: OutboxRows
    private let fallbacks: FallbackRows
    private let surfaces: SurfaceRows
    private let events: EventRows
    private let verdicts: VerdictRows
    private let history: HistoryRows
    private let fresh: FreshRows

    init(in database: Database, ordinals: Ordinals, fresh: FreshRows) throws(StoreFailure) {
        self.fresh = fresh
        jobs = try JobRows(in: database)
        slots = try SlotRows(in: database)
        runs = try RunRows(in: database, ordinals: ordinals)
        bots = try BotRows(in: database)
        channels = try ChannelEntryRows(in: database)
        silences = try SilenceRows(in: database)
        tokens = try TokenRows(in: database)
        expectations = try ExpectationRows(in: database)
        talk = try TalkRows(in: database)
        conversations = try ConversationRows(in: database)
        questions = try QuestionRows(in: database)
        outbox = try OutboxRows(in: database)
        fallbacks = try FallbackRows(in: database)
        surfaces = try SurfaceRows(in: database)
        events = try EventRows(in: database)
        verdicts = try VerdictRows(in: database)
        history = try HistoryRows(in: database)
    }

    /// Makes one change, and adds its result to `commit`.
    func apply(_ change: Change, to commit: inout Commit) throws(StoreFailure) {
        fresh.forget(by: change)
        switch change {
        case .putJob(let job, let old): try jobs.put(job, replacing: old)
        case .removeJob(let name, let revision): try jobs.remove(name, revision: revision)
        case .pauseJob(let name, let pause): try jobs.pause(name, pause)
        case .moveWatermark(let old, let new): try slots.moveWatermark(from: old, to: new)
        case .recordSpan(let span, let follows): try slots.record(span, follows: follows)
        case .insertRun(let run, let orIgnore):
            let ordinal = try runs.insert(run, orIgnore: orIgnore)
            if let ordinal { commit.inserted.append(Commit.Inserted(run.id, ordinal)) }
        case .moveRun(let move): try runs.move(move)
        case .passOver(let run, let event):
            guard try runs.passOver(run, at: event.at) else { return }
            commit.passedOver.insert(run)
            try append(event, to: &commit)
        case .askEnd(let run, let reason): try runs.askEnd(of: run, reason)
        case .putAttempt(let attempt): try runs.put(attempt)
        case .saveLive(let run, let live): try runs.saveLive(live, of: run)
        case .recordReply(let reply): try bots.record(reply)
        case .putBot(let bot, let old): try bots.put(bot, replacing: old)
        case .removeBot(let name, let revision): try bots.remove(name, revision: revision)
        case .putChannelEntry(let channel): try channels.put(channel)
        case .removeChannelEntry(let name): try channels.remove(name)
        case .putSilence(let silence, let moment): try silences.put(silence, endedBefore: moment)
        case .endSilence(let id, let moment): try silences.end(id, at: moment)
        case .putToken(let token): try tokens.put(token)
        case .noteToken(let id, let moment): try tokens.note(id, usedAt: moment)
        case .removeToken(let name): try tokens.remove(name)
        case .putExpectation(let expectation, let old): try expectations.put(expectation, replacing: old)
        case .removeExpectation(let name): try expectations.remove(name)
        case .noteBot(let name, let note): try bots.put(note, of: name)
        case .insertMessage(let message): if try talk.insert(message) { fresh.add(message) }
        case .markRead(let bot, let thread, let moment):
            try talk.markRead(bot: bot, thread: thread, through: moment)
        case .pinMessage(let id, let isPinned): try talk.pin(id, isPinned)
        case .giveMessages(let bot, let thread, let run, let number, let at):
            try conversations.give(bot: bot, thread: thread, run: run, through: number, at: at)
        case .answerMessages(let bot, let thread): try conversations.answer(bot: bot, thread: thread)
        case .keepSession(let session, let bot, let thread):
            try conversations.keep(session, bot: bot, thread: thread)
        case .keepSummary(let text, let bot, let thread, let through):
            try conversations.keep(summary: text, through: through, bot: bot, thread: thread)
        case .beginSession(let bot): try conversations.beginSession(bot: bot)
        case .react(let reaction): try conversations.react(reaction)
        case .insertAttachment(let message, let note, let content):
            try conversations.attach(note, content, to: message)
        case .putItem(let item, let old): try talk.put(item, replacing: old)
        case .insertQuestion(let record): try questions.insert(record)
        case .closeQuestion(let id, let end): try questions.close(id, end)
        case .insertOutbox(let entry): if try outbox.insert(entry) { commit.entries.append(entry) }
        case .moveOutbox(let move): try outbox.move(move)
        case .releaseOutbox(let release): try outbox.release(release)
        case .parkOutbox(let park): try outbox.park(park)
        case .discardOutbox(let channel, let at): try outbox.discard(channel: channel, at: at)
        case .supersedeHeld(let item, let at): try outbox.supersedeHeld(item: item, at: at)
        case .replayOutbox(let channel, let since, let at):
            try outbox.replay(channel: channel, since: since, at: at)
        case .rewriteOutbox(let id, let reason, let body, let item, let nextAt):
            try outbox.rewrite(id, reason: reason, body: body, item: item, nextAt: nextAt)
        case .insertOutboxAttempt(let attempt): try fallbacks.insert(attempt)
        case .putFallback(let fallback): try fallbacks.put(fallback)
        case .removeFallback(let id): try fallbacks.remove(id)
        case .wantSurface(let channel, let item, let revision, let ring, let at):
            try surfaces.want(channel: channel, item: item, revision: revision, ring: ring, at: at)
        case .showSurface(let channel, let item, let revision, let remote, let at):
            try surfaces.show(channel: channel, item: item, revision: revision, remote: remote, at: at)
        case .dismissSurface(let channel, let item, let dismissed):
            try surfaces.dismiss(channel: channel, item: item, dismissed)
        case .refuseSurface(let channel, let item, let revision, let reason):
            try surfaces.refuse(channel: channel, item: item, revision: revision, reason: reason)
        case .forgetRemotes(let channel): try surfaces.forgetRemotes(of: channel)
        case .insertReceipt(let receipt): try outbox.insert(receipt)
        case .putChannel(let channel): try outbox.put(channel)
        case .append(let event): try append(event, to: &commit)
        case .moveConsumer(let name, let old, let new): try events.moveConsumer(name, from: old, to: new)
        case .recordVerdicts(let records): try verdicts.insert(records)
        case .removeRun(let id): try history.removeRun(id)
        case .removeHistory(let moment, let limit): try history.remove(before: moment, limit: limit)
        case .setFact(let name, let value): try jobs.setFact(name, value)
        }
    }

    private func append(_ event: NewEvent, to commit: inout Commit) throws(StoreFailure) {
        let seq = commit.lastEvent + 1
        try events.append(event, numbered: seq)
        commit.lastEvent = seq
        fresh.add(event, numbered: seq)
    }
}
