import Ledger
import Synchronization

/// Which outbox entries are being sent, and which are being rewritten: one entry is never both.
///
/// What is being sent has no mark in the ledger, which would cost a sync for each webhook. Without this, an
/// entry could be rewritten while its old text is on the way, and the new text would never be sent.
package final class EntriesInHand: Sendable {
    private struct State {
        var sent: Set<String> = []
        var rewritten: Set<String> = []
        var rewritings: UInt64 = 0
    }

    private let state = Mutex(State())
    private let ends = Broadcast<Void>()

    package init() {}

    /// How many rewritings have begun so far: asked before a sender reads entries.
    package var rewritings: UInt64 { state.withLock { $0.rewritings } }

    /// Takes an entry to send it.
    ///
    /// Refused when anything was, or is being, rewritten since `rewritings` was asked: what was read may be
    /// old.
    package func beginSending(_ id: String, readAfter rewritings: UInt64) -> Bool {
        state.withLock { state in
            guard state.rewritings == rewritings, state.rewritten.isEmpty else { return false }
            return state.sent.insert(id).inserted
        }
    }

    /// The entries that are being sent now.
    package var sending: Set<String> { state.withLock { $0.sent } }

    /// The attempt is recorded.
    package func endSending(_ id: String) {
        state.withLock { _ = $0.sent.remove(id) }
    }

    /// Takes an entry to rewrite it; refused while it is being sent.
    package func beginRewriting(_ id: String) -> Bool {
        state.withLock { state in
            guard !state.sent.contains(id) else { return false }
            state.rewritings += 1
            state.rewritten.insert(id)
            return true
        }
    }

    /// The new text is in the ledger, or will not be.
    package func endRewriting(_ ids: Set<String>) {
        if ids.isEmpty { return }
        state.withLock { $0.rewritten.subtract(ids) }
        ends.publish(())
    }

    /// An element after each rewriting, for those who were refused.
    package func taps() -> AsyncStream<Void> { ends.listen() }
}
