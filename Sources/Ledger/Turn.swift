package import Grouping

/// A decision that is made inside the transaction it becomes part of, so that it costs no sync of its own.
///
/// Both calls come from the thread that writes, one after the other; neither may wait for anything.
package protocol Turn: Sendable {
    /// What is to be done by what `ledger` holds; nothing is an answer, too.
    ///
    /// May be called again before ``settle(_:)``: what was decided before is in the ledger then.
    func decide(by ledger: any TurnReading) throws(LedgerError) -> [Change]

    /// Whether everything decided since the last time is on the disk, or was refused and never happened.
    func settle(_ isKept: Bool)
}

/// What a turn reads: everything committed, and what its transaction holds so far.
package protocol TurnReading {
    func run(id: String) throws(LedgerError) -> RunRecord?
    func message(id: String) throws(LedgerError) -> MessageRecord?
    func item(_ key: ItemKey) throws(LedgerError) -> ItemRecord?
    /// Items whose timer is set, earliest first.
    func itemsToWake(limit: Int) throws(LedgerError) -> [ItemRecord]
    /// The pending, never tried entry of a channel for an item, if there is one: it may be rewritten.
    func untriedOutbox(channel: String, item: String) throws(LedgerError) -> OutboxRecord?
    /// Events after `seq`, oldest first.
    func events(after seq: Int64, limit: Int) throws(LedgerError) -> [EventRecord]
    /// Where a consumer's cursor stands; 0 when it never read.
    func cursor(of consumer: String) throws(LedgerError) -> Int64
}
