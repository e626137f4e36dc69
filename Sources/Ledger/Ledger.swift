/// The durable store: one list of changes is one transaction, everything else is a read.
///
/// A station fetches what it needs, decides, and commits the changes together with their events. Nothing is
/// written any other way.
package protocol Ledger: JobReading, SlotReading, RunReading, BotReading, TalkReading, QuestionReading,
    OutboxReading, EventReading,
    VerdictReading,
    HistoryReading, IDReading
{
    /// Makes all `changes` true, durably, or none of them.
    ///
    /// Returns after the transaction is on the disk. Lists that arrive while another is being synced share
    /// the next sync, each still accepted or refused alone. Lists of one caller take effect in the order
    /// of their calls.
    /// - Throws: ``LedgerError/full`` also for what would fit while the store is ``StoreCondition/short``, when
    ///   a change takes on work; ``LedgerError/fenced(index:change:)`` when a guard fails: somebody else moved the row
    ///   first, nothing of the list was written, and the caller reads before it decides again.
    @discardableResult
    func commit(_ changes: [Change]) async throws(LedgerError) -> Commit

    /// Makes what `turn` decides true, durably, or none of it; what it asks for is read in the same transaction.
    @discardableResult
    func commit(_ turn: any Turn) async throws(LedgerError) -> Commit

    /// Lets `turn` decide at the end of every transaction that appends events, before it closes: a chain of
    /// stations costs one sync. When its list is refused, only that is undone.
    func follow(_ turn: any Turn & AnyObject)

    /// Stops asking `turn` to decide.
    func unfollow(_ turn: any Turn & AnyObject)

    /// The stations that each commit from now on touches, conflated: a slow listener sees those touched since
    /// it last asked, once. Ends when the ledger is closed.
    func commits() -> AsyncStream<Set<Station>>

    /// Calls `notify` with the stations that each commit from now on touches, on the thread that commits: `notify` must
    /// be short and must not wait. Ends when the ledger is closed.
    func observeCommits(_ notify: @escaping @Sendable (Set<Station>) -> Void) -> Observation

    /// Calls `notify` with what each commit from now on does to the outbox, on the thread that commits and before
    /// ``commits()`` has it; commits that leave the outbox as it is are left out. `notify` must be short and must not
    /// wait. Ends when the ledger is closed.
    func observeOutbox(_ notify: @escaping @Sendable (OutboxNews) -> Void) -> Observation

    /// Calls `notify` with the channels for which a transaction adds entries to the outbox, on the thread that commits and
    /// before it is synced: it may still fail. `notify` must be short and must not wait. Ends when the ledger is closed.
    func observeUpcoming(_ notify: @escaping @Sendable (Set<String>) -> Void) -> Observation

    /// The state of the store now.
    var condition: StoreCondition { get }

    /// ``condition`` at once, then each change of it, conflated. Ends when the ledger is closed.
    func conditions() -> AsyncStream<StoreCondition>

    /// Ends every pending commit and closes the store. Later calls throw ``LedgerError/closed``.
    func close() async
}

/// Who reads a row next; a commit names the stations whose rows it touched.
package enum Station: String, Hashable, Sendable, CaseIterable {
    /// Jobs, their revisions and pauses.
    case jobs
    /// Runs, their attempts, and spans of slots that did not run.
    case runs
    /// What is known of bots.
    case bots
    /// Messages and items.
    case talk
    /// Questions.
    case questions
    /// Messages that a bot may have to reply to: a person's, and those with a mention.
    case replies
    /// Outbox entries, surfaces and receipts.
    case outbox
    /// What must report in time.
    case expectations
    /// Events and cursors.
    case events
}

/// The result of a commit.
package struct Commit: Hashable, Sendable {
    /// The number of the newest event in the ledger after this commit; 0 when there is none.
    package var lastEvent: Int64
    /// The runs this commit inserted, in that order; a run that was there already by the same cause is absent.
    package var inserted: [Inserted]
    /// The ids of the runs that this commit passed over.
    package var passedOver: Set<String>
    /// The outbox entries this commit inserted, in that order; one that was there already by the same cause is absent.
    package var entries: [OutboxRecord] = []

    /// A run by its id, and the ordinal it was given.
    package struct Inserted: Hashable, Sendable {
        package var run: String
        package var ordinal: Int

        package init(_ run: String, _ ordinal: Int) {
            self.run = run
            self.ordinal = ordinal
        }
    }

    package init(lastEvent: Int64, inserted: [Inserted] = [], passedOver: Set<String> = []) {
        self.lastEvent = lastEvent
        self.inserted = inserted
        self.passedOver = passedOver
    }

    /// The ordinals of ``inserted``, by run id.
    ///
    /// - Complexity: O(inserted), each time.
    package var ordinals: [String: Int] {
        Dictionary(inserted.map { ($0.run, $0.ordinal) }) { _, newer in newer }
    }
}

/// What a commit did to the outbox.
package struct OutboxNews: Sendable {
    /// The entries that it added, in their order.
    package var added: [OutboxRecord] = []
    /// Whether it may have moved other entries: who sends them has to read them.
    package var movesOthers = false

    /// Whether nobody who sends entries has anything to do with it.
    package var isEmpty: Bool { added.isEmpty && !movesOthers }

    package init() {}
}

/// Why the ledger refused a list, a read or to be opened.
package enum LedgerError: Error, Hashable, Sendable {
    /// The guard of change `index` failed: the row is not what the caller expected.
    case fenced(index: Int, change: String)
    /// The disk is full; nothing was written.
    case full
    /// The store can't be written: its file or file system is read-only, or not ours.
    case readOnly(path: String)
    /// Another process holds the store.
    case locked(path: String)
    /// The store was written by a newer Belfry.
    case newer(path: String, found: String)
    /// The store's file is not a ledger, or is damaged.
    case damaged(path: String, detail: String)
    /// A sync to the disk failed. What was committed before is safe; the store must be opened again.
    case syncFailed(detail: String)
    /// The ledger was closed.
    case closed
    /// Any other failure of the store; `code` is its own number.
    case storage(code: Int, detail: String)
}

extension LedgerError: CustomStringConvertible {
    /// One sentence, with the fix where there is one.
    package var description: String {
        switch self {
        case .fenced(let index, let change):
            "change \(index) (\(change)) was refused: the row has moved on"
        case .full:
            "the disk is full; free some space, nothing was written"
        case .readOnly(let path):
            "the ledger \(path) can't be written; check its owner and that its file system is not read-only"
        case .locked(let path):
            "the ledger \(path) is held by another process; stop it first"
        case .newer(let path, let found):
            "the ledger \(path) was written by a newer Belfry (\(found)); upgrade, or use another state folder"
        case .damaged(let path, let detail):
            "the ledger \(path) is damaged (\(detail)); move it away and restore a backup"
        case .syncFailed(let detail):
            "a sync of the ledger to the disk failed (\(detail)); check the disk, then start again"
        case .closed:
            "the ledger is closed"
        case .storage(let code, let detail):
            "the ledger's store failed with code \(code): \(detail)"
        }
    }
}
