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
