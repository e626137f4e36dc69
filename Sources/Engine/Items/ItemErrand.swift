import Ledger
import Tracking

/// A turn of the items that no event asks for.
struct ItemErrand: Turn {
    enum Kind: Sendable {
        /// Reads all that is awake, and events from where the last daemon stopped.
        case load
        /// Wakes the items whose moment has come.
        case wake
        /// Tells where these runs are.
        case tell([LiveState])
    }

    let kind: Kind
    let desk: ItemDesk

    func decide(by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        try desk.decide(kind, by: ledger)
    }

    func settle(_ isKept: Bool) { desk.settle(isKept) }
}
