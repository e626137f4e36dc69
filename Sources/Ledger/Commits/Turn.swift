package import Grouping
package import Tracking

/// A decision that is made inside the transaction it becomes part of, so that it costs no sync of its own.
///
/// It names what it reads, is given the values, and returns changes; it never calls the store. All calls come
/// from the thread that writes, one after the other; none may wait for anything.
package protocol Turn: Sendable {
    /// What it reads first: usually the events after its cursor. Nil: it has nothing to decide.
    func opening() -> TurnReads?

    /// What it reads besides, by what the first reads found; empty: nothing.
    func reads(by input: TurnInput) -> TurnReads

    /// Whether it has this item as it is in the open transaction, so that it need not be read.
    func isKnown(_ item: ItemKey) -> Bool

    /// What is to be done; nothing is an answer, too.
    ///
    /// May be called again before ``settle(_:)``: what was decided before is in the ledger then.
    func decide(_ input: TurnInput) throws(LedgerError) -> [Change]

    /// Whether everything decided since the last time is on the disk, or was refused and never happened.
    func settle(_ isKept: Bool)
}

extension Turn {
    package func reads(by input: TurnInput) -> TurnReads { TurnReads() }
    package func isKnown(_ item: ItemKey) -> Bool { false }
}

/// What a turn asks for in one round; what does not exist is absent from the answer.
package struct TurnReads: Hashable, Sendable {
    /// Which events to read, oldest first.
    package enum Events: Hashable, Sendable {
        case after(Int64, limit: Int)
        /// Those after the cursor of a consumer, and the cursor.
        case of(consumer: String, limit: Int)
    }

    /// Which of the entries that rules hold.
    package enum Held: Hashable, Sendable {
        case none
        /// All that is judged again when its time has passed: what quiet hours and budgets hold.
        case judgedAgain
        /// All that is about these items, by the text form of their keys.
        case items([String])
    }

    package var events: Events?
    /// How many of the items whose timer is set to read, earliest first.
    package var itemsToWake = 0
    /// Runs, by id.
    package var runs: [String] = []
    /// Those of ``runs`` whose job's spec is read as well; that of a scheduled run only if it failed.
    ///
    /// A spec that has a ``JobSpec/notify`` is read of all ``runs``.
    package var specs: [String] = []
    /// Whether the specs of ``specs`` are read of scheduled runs that did not fail, too.
    package var needsSpecs = false
    /// Those of ``runs`` for which the last profiles of their job are read, up to ``profileCount``.
    package var forecasts: [String] = []
    package var profileCount = 0
    /// Those of ``runs`` for which is read what happened to the failures before them.
    package var arrivals: [String] = []
    /// Jobs whose current spec is read if it has a ``JobSpec/notify``.
    package var jobs: [String] = []
    /// Messages, by id; the thread of each counts as named in ``items`` and in ``threads``.
    package var messages: [String] = []
    package var items: [ItemKey] = []
    /// Threads whose pinned messages and untried entries on ``channels`` are read; none without channels.
    package var threads: [ItemKey] = []
    package var channels: [String] = []
    /// What rules hold in the outbox that is read as well.
    package var held = Held.none
    /// How many of the newest unread messages of those threads are read as well, each into ``TurnInput/messages``.
    package var unreadCount = 0

    package init() {}

    package init(events: Events, itemsToWake: Int = 0) {
        self.events = events
        self.itemsToWake = itemsToWake
    }

    /// Whether it asks for nothing.
    package var isEmpty: Bool {
        events == nil && itemsToWake == 0 && runs.isEmpty && jobs.isEmpty && messages.isEmpty && items.isEmpty
            && (threads.isEmpty || channels.isEmpty) && held == .none
    }
}

