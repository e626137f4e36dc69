import GRDB
import Grouping
import Ledger

/// The writing connection as a turn may read it.
struct TurnReader: TurnReading {
    let database: Database
    let path: String

    func run(id: String) throws(LedgerError) -> RunRecord? {
        try read { () throws(StoreFailure) in try RunRows.run(id: id, in: database) }
    }

    func message(id: String) throws(LedgerError) -> MessageRecord? {
        try read { () throws(StoreFailure) in try TalkRows.message(id: id, in: database) }
    }

    func item(_ key: ItemKey) throws(LedgerError) -> ItemRecord? {
        try read { () throws(StoreFailure) in try TalkRows.item(key, in: database) }
    }

    func itemsToWake(limit: Int) throws(LedgerError) -> [ItemRecord] {
        try read { () throws(StoreFailure) in try TalkRows.itemsToWake(limit: limit, in: database) }
    }

    func untriedOutbox(channel: String, item: String) throws(LedgerError) -> OutboxRecord? {
        try read { () throws(StoreFailure) in
            try OutboxRows.untried(channel: channel, item: item, in: database)
        }
    }

    func events(after seq: Int64, limit: Int) throws(LedgerError) -> [EventRecord] {
        try read { () throws(StoreFailure) in try EventRows.events(after: seq, limit: limit, in: database) }
    }

    func cursor(of consumer: String) throws(LedgerError) -> Int64 {
        try read { () throws(StoreFailure) in try EventRows.cursor(of: consumer, in: database) }
    }

    private func read<Value>(_ body: () throws(StoreFailure) -> Value) throws(LedgerError) -> Value {
        do { return try body() } catch { throw error.error(path: path) }
    }
}
