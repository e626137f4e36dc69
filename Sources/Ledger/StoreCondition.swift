/// How the store is, between the commits.
package enum StoreCondition: Hashable, Sendable {
    /// It takes everything. Becomes any other.
    case sound
    /// The disk is full, and the reserve is given up: no new work is taken, what tells of the old still is.
    /// Becomes `.sound` when the reserve could be made again.
    case short
    /// The last commit failed for this reason. Becomes `.sound` by the next one that does not.
    case refusing(LedgerError)
}

extension Change {
    /// Whether it begins something: refused while the disk is full, so that what began can still be ended.
    package var takesOnWork: Bool {
        switch self {
        case .putJob, .moveWatermark, .recordSpan, .insertRun, .insertMessage: true
        case .removeJob, .pauseJob, .moveRun, .passOver, .askEnd, .putAttempt, .saveLive, .markRead,
            .pinMessage, .putItem,
            .insertOutbox, .moveOutbox, .releaseOutbox, .parkOutbox, .rewriteOutbox, .wantSurface,
            .showSurface, .dismissSurface, .refuseSurface, .forgetRemotes, .insertReceipt, .putChannel,
            .append, .moveConsumer, .recordVerdicts, .setFact, .removeRun,
            .removeHistory:
            false
        }
    }
}