/// What a turn decides by: everything it asked for, as its transaction holds it so far.
package struct TurnInput: Sendable {
    /// Where the consumer's cursor stands; 0 when it never read.
    package var cursor: Int64 = 0
    package var events: [EventRecord] = []
    package var itemsToWake: [ItemRecord] = []
    package var runs: [String: RunRecord] = [:]
    /// The specs that runs execute, by the runs' ids; of runs with a spec of their own it is there alone.
    package var specs: [String: JobSpec] = [:]
    /// How past runs of their jobs got on, oldest first, by the ids of the runs of ``TurnReads/forecasts``.
    package var profiles: [String: [RunProfile]] = [:]
    /// The jobs of failed runs among ``specs`` that were removed since.
    package var removedJobs: Set<String> = []
    /// The current specs of jobs that ask for certain news, by the jobs' names.
    package var jobSpecs: [String: JobSpec] = [:]
    /// Messages, by id: those of ``TurnReads/messages``, and the newest unread ones where they were asked for.
    package var messages: [String: MessageRecord] = [:]
    package var items: [ItemKey: ItemRecord] = [:]
    /// The newest pending, never tried entry of each channel for a thread, where there is one: it may be rewritten.
    package var untried: [ItemKey: [String: OutboxRecord]] = [:]
    /// What happened to the failures before runs of ``TurnReads/arrivals``, by the runs' ids and by channel.
    package var arrivals: [String: [String: FailureArrival]] = [:]
    /// The entries of ``TurnReads/held``, oldest first, and those of the threads in which a person said one of
    /// ``TurnReads/messages``.
    package var held: [OutboxRecord] = []
    /// The ids of the pinned messages of the threads.
    package var pinned: Set<String> = []
    /// Whether the turn has an item already; see ``Turn/isKnown(_:)``.
    package var isKnown: @Sendable (ItemKey) -> Bool = { _ in false }

    package init() {}

    /// The runs whose spec `reads` asks for, once its runs are in ``runs``; for a store's `read`.
    ///
    /// - Returns: each run, and whether its spec is read only if it has a ``JobSpec/notify``.
    package func runsWithSpec(of reads: TurnReads) -> [(run: RunRecord, onlyWish: Bool)] {
        let asked = Set(reads.specs)
        return reads.runs.compactMap { runs[$0] }.filter { $0.spec == nil }.map { run in
            let isLeftOut = run.kind == .scheduled && !run.state.isFailure && !reads.needsSpecs
            return (run, !asked.contains(run.id) || isLeftOut)
        }
    }

    /// The items that `reads` names and that are not known, once its messages are in ``messages``; for a store's `read`.
    package func items(of reads: TurnReads) -> Set<ItemKey> {
        Set(reads.items).union(threads(ofMessages: reads.messages).filter { !isKnown($0) })
    }

    /// The threads that `reads` names, once its messages are in ``messages``; for a store's `read`.
    package func threads(of reads: TurnReads) -> Set<ItemKey> {
        if reads.channels.isEmpty { return [] }
        return Set(reads.threads).union(threads(ofMessages: reads.messages))
    }

    private func threads(ofMessages ids: [String]) -> some Sequence<ItemKey> {
        ids.lazy.compactMap { messages[$0]?.message.itemKey }
    }
}

/// What the commits of a ledger need of its store: one connection that writes, and its transaction.
///
/// Called from the store's writing thread only, one call after the other; a call may block. Calls come as
/// `begin`, any number of `apply` and `read`, then `commit` or `rollback`.
package protocol Transaction: AnyObject, SendableMetatype {
    /// Opens the transaction.
    func begin() throws(LedgerError)

    /// The number of the newest event, those of the open transaction included; 0 when there is none.
    var lastEvent: Int64 { get }

    /// Makes all `changes`, or none of them and throws; what was applied before stays as it is.
    ///
    /// The guard of each change stands beside it, in ``Change``.
    func apply(_ changes: [Change]) throws(TransactionFailure) -> Commit

    /// Adds what `reads` names to `input`, as it is in the open transaction.
    ///
    /// What can't be read refuses the turn, not the transaction.
    func read(_ reads: TurnReads, into input: inout TurnInput) throws(LedgerError)

    /// Makes the transaction durable before it returns.
    ///
    /// - Throws: ``LedgerError/syncFailed(detail:)`` when it is not known what is on the disk; nothing is
    ///   written after that.
    func commit() throws(LedgerError)

    /// Ends the transaction without effect; also after `begin` or `commit` failed.
    func rollback()

    // MARK: Between transactions

    /// Whether space is reserved for the changes that end old work when the disk is full.
    ///
    /// True for a store without such a reserve.
    var hasReserve: Bool { get }

    /// Reserves the space again, if the disk has room for it.
    func makeReserve()

    /// Frees the reserved space; false when there was none.
    func freeReserve() -> Bool

    /// Maintains the files after a commit: now is a good time when `isIdle`, and space is short when `isShort`.
    ///
    /// - Throws: when nothing may be written any more.
    func maintain(isIdle: Bool, isShort: Bool) throws(LedgerError)

    /// Lets go of whatever keeps the connection from being closed; after a failed sync (`isSynced` is false)
    /// without writing.
    func finish(isSynced: Bool)
}

extension Transaction {
    package var hasReserve: Bool { true }
    package func makeReserve() {}
    package func freeReserve() -> Bool { false }
    package func maintain(isIdle: Bool, isShort: Bool) throws(LedgerError) {}
    package func finish(isSynced: Bool) {}
}

/// Why a list of changes was not applied.
package enum TransactionFailure: Error, Hashable, Sendable {
    /// Only this list is refused; the transaction continues with the others.
    case refused(LedgerError)
    /// The transaction failed, and with it every list that shares it.
    case lost(LedgerError)
}
